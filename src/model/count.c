/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/count.h"

#include <stdlib.h>

#include "base/units.h"

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

void count_list_release(struct count_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->programs[i].threads);
	free(list->programs);
	*list = (struct count_list)COUNT_LIST_INIT;
}

void count_sums_add(struct count_sums *sums, const struct count_sums *more)
{
	for (int i = 0; i < CALL_COUNT_; i++)
		sums->calls[i] = bytes_add(sums->calls[i], more->calls[i]);
	sums->allocation_calls = bytes_add(sums->allocation_calls, more->allocation_calls);
	sums->failed_calls = bytes_add(sums->failed_calls, more->failed_calls);
	sums->requested_bytes = bytes_add(sums->requested_bytes, more->requested_bytes);
	sums->temporary_blocks = bytes_add(sums->temporary_blocks, more->temporary_blocks);
	sums->live_blocks = bytes_add(sums->live_blocks, more->live_blocks);
	sums->live_bytes = bytes_add(sums->live_bytes, more->live_bytes);
}
