/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/profile/pprof_library.h"

#if HAVE_PPROF

#	include <protobuf-c/protobuf-c.h>

#	include "base/library.h"

/* clang-format off */
#	define PROTOBUF_FUNCTIONS(X) \
		X(protobuf_c_message_get_packed_size) X(protobuf_c_message_pack) \
		X(protobuf_c_message_pack_to_buffer) X(protobuf_c_message_unpack) \
		X(protobuf_c_message_free_unpacked)
/* clang-format on */

LIBRARY_DEFINE(protobuf, "libprotobuf-c.so.1", PROTOBUF_FUNCTIONS);

bool pprof_library_load(void)
{
	return library_load(&protobuf_library);
}

/*
 * Wrappers with the names of libprotobuf-c's functions. Only the code that protoc-c
 * generated calls them.
 */

const char protobuf_c_empty_string[] = "";

size_t protobuf_c_message_get_packed_size(const ProtobufCMessage *message)
{
	return protobuf.protobuf_c_message_get_packed_size(message);
}

size_t protobuf_c_message_pack(const ProtobufCMessage *message, uint8_t *out)
{
	return protobuf.protobuf_c_message_pack(message, out);
}

size_t protobuf_c_message_pack_to_buffer(const ProtobufCMessage *message,
					 ProtobufCBuffer *buffer)
{
	return protobuf.protobuf_c_message_pack_to_buffer(message, buffer);
}

ProtobufCMessage *protobuf_c_message_unpack(const ProtobufCMessageDescriptor *descriptor,
					    ProtobufCAllocator *allocator, size_t len,
					    const uint8_t *data)
{
	return protobuf.protobuf_c_message_unpack(descriptor, allocator, len, data);
}

void protobuf_c_message_free_unpacked(ProtobufCMessage *message,
				      ProtobufCAllocator *allocator)
{
	protobuf.protobuf_c_message_free_unpacked(message, allocator);
}

#else

bool pprof_library_load(void)
{
	return false;
}

#endif
