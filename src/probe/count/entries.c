/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/entries.h"

#include <string.h>

#include "tracee/elf/imports.h"

/*
 * Set found[] to true for each function in the list that is an additional entry
 * point of an allocator.
 */
static void find_functions(const struct elf_exports *exports,
			   bool found[COUNTED_NAME_COUNT])
{
	struct counted_order order;

	counted_order_init(&order);
	for (size_t i = 0; i < exports->count; i++) {
		const struct elf_export *item = &exports->items[i];
		size_t name = counted_order_find(&order, item->name, strlen(item->name));

		if (name != COUNTED_NAME_COUNT && item->is_function)
			found[name] = true;
	}
}

void count_entries_add(int fd, const struct elf_exports *exports,
		       struct count_entries *ret)
{
	const char *names[COUNTED_NAME_COUNT - COUNTED_STANDARD_COUNT];
	struct elf_imports imports = ELF_IMPORTS_INIT;
	bool is_own[COUNTED_NAME_COUNT] = { false };

	if (exports)
		find_functions(exports, is_own);
	for (size_t i = COUNTED_STANDARD_COUNT; i < COUNTED_NAME_COUNT; i++) {
		names[i - COUNTED_STANDARD_COUNT] = counted_names[i].name;
		ret->is_exported[i] |= is_own[i];
	}
	if (elf_imports_read(fd, names, sizeof(names) / sizeof(names[0]), &imports) < 0)
		return;
	for (size_t i = 0; i < imports.count; i++) {
		size_t name = imports.items[i].name + COUNTED_STANDARD_COUNT;

		/* do not count a function as imported if the allocator also defines it */
		if (is_own[name])
			continue;
		if (imports.items[i].is_weak)
			ret->is_weak[name] = true;
		else
			ret->is_imported[name] = true;
	}
	elf_imports_release(&imports);
}

void count_entries_add_defined(int fd, struct count_entries *ret)
{
	struct elf_exports symbols = ELF_EXPORTS_INIT;

	if (elf_exports_read_program(fd, &symbols) < 0)
		return;
	find_functions(&symbols, ret->is_defined);
	elf_exports_release(&symbols);
}
