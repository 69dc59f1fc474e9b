/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_modules - the module lookup that agent/unwind needs, answered by the dynamic
 * linker, for programs that may wait for its lock.
 */
#ifndef MS_TESTS_UNWIND_MODULES_H
#define MS_TESTS_UNWIND_MODULES_H

#include <link.h>

#include "agent/unwind/unwind.h"

static int unwind_modules_look(struct dl_phdr_info *info, size_t size, void *data)
{
	struct unwind_module *module = data;
	uint64_t pc = module->start, start = UINT64_MAX, end = 0, tables = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uint64_t at = info->dlpi_addr + h->p_vaddr;

		if (h->p_type == PT_GNU_EH_FRAME)
			tables = at;
		if (h->p_type != PT_LOAD)
			continue;
		start = at < start ? at : start;
		end = at + h->p_memsz > end ? at + h->p_memsz : end;
	}
	if (pc < start || pc >= end)
		return 0;
	*module = (struct unwind_module){ .start = start,
					  .end = end,
					  .tables_addr = tables };
	return 1;
}

static bool unwind_modules_find(void *context, uint64_t pc, struct unwind_module *ret)
{
	struct unwind_module module = { .start = pc };

	(void)context;
	if (!dl_iterate_phdr(unwind_modules_look, &module))
		return false;
	*ret = module;
	return true;
}

#endif
