/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/count.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/units.h"
#include "model/known_names.h"

const char *const counted_call_names[CALL_COUNT_] = {
	[CALL_MALLOC] = "malloc",
	[CALL_FREE] = "free",
	[CALL_CALLOC] = "calloc",
	[CALL_REALLOC] = "realloc",
	[CALL_REALLOCARRAY] = "reallocarray",
	[CALL_POSIX_MEMALIGN] = "posix_memalign",
	[CALL_ALIGNED_ALLOC] = "aligned_alloc",
	[CALL_MEMALIGN] = "memalign",
	[CALL_VALLOC] = "valloc",
	[CALL_PVALLOC] = "pvalloc",
	[CALL_NEW] = "new",
	[CALL_DELETE] = "delete",
};

const char count_uncovered_go[] = "Go's allocator";

void count_list_release(struct count_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->programs[i].threads);
	free(list->programs);
	*list = (struct count_list)COUNT_LIST_INIT;
}

static bool is_last_of_pid(const struct count_list *list, size_t i)
{
	return i + 1 == list->count || list->programs[i + 1].pid != list->programs[i].pid;
}

/* Return the last program that ran under this pid, or NULL. */
static const struct count_program *find_last(const struct count_list *list, int pid)
{
	size_t low = SEARCH_FIRST(list->count, i, list->programs[i].pid > pid);

	return low > 0 && list->programs[low - 1].pid == pid ? &list->programs[low - 1]
							     : NULL;
}

/*
 * Return true if all programs between p and its ancestor `outer` are wrappers, such as
 * shells or env. A corrupt file may contain a cycle of parents, so the number of steps is
 * limited to the length of the list.
 */
static bool is_wrapped_by(const struct count_list *list, const struct count_program *p,
			  const struct count_program *outer)
{
	for (size_t i = 0; i < list->count; i++) {
		p = find_last(list, p->parent_pid);
		if (p == outer)
			return true;
		if (!p || !wrapper_name_is(p->name))
			return false;
	}
	return false;
}

int count_list_find_command(const struct count_list *list, int pid,
			    const struct count_program **ret)
{
	const struct count_program *own = find_last(list, pid), *found = NULL;

	if (!own)
		return -ENOENT;
	*ret = own;
	if (!wrapper_name_is(own->name))
		return 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct count_program *p = &list->programs[i];

		if (!is_last_of_pid(list, i) || wrapper_name_is(p->name) ||
		    !is_wrapped_by(list, p, own))
			continue;
		*ret = found ? NULL : p;
		found = p;
	}
	return 0;
}

void count_sums_add(struct count_sums *sums, const struct count_sums *more)
{
	for (int i = 0; i < CALL_COUNT_; i++)
		sums->calls[i] = bytes_add(sums->calls[i], more->calls[i]);
	sums->allocation_calls =
		bytes_add(sums->allocation_calls, more->allocation_calls);
	sums->free_null_calls = bytes_add(sums->free_null_calls, more->free_null_calls);
	sums->failed_calls = bytes_add(sums->failed_calls, more->failed_calls);
	sums->requested_bytes = bytes_add(sums->requested_bytes, more->requested_bytes);
	sums->temporary_blocks =
		bytes_add(sums->temporary_blocks, more->temporary_blocks);
	sums->live_blocks = bytes_add(sums->live_blocks, more->live_blocks);
	sums->live_bytes = bytes_add(sums->live_bytes, more->live_bytes);
}
