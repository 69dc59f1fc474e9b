/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/profile/pprof_library.h"

#if HAVE_PPROF

#	include <dlfcn.h>
#	include <protobuf-c/protobuf-c.h>
#	include <string.h>

#	define LIBRARY_NAME "libprotobuf-c.so.1"

bool library_load(const char *name, const struct library_function *functions,
		  size_t count)
{
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
	for (size_t i = 0; i < count; i++) {
		void *function = dlsym(library, functions[i].name);

		if (!function)
			return false;
		memcpy(functions[i].function, &function, sizeof(function));
	}
	return true;
}

static struct {
	bool is_there;
	__typeof__(protobuf_c_message_get_packed_size) *get_packed_size;
	__typeof__(protobuf_c_message_pack) *pack;
	__typeof__(protobuf_c_message_pack_to_buffer) *pack_to_buffer;
	__typeof__(protobuf_c_message_unpack) *unpack;
	__typeof__(protobuf_c_message_free_unpacked) *free_unpacked;
} protobuf;

static const struct library_function functions[] = {
	{ "protobuf_c_message_get_packed_size", &protobuf.get_packed_size },
	{ "protobuf_c_message_pack", &protobuf.pack },
	{ "protobuf_c_message_pack_to_buffer", &protobuf.pack_to_buffer },
	{ "protobuf_c_message_unpack", &protobuf.unpack },
	{ "protobuf_c_message_free_unpacked", &protobuf.free_unpacked },
};

bool pprof_library_load(void)
{
	if (!protobuf.is_there)
		protobuf.is_there =
			library_load(LIBRARY_NAME, functions,
				     sizeof(functions) / sizeof(functions[0]));
	return protobuf.is_there;
}

/*
 * Functions that the generated code calls under the library's names. No other code
 * in memstate uses these names.
 */

const char protobuf_c_empty_string[] = "";

size_t protobuf_c_message_get_packed_size(const ProtobufCMessage *message)
{
	return protobuf.get_packed_size(message);
}

size_t protobuf_c_message_pack(const ProtobufCMessage *message, uint8_t *out)
{
	return protobuf.pack(message, out);
}

size_t protobuf_c_message_pack_to_buffer(const ProtobufCMessage *message,
					 ProtobufCBuffer *buffer)
{
	return protobuf.pack_to_buffer(message, buffer);
}

ProtobufCMessage *protobuf_c_message_unpack(const ProtobufCMessageDescriptor *descriptor,
					    ProtobufCAllocator *allocator, size_t len,
					    const uint8_t *data)
{
	return protobuf.unpack(descriptor, allocator, len, data);
}

void protobuf_c_message_free_unpacked(ProtobufCMessage *message,
				      ProtobufCAllocator *allocator)
{
	protobuf.free_unpacked(message, allocator);
}

#else

bool pprof_library_load(void)
{
	return false;
}

#endif
