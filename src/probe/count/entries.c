/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/entries.h"

#include "tracee/elf/imports.h"

static bool exports_name(const struct elf_exports *exports, const char *name)
{
	const struct elf_export *found = exports ? elf_exports_find(exports, name) : NULL;

	return found && found->is_function;
}

void count_entries_add(int fd, const struct elf_exports *exports,
		       struct count_entries *ret)
{
	const char *names[COUNTED_NAME_COUNT - COUNTED_STANDARD_COUNT];
	struct elf_imports imports = ELF_IMPORTS_INIT;

	for (size_t i = COUNTED_STANDARD_COUNT; i < COUNTED_NAME_COUNT; i++) {
		names[i - COUNTED_STANDARD_COUNT] = counted_names[i].name;
		ret->is_exported[i] |= exports_name(exports, counted_names[i].name);
	}
	if (elf_imports_read(fd, names, sizeof(names) / sizeof(names[0]), &imports) < 0)
		return;
	for (size_t i = 0; i < imports.count; i++) {
		size_t name = imports.items[i].name + COUNTED_STANDARD_COUNT;

		/* an allocator may also import functions that it defines itself */
		if (exports_name(exports, counted_names[name].name))
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
	for (size_t i = COUNTED_STANDARD_COUNT; i < COUNTED_NAME_COUNT; i++)
		ret->is_defined[i] |= exports_name(&symbols, counted_names[i].name);
	elf_exports_release(&symbols);
}
