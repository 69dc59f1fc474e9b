/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/count_runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define CALLS(call, name) [call] = { name "_calls", name, false, false, false }

const struct counted_figure_info counted_figures[COUNTED_COUNT_] = {
	CALLS(CALL_MALLOC, "malloc"),
	CALLS(CALL_FREE, "free"),
	CALLS(CALL_CALLOC, "calloc"),
	CALLS(CALL_REALLOC, "realloc"),
	CALLS(CALL_REALLOCARRAY, "reallocarray"),
	CALLS(CALL_POSIX_MEMALIGN, "posix_memalign"),
	CALLS(CALL_ALIGNED_ALLOC, "aligned_alloc"),
	CALLS(CALL_MEMALIGN, "memalign"),
	CALLS(CALL_VALLOC, "valloc"),
	CALLS(CALL_PVALLOC, "pvalloc"),
	CALLS(CALL_NEW, "new"),
	CALLS(CALL_DELETE, "delete"),
	[COUNTED_FREE_NULL] = { "free_null_calls", "free(NULL)", false, false, false },
	[COUNTED_ALLOCATIONS] = { "allocation_calls", "allocations", false, false, true },
	[COUNTED_FAILED] = { "failed_calls", "  failed", false, false, false },
	[COUNTED_REQUESTED] = { "requested_bytes", "  requested", true, false, true },
	[COUNTED_TEMPORARY] = { "temporary_blocks", "  temporary", false, false, true },
	[COUNTED_LIVE_BLOCKS] = { "live_blocks", "not freed", false, false, true },
	[COUNTED_LIVE] = { "live_bytes", "  usable", true, false, false },
	[COUNTED_PEAK_LIVE] = { "peak_live_bytes", "peak usable", true, true, true },
	[COUNTED_PEAK_RSS] = { "peak_rss_bytes", "peak Rss", true, true, false },
};

/*
 * The name of COUNTED_ALLOCATIONS in limits files. Columns use the
 * longer name "allocation_calls".
 */
static const char allocations_key[] = "allocations";

const char *const limit_operators[LIMIT_KIND_COUNT_] = {
	[LIMIT_AT_MOST] = "<=",
	[LIMIT_EQUAL] = "=",
};

const char *counted_figure_key(enum counted_figure figure)
{
	return figure == COUNTED_ALLOCATIONS ? allocations_key
					     : counted_figures[figure].name;
}

static bool is_text(const char *text, const char *with, size_t length)
{
	return strlen(text) == length && memcmp(text, with, length) == 0;
}

int counted_figure_find(const char *name, size_t length, enum counted_figure *ret)
{
	for (unsigned int f = 0; f < COUNTED_COUNT_; f++)
		if (is_text(counted_figures[f].name, name, length) ||
		    is_text(counted_figure_key(f), name, length)) {
			*ret = f;
			return 0;
		}
	return -EINVAL;
}

void count_runs_release(struct count_runs *runs)
{
	free(runs->items);
	*runs = (struct count_runs){ 0 };
}

uint64_t count_sums_figure(const struct count_sums *sums, enum counted_figure figure)
{
	switch ((int)figure) {
	case COUNTED_FREE_NULL: return sums->free_null_calls;
	case COUNTED_ALLOCATIONS: return sums->allocation_calls;
	case COUNTED_FAILED: return sums->failed_calls;
	case COUNTED_REQUESTED: return sums->requested_bytes;
	case COUNTED_TEMPORARY: return sums->temporary_blocks;
	case COUNTED_LIVE_BLOCKS: return sums->live_blocks;
	case COUNTED_LIVE: return sums->live_bytes;
	default:
		return (unsigned int)figure < CALL_COUNT_ ? sums->calls[figure]
							  : BYTES_UNKNOWN;
	}
}

uint64_t count_run_figure(const struct count_run *run, enum counted_figure figure)
{
	if (figure == COUNTED_PEAK_LIVE)
		return run->program.peak_live_bytes;
	if (figure == COUNTED_PEAK_RSS)
		return run->peak_rss_bytes;
	return count_sums_figure(&run->program.sums, figure);
}
