/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * next - find the functions of the actual allocator, at the first call to a counted
 * function. The lookup may allocate memory, too. Until the lookup has finished, an arena
 * provides this memory.
 */
#include "config.h"

#include "agent/count/inside.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

struct count_next count_next;
bool count_has_glibc_heads;
char count_arena[COUNT_ARENA_BYTES] __attribute__((aligned(64)));

void *count_arena_allocate(size_t alignment, size_t bytes)
{
	static size_t used;
	size_t begin;

	if (alignment < 16)
		alignment = 16;
	if (bytes > COUNT_ARENA_BYTES || alignment > 4096) {
		errno = ENOMEM;
		return NULL;
	}
	begin = __atomic_fetch_add(&used, bytes + alignment + 32, __ATOMIC_RELAXED);
	/* reserve the word before the block, in which the block's size is stored */
	begin = ((uintptr_t)count_arena + begin + 16 + alignment - 1) / alignment *
			alignment -
		(uintptr_t)count_arena;
	if (begin + bytes > COUNT_ARENA_BYTES) {
		errno = ENOMEM;
		return NULL;
	}
	((size_t *)(void *)(count_arena + begin))[-1] = bytes << COUNT_ARENA_SHIFT |
							COUNT_ARENA_BIT;
	return count_arena + begin;
}

int64_t count_usable_bytes(void *p)
{
	size_t word;

	if (count_arena_has(p))
		return -1;
	if (!COUNT_HAS_LIVE)
		return 0;
	if (!count_has_glibc_heads)
		return (int64_t)count_next.usable(p);
	word = ((const size_t *)p)[-1];
	/*
	 * subtract two words from the size, because the header of a block with its own
	 * mapping has two words
	 */
	return (int64_t)((word & ~(size_t)7) - (word & COUNT_GLIBC_MAPPED ? 16 : 8));
}

bool count_is_allocators(void *function)
{
	Dl_info info, malloc_info;

	return function && dladdr(function, &info) &&
	       dladdr((void *)(uintptr_t)count_next.malloc, &malloc_info) &&
	       info.dli_fbase == malloc_info.dli_fbase;
}

/* Determine how to find the size of a block. Return a flag of enum count_flag, or 0. */
static uint32_t prepare_sizes(void)
{
	void *block;

	if (!count_is_allocators((void *)(uintptr_t)count_next.usable))
		return COUNT_NO_SIZES;
#ifdef __x86_64__
	if ((void *)(uintptr_t)count_next.malloc != dlsym(RTLD_DEFAULT, "__libc_malloc"))
		return 0;
	/*
	 * free the test block, so that the program's next block gets the same address as
	 * without counting
	 */
	block = count_next.malloc(1);
	if (block) {
		size_t head = ((const size_t *)block)[-1];

		count_has_glibc_heads = count_is_plain(head) &&
					count_plain_bytes(head) ==
						(int64_t)count_next.usable(block);
		count_next.free(block);
	}
#else
	(void)block;
#endif
	return 0;
}

static size_t no_size(void *p)
{
	(void)p;
	return 0;
}

/* Find the module and the symbol at an address. musl does not report the symbol. */
static bool find_symbol(const void *addr, Dl_info *ret, const ElfW(Sym) * *ret_symbol)
{
#ifdef HAVE_DLADDR1
	return dladdr1(addr, ret, (void **)ret_symbol, RTLD_DL_SYMENT) != 0;
#else
	(void)ret_symbol;
	return dladdr(addr, ret) != 0;
#endif
}

/*
 * Return true if the program's calls to malloc do not reach this library. A stub named
 * malloc in the program does not count as another malloc: a non-PIE program that uses the
 * address of malloc contains such a stub, which calls this library.
 */
static bool is_passed_by(void)
{
	void *first = dlsym(RTLD_DEFAULT, "malloc");
	const ElfW(Sym) *symbol = NULL;
	Dl_info first_info, own_info;

	if (!first || !find_symbol(first, &first_info, &symbol) ||
	    !dladdr(count_arena, &own_info))
		return true;
	return first_info.dli_fbase != own_info.dli_fbase &&
	       (!symbol || symbol->st_shndx != SHN_UNDEF);
}

uint32_t count_next_find(void)
{
	static const struct {
		const char *name;
		size_t offset;
	} functions[] = {
		{ "malloc", offsetof(struct count_next, malloc) },
		{ "free", offsetof(struct count_next, free) },
		{ "calloc", offsetof(struct count_next, calloc) },
		{ "realloc", offsetof(struct count_next, realloc) },
		{ "posix_memalign", offsetof(struct count_next, posix_memalign) },
		{ "aligned_alloc", offsetof(struct count_next, aligned_alloc) },
		{ "memalign", offsetof(struct count_next, memalign) },
		{ "valloc", offsetof(struct count_next, valloc) },
		{ "pvalloc", offsetof(struct count_next, pvalloc) },
		{ "malloc_usable_size", offsetof(struct count_next, usable) },
	};
	uint32_t flags;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(RTLD_NEXT, functions[i].name);

		memcpy((char *)&count_next + functions[i].offset, &function,
		       sizeof(function));
	}
	flags = is_passed_by() ? COUNT_OTHER_MALLOC : 0;
#if COUNT_HAS_NEW
	count_new_find();
#else
	if (count_is_allocators(dlsym(RTLD_DEFAULT, "_Znwm")))
		flags |= COUNT_OTHER_NEW;
#endif
	if (!COUNT_HAS_LIVE)
		return flags;
	flags |= prepare_sizes();
	if (flags & COUNT_NO_SIZES)
		count_next.usable = no_size;
	return flags;
}
