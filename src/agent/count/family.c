/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * family - a small library, built once for each allocator, that counts calls to the
 * allocator's additional entry points (entry.h). The macro COUNT_FAMILY is the list of
 * the allocator's entry points in extra.h. The macro COUNT_FAMILY_USABLE is the
 * allocator's function that returns the usable size of a block.
 */
#include "config.h"

#include "agent/count/entry.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>

/*
 * Select an allocator for static analyzers, which do not read the -D
 * options in the makefile.
 */
#ifndef COUNT_FAMILY
#	define COUNT_FAMILY COUNT_EXTRA_MI
#	define COUNT_FAMILY_USABLE "mi_usable_size"
#endif

#define INDEX(symbol, call, size) INDEX_##symbol,
enum {
	COUNT_FAMILY(INDEX) ENTRY_COUNT_
};

#define ENTRY(symbol, call, which)                     \
	[INDEX_##symbol] = { .name = #symbol,          \
			     .function = COUNT_##call, \
			     .size = COUNT_ENTRY_##which },
static struct count_entry entries[ENTRY_COUNT_] = { COUNT_FAMILY(ENTRY) };

/*
 * Callback for a loaded ELF file. If the file contains the function entry->next, store
 * the file's address range in the members start and end of the entry. *context is the
 * entry.
 */
static int find_range(struct dl_phdr_info *info, size_t size, void *context)
{
	struct count_entry *entry = context;
	uintptr_t addr = (uintptr_t)entry->next, start = UINTPTR_MAX, end = 0;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD)
			continue;
		if (info->dlpi_addr + part->p_vaddr < start)
			start = info->dlpi_addr + part->p_vaddr;
		if (info->dlpi_addr + part->p_vaddr + part->p_memsz > end)
			end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
	}
	if (addr < start || addr >= end)
		return 0;
	entry->start = start;
	entry->end = end;
	return 1;
}

/*
 * Look up the allocator's function. Several threads may do so at the same time, because
 * all of them store the same values.
 */
static __attribute__((cold, noinline)) bool look_up(struct count_entry *entry)
{
	struct count_entry found = *entry;
	int saved_errno = errno;

	found.next = (count_entry_fn *)(uintptr_t)dlsym(RTLD_NEXT, found.name);
	if (found.next) {
		(void)dl_iterate_phdr(find_range, &found);
		entry->usable = (size_t(*)(const void *, int))(uintptr_t)dlsym(
			RTLD_NEXT, COUNT_FAMILY_USABLE);
		entry->start = found.start;
		entry->end = found.end;
		__atomic_store_n(&entry->next, found.next, __ATOMIC_RELEASE);
	}
	errno = saved_errno;
	return found.next;
}

/*
 * Make a call fail, because this version of the allocator lacks the function. The program
 * does not import the function, so it must have found this library's definition with
 * dlsym(3).
 */
static uintptr_t refuse(const struct count_entry *entry)
{
	errno = ENOMEM;
	return entry->function == COUNT_POSIX_MEMALIGN ? ENOMEM : 0;
}

#define DEFINE(symbol, call_, size)                                                      \
	__attribute__((visibility("default"))) uintptr_t symbol(                         \
		uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);                     \
	uintptr_t symbol(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)             \
	{                                                                                \
		struct count_entry *entry = &entries[INDEX_##symbol];                    \
		const struct count_entry_call call = {                                   \
			{ a, b, c, d },                                                  \
			(uint64_t)(uintptr_t)__builtin_return_address(0),                \
			(uint64_t)(uintptr_t)__builtin_frame_address(0) + 16,            \
			*(const uint64_t *)__builtin_frame_address(0),                   \
		};                                                                       \
                                                                                         \
		if (!__atomic_load_n(&entry->next, __ATOMIC_ACQUIRE) && !look_up(entry)) \
			return refuse(entry);                                            \
		return memstate_count_entry(entry, &call);                               \
	}

COUNT_FAMILY(DEFINE)
