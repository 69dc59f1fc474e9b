/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The .eh_frame_hdr and .eh_frame of a module, with inaccessible pages before and after
 * the module. The first two bytes of the input are the offset of the address to look up.
 */
#include "config.h"

#include <string.h>
#include <sys/mman.h>

#include "agent/unwind/cfi.h"
#include "fuzz.h"

#define PAGE 4096
#define MODULE_BYTES (2 * PAGE)

static uint8_t *module_start;
static uint64_t stack[64];

static bool read_stack(void *context, uint64_t addr, uint64_t *ret)
{
	uint64_t start = (uintptr_t)stack;

	(void)context;
	if (addr < start || addr > start + sizeof(stack) - sizeof(*ret))
		return false;
	memcpy(ret, (const uint8_t *)stack + (addr - start), sizeof(*ret));
	return true;
}

static void make_module(void)
{
	uint8_t *p = mmap(NULL, MODULE_BYTES + 2 * PAGE, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	module_start = p + PAGE;
	CHECK(mprotect(module_start, MODULE_BYTES, PROT_READ | PROT_WRITE) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_module module;
	struct unwind_rules rules;
	struct unwind_state state;
	uint16_t offset;

	if (!module_start)
		make_module();
	if (size < sizeof(offset))
		return 0;
	memcpy(&offset, data, sizeof(offset));
	size -= sizeof(offset);
	if (size > PAGE)
		size = PAGE;
	memcpy(module_start + MODULE_BYTES - size, data + sizeof(offset), size);
	module = (struct unwind_module){
		.start = (uintptr_t)module_start,
		.end = (uintptr_t)module_start + MODULE_BYTES,
		.tables_addr = (uintptr_t)module_start + MODULE_BYTES - size,
		.is_loader = offset & 0x8000,
	};
	if (!unwind_rules_find(&module, module.start + offset % MODULE_BYTES, &rules))
		return 0;
	state = (struct unwind_state){ module.start, (uintptr_t)&stack[8],
				       (uintptr_t)&stack[32] };
	(void)unwind_rules_apply(&rules, &state, read_stack, NULL);
	return 0;
}
