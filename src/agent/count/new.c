/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * new - count C++ new and delete of an allocator that defines these operators itself.
 *
 * The new and delete of libstdc++ call malloc() and free(), which are counted, so calls
 * to libstdc++'s operators are passed on unchanged. This code is used only if the program
 * has a preloaded allocator that defines new and delete. In other programs, these
 * definitions would replace the private new and delete of a module.
 */
#include "config.h"

#include "agent/count/inside.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "agent/count/stacks.h"

/*
 * Mangled names of new and delete (Itanium C++ ABI) on machines where size_t is unsigned
 * long.
 */
#define NEWS(X)                               \
	X(_Znwm)                              \
	X(_Znam)                              \
	X(_ZnwmRKSt9nothrow_t)                \
	X(_ZnamRKSt9nothrow_t)                \
	X(_ZnwmSt11align_val_t)               \
	X(_ZnamSt11align_val_t)               \
	X(_ZnwmSt11align_val_tRKSt9nothrow_t) \
	X(_ZnamSt11align_val_tRKSt9nothrow_t)
#define DELETES(X)                             \
	X(_ZdlPv)                              \
	X(_ZdaPv)                              \
	X(_ZdlPvm)                             \
	X(_ZdaPvm)                             \
	X(_ZdlPvRKSt9nothrow_t)                \
	X(_ZdaPvRKSt9nothrow_t)                \
	X(_ZdlPvSt11align_val_t)               \
	X(_ZdaPvSt11align_val_t)               \
	X(_ZdlPvmSt11align_val_t)              \
	X(_ZdaPvmSt11align_val_t)              \
	X(_ZdlPvSt11align_val_tRKSt9nothrow_t) \
	X(_ZdaPvSt11align_val_tRKSt9nothrow_t)

#define INDEX(name) INDEX##name,
enum {
	NEWS(INDEX) NEW_COUNT_
};
enum {
	DELETES(INDEX) DELETE_COUNT_
};

/*
 * The function types through which all variants of new and delete are called, with the
 * maximum number of arguments. The arguments are in registers, and functions with fewer
 * parameters ignore the others.
 */
typedef void *new_function(size_t bytes, uintptr_t second, uintptr_t third);
typedef void delete_function(void *p, uintptr_t second, uintptr_t third);

static struct {
	new_function *next;
	bool is_allocators;
} news[NEW_COUNT_];
static struct {
	delete_function *next;
	bool is_allocators;
} deletes[DELETE_COUNT_];

void count_new_find(void)
{
#define NAME(name) #name,
	static const char *const new_names[] = { NEWS(NAME) };
	static const char *const delete_names[] = { DELETES(NAME) };

	for (int i = 0; i < NEW_COUNT_; i++) {
		void *function = dlsym(RTLD_NEXT, new_names[i]);

		news[i].next = (new_function *)(uintptr_t)function;
		news[i].is_allocators = count_is_allocators(function);
	}
	for (int i = 0; i < DELETE_COUNT_; i++) {
		void *function = dlsym(RTLD_NEXT, delete_names[i]);

		deletes[i].next = (delete_function *)(uintptr_t)function;
		deletes[i].is_allocators = count_is_allocators(function);
	}
}

/*
 * Functions besides malloc that the allocator's operator new may call by name. Such calls
 * are counted as well, so they must be subtracted again.
 */
static const enum count_function within[] = {
	COUNT_CALLOC,
	COUNT_POSIX_MEMALIGN,
	COUNT_ALIGNED_ALLOC,
	COUNT_MEMALIGN,
};
#define WITHIN_COUNT (sizeof(within) / sizeof(within[0]))

struct before {
	uint64_t malloc_calls, calls[WITHIN_COUNT], requested_bytes;
};

static void save_counts(const struct count_slot *slot, struct before *ret)
{
	ret->malloc_calls = slot->malloc_calls;
	ret->requested_bytes = slot->requested_bytes;
	for (size_t i = 0; i < WITHIN_COUNT; i++)
		ret->calls[i] = slot->calls[within[i]];
}

/*
 * Subtract the call that operator new itself made to malloc or one of the functions in
 * `within`, because that call has already been counted. Return true if there was such a
 * call.
 */
static bool subtract_inner(struct count_slot *slot, const struct before *before)
{
	bool is_within = slot->malloc_calls != before->malloc_calls;

	if (is_within) {
		count_add(&slot->malloc_calls, (uint64_t)-1);
		count_stack_other_call(slot);
	}
	for (size_t i = 0; i < WITHIN_COUNT; i++)
		if (slot->calls[within[i]] != before->calls[i]) {
			count_add(&slot->calls[within[i]], (uint64_t)-1);
			is_within = true;
		}
	if (is_within)
		count_add(&slot->requested_bytes,
			  before->requested_bytes - slot->requested_bytes);
	return is_within;
}

/*
 * Call the allocator's operator new, and count the call. If new itself called malloc or a
 * similar function, the stack has already been recorded: set *ret_is_within, so that the
 * allocation is not counted twice.
 */
static void *make_own(struct count_slot *slot, int which, size_t bytes,
		      const uintptr_t rest[2], bool *ret_is_within)
{
	struct before before;
	void *p;

	count_add(&slot->calls[COUNT_NEW], 1);
	/*
	 * count the call as failed until the operator returns, because it may throw an
	 * exception
	 */
	count_add(&slot->failed_count, 1);
	save_counts(slot, &before);
	p = news[which].next(bytes, rest[0], rest[1]);
	count_add(&slot->failed_count, (uint64_t)-1);
	*ret_is_within = subtract_inner(slot, &before);
	if (*ret_is_within) {
		if (p)
			count_add(&slot->requested_bytes, bytes);
		return p;
	}
	count_requested(slot, bytes);
	return COUNT_HAS_LIVE ? count_allocated(slot, p) : p;
}

static inline __attribute__((always_inline)) void *make(int which, size_t bytes,
							uintptr_t second, uintptr_t third)
{
	struct count_slot *slot = count_slot_own();
	bool is_within;
	void *p;

	if (count_unlikely(!slot))
		return count_arena_allocate(0, bytes);
	if (count_unlikely(!news[which].next))
		return malloc(bytes);
	if (!news[which].is_allocators)
		return news[which].next(bytes, second, third);
	p = make_own(slot, which, bytes, (const uintptr_t[2]){ second, third },
		     &is_within);
	if (!is_within)
		count_stack_allocated(slot, p, bytes);
	return p;
}

static void drop_own(struct count_slot *slot, int which, void *p, const uintptr_t rest[2])
{
	int64_t usable_bytes = p && COUNT_HAS_LIVE ? count_usable_bytes(p) : 0;
	uint64_t before = slot->free_calls;
	uintptr_t addr = (uintptr_t)p;

	count_add(&slot->calls[COUNT_DELETE], 1);
	if (p)
		count_stack_freed(slot, p);
	deletes[which].next(p, rest[0], rest[1]);
	/*
	 * if the allocator's operator delete called free by name, that call has been
	 * counted, so subtract it
	 */
	if (slot->free_calls != before)
		count_add(&slot->free_calls, (uint64_t)-1);
	else if (!addr)
		count_add(&slot->free_null_count, 1);
	else if (COUNT_HAS_LIVE && count_freed(slot, addr, usable_bytes))
		count_slot_flush(NULL);
}

static inline void drop(int which, void *p, uintptr_t second, uintptr_t third)
{
	struct count_slot *slot = count_slot_own();

	if (count_unlikely(!slot || count_arena_has(p)))
		return;
	if (count_unlikely(!deletes[which].next))
		free(p);
	else if (!deletes[which].is_allocators)
		deletes[which].next(p, second, third);
	else
		drop_own(slot, which, p, (const uintptr_t[2]){ second, third });
}

#define MAKE(name)                                                                \
	COUNT_EXPORT void *name(size_t bytes, uintptr_t second, uintptr_t third); \
	COUNT_EXPORT void *name(size_t bytes, uintptr_t second, uintptr_t third)  \
	{                                                                         \
		return make(INDEX##name, bytes, second, third);                   \
	}
#define DROP(name)                                                          \
	COUNT_EXPORT void name(void *p, uintptr_t second, uintptr_t third); \
	COUNT_EXPORT void name(void *p, uintptr_t second, uintptr_t third)  \
	{                                                                   \
		drop(INDEX##name, p, second, third);                        \
	}

NEWS(MAKE)
DELETES(DROP)
