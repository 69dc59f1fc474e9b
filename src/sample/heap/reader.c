/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/platform.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/heap/fit_shares.h"
#include "classify/heap/spread.h"
#include "classify/process/classify_heap.h"
#include "proc/process/dir.h"
#include "sample/heap/ask.h"
#include "sample/heap/complete.h"
#include "sample/heap/copies.h"
#include "sample/heap/estimate.h"
#include "sample/heap/moment.h"
#include "sample/heap/pre_copy.h"
#include "sample/heap/reserve.h"
#include "sample/heap/survey.h"
#include "tracee/memory/early_keep.h"
#include "walk/walk.h"

/* A complete copy of fewer bytes than this is so fast that a survey is not worthwhile. */
#define SURVEY_MIN_BYTES (UINT64_C(64) << 20)

/*
 * Maximum number of times that the process is stopped for a survey and the pause after
 * it, without and with large arenas.
 */
#define SURVEY_STOPS 2
#define SURVEY_STOPS_ARENAS 4

/*
 * Maximum number of heap walks. A heap looks corrupt if the target was paused in the
 * middle of malloc(), so memstate tries again.
 */
#define WALK_TRIES 4

/*
 * Maximum number of attempts to copy all pages that the walkers read. In a busy process,
 * the walkers may read other pages each time.
 */
#define SPARSE_TRIES 3

/* Maximum number of attempts to copy a heap while the process runs. */
#define PRE_COPY_TRIES 3

/* Number of times that the heap is read if the target is not paused. */
#define READINGS 3

void heap_reader_init(struct heap_reader *reader, const struct procfs *fs,
		      struct sampler *sampler, uint64_t max_pause_ns)
{
	*reader = (struct heap_reader){
		.fs = fs,
		.sampler = sampler,
		.max_pause_ns = max_pause_ns,
		.waits_for_turn = true,
		.image = IMAGE_INIT,
		.early = EARLY_COPY_INIT,
		.blocks = BLOCKS_INIT,
		.names = NAMES_INIT,
	};
}

void heap_reader_release(struct heap_reader *reader)
{
	sampler_free(reader->own_sampler);
	early_copy_release(&reader->early);
	free(reader->threads);
	free(reader->words);
	helper_answer_release(&reader->answer);
	names_release(&reader->names);
	blocks_release(&reader->blocks);
	image_release(&reader->image);
	page_list_release(&reader->pages);
}

uint64_t heap_reader_estimate_pause_ns(const struct heap_reader *reader,
				       const struct usage *u,
				       const struct mapping_list *mappings)
{
	uint64_t bytes = heap_moment_bytes(reader, mappings);

	return bytes_known(bytes) ? heap_estimate_pause_ns(u, mappings, 0, bytes)
				  : BYTES_UNKNOWN;
}

/*
 * Prepare as much as possible before the pause: check that the heap walk is permitted,
 * and reserve memory for the copy.
 */
static int prepare(struct heap_reader *reader, const struct usage *u,
		   const struct mapping_list *mappings, struct heap *ret)
{
	uint64_t bytes = heap_moment_bytes(reader, mappings);

	if (!reader->fs->is_live || !bytes_known(bytes))
		return -EOPNOTSUPP;
	if (platform_unsupported_reason(PLATFORM_WALK))
		return -ENOEXEC;
	if (!walk_can_index(mappings))
		return -EOVERFLOW;
	ret->expected_ns = heap_reader_estimate_pause_ns(reader, u, mappings);
	if (ret->expected_ns > reader->max_pause_ns && !reader->is_running)
		return -EFBIG;
	if (reader->max_copy_bytes > 0 && bytes > reader->max_copy_bytes)
		return -EFBIG;
	return heap_make_room(reader, bytes, ret);
}

static int read_once(struct heap_reader *reader, struct usage *u,
		     struct mapping_list *mappings, struct heap *ret,
		     uint64_t *ret_pause_ns)
{
	struct heap_moment *moment;
	struct walk_input input;
	bool are_complete;
	int r;

	r = reader->image.is_sparse ? image_make_watchable(&reader->image) : 0;
	if (r == 0)
		r = heap_moment_take(reader, u, mappings, &moment, ret_pause_ns);
	if (r < 0)
		return r;
	input = heap_moment_input(reader, moment);
	names_set_mappings(&reader->names, &moment->mappings);
	heap_release(ret);
	blocks_release(&reader->blocks);
	if (reader->image.is_sparse)
		r = heap_survey_walk(reader, &input, moment->mem_fd, ret);
	else
		walk_heap(&input, ret, &reader->blocks);
	if (r < 0) {
		names_set_mappings(&reader->names, mappings);
		moment->usage.command = NULL;
		heap_moment_free(moment);
		return r;
	}
	ret->copied_bytes = reader->image.copied_bytes;
	are_complete = heap_roots_are_complete(reader, moment);
	heap_check_copy(reader, moment, ret, are_complete);
	for (size_t i = 0; i < ret->other_count; i++)
		heap_check_copy(reader, moment, &ret->others[i], are_complete);
	*u = moment->usage;
	usage_init(&moment->usage);
	mapping_list_release(mappings);
	*mappings = moment->mappings;
	moment->mappings = (struct mapping_list)MAPPING_LIST_INIT;
	names_set_mappings(&reader->names, mappings);
	heap_moment_free(moment);
	return 0;
}

static void sleep_briefly(void)
{
	const struct timespec pause = { .tv_nsec = 1 * (long)NS_PER_MS };

	nanosleep(&pause, NULL);
}

/*
 * Read the heap several times without a pause. Set *ret to the last reading, with the
 * variation of the figures over all readings.
 */
static int read_running(struct heap_reader *reader, struct usage *u,
			struct mapping_list *mappings, struct heap *ret)
{
	struct spread spreads[ALLOCATOR_COUNT_] = { 0 };
	unsigned int readings = reader->is_read_once ? 1 : READINGS;
	uint64_t no_pause_ns;
	unsigned int count = 0;
	int r = 0;

	for (int i = 0; r == 0 && count < readings && i < READINGS + WALK_TRIES; i++) {
		if (i > 0)
			sleep_briefly();
		r = read_once(reader, u, mappings, ret, &no_pause_ns);
		if (r < 0 || heap_total_quality(ret) == QUALITY_UNKNOWN)
			continue;
		fit_heap_shares(mappings, ret);
		spread_add(&spreads[ret->allocator], ret);
		for (size_t k = 0; k < ret->other_count; k++)
			spread_add(&spreads[ret->others[k].allocator], &ret->others[k]);
		count++;
	}
	spread_store(&spreads[ret->allocator], ret);
	for (size_t k = 0; k < ret->other_count; k++)
		spread_store(&spreads[ret->others[k].allocator], &ret->others[k]);
	return r;
}

/*
 * Read the heap in a pause, several times if necessary. Add the duration of the pauses to
 * *stopped_ns.
 */
static int read_stopped(struct heap_reader *reader, struct usage *u,
			struct mapping_list *mappings, struct heap *ret,
			uint64_t *stopped_ns)
{
	int r = 0;

	for (int i = 0; (r == 0 || r == -ESTALE) && i < WALK_TRIES; i++) {
		uint64_t pause_ns = 0;

		if (i > 0)
			sleep_briefly();
		r = read_once(reader, u, mappings, ret, &pause_ns);
		*stopped_ns += pause_ns;
		if (r == 0 && heap_total_quality(ret) != QUALITY_ESTIMATE)
			break;
	}
	return r;
}

/* Return true if copying only some pages is possible and may be worthwhile. */
static bool may_survey(const struct heap_reader *reader, const struct usage *u,
		       const struct mapping_list *mappings)
{
	uint64_t bytes = heap_moment_bytes(reader, mappings);
	uint64_t stops = walk_has_large_arenas(mappings) ? SURVEY_STOPS_ARENAS
							 : SURVEY_STOPS;
	uint64_t all_ns = heap_reader_estimate_pause_ns(reader, u, mappings);

	return !reader->is_running && !reader->copies_roots && reader->fs->is_live &&
	       bytes_known(bytes) && bytes >= SURVEY_MIN_BYTES &&
	       !platform_unsupported_reason(PLATFORM_WALK) && walk_can_index(mappings) &&
	       (all_ns > reader->max_pause_ns ||
		all_ns > stops * heap_estimate_pause_ns(u, mappings, 0, 0)) &&
	       heap_survey_is_promising(reader, u->process.pid, mappings);
}

/*
 * Read the heap in a pause that copies only the pages that the survey found. Return
 * -ENODATA if the heap walk read pages that were not copied, or is likely to do so.
 */
static int read_surveyed(struct heap_reader *reader, struct usage *u,
			 struct mapping_list *mappings, const struct survey *survey,
			 struct heap *ret, uint64_t *ret_expected_ns,
			 uint64_t *stopped_ns)
{
	uint64_t all_ns = heap_reader_estimate_pause_ns(reader, u, mappings);
	bool can_copy_all = all_ns <= reader->max_pause_ns;
	int r = -ENODATA;

	if (!survey->is_stable && can_copy_all)
		return -ENODATA;
	*ret_expected_ns = heap_estimate_pause_ns(
		u, mappings, heap_moment_bytes(reader, mappings), survey->bytes);
	if (*ret_expected_ns > reader->max_pause_ns)
		return -EFBIG;
	for (uint64_t i = 0; r == -ENODATA && i < SPARSE_TRIES; i++) {
		/*
		 * give up if the pauses would take more than half as long as one pause
		 * for a complete copy
		 */
		if (i > 0 && can_copy_all && (i + 1) * *ret_expected_ns > all_ns / 2)
			break;
		r = read_stopped(reader, u, mappings, ret, stopped_ns);
	}
	return r;
}

/*
 * Read the heap in a pause that copies only the pages that the walkers read. Return
 * -ENODATA if this is not possible or not worthwhile; a complete copy may succeed.
 */
static int read_sparse(struct heap_reader *reader, struct usage *u,
		       struct mapping_list *mappings, struct heap *ret,
		       uint64_t *ret_expected_ns, uint64_t *stopped_ns)
{
	struct survey survey;
	int r;

	if (!may_survey(reader, u, mappings))
		return -ENODATA;
	r = heap_survey(reader, u, mappings, &survey, stopped_ns);
	if (r == 0)
		r = read_surveyed(reader, u, mappings, &survey, ret, ret_expected_ns,
				  stopped_ns);
	if (r == -ENODATA)
		heap_survey_give_up(reader, u->process.pid);
	/* later, there may be enough memory for a survey */
	return r == -ENOMEM ? -ENODATA : r;
}

static bool is_hopeless(struct heap_reader *reader, const struct usage *u,
			const struct mapping_list *mappings, struct heap *ret)
{
	_cleanup_close_ int process_fd = proc_dir_open(reader->fs, u->process.pid);

	return walk_is_hopeless(mappings, process_fd, &reader->codes, ret);
}

/* Return true if the caller permits a copy while the process runs. */
static bool may_pre_copy(const struct heap_reader *reader,
			 const struct mapping_list *mappings)
{
	return reader->pre_copy != PRE_COPY_OFF && !reader->is_running &&
	       reader->fs->is_live &&
	       (reader->max_copy_bytes == 0 ||
		heap_moment_bytes(reader, mappings) <= reader->max_copy_bytes);
}

/*
 * Return true if a copy before the pause should be tried first: a survey of large arenas
 * takes more CPU time, and the pause is longer.
 */
static bool prefers_pre_copy(const struct heap_reader *reader, const struct usage *u,
			     const struct mapping_list *mappings)
{
	return may_pre_copy(reader, mappings) && walk_has_large_arenas(mappings) &&
	       !futile_pids_contain(&reader->futile_pre_copies, u->process.pid) &&
	       heap_reader_estimate_pause_ns(reader, u, mappings) > reader->max_pause_ns;
}

/*
 * Read a heap that is too large for a pause: copy most of it while the process runs.
 * Return -EFBIG with ret->pre_copy.problem if this is not possible.
 */
static int read_pre_copied(struct heap_reader *reader, struct usage *u,
			   struct mapping_list *mappings, struct heap *ret,
			   uint64_t *stopped_ns)
{
	uint64_t bytes = heap_moment_bytes(reader, mappings);
	uint64_t plain_ns = ret->expected_ns;
	int r = -ESTALE;

	for (int i = 0; r == -ESTALE && i < PRE_COPY_TRIES; i++) {
		const struct pre_copy_costs costs = {
			.fixed_ns = heap_estimate_pause_ns(u, mappings, bytes, 0),
			.copy_ns_per_gib = HEAP_COPY_NS_PER_GIB,
		};
		struct heap asked = { .pause_ns = 0 };
		uint64_t pause_ns = 0;

		r = heap_pre_copy_begin(reader, u, mappings, &costs, &asked);
		*stopped_ns += asked.pause_ns;
		if (r == 0) {
			r = read_once(reader, u, mappings, ret, &pause_ns);
			*stopped_ns += pause_ns;
		}
		if (r == 0 && early_copy_is_kept(&reader->early))
			asked.pre_copy.late_bytes = reader->early.late_bytes;
		else
			heap_pre_copy_end(reader, u->process.pid, &asked.pre_copy);
		ret->pre_copy = asked.pre_copy;
		ret->expected_ns = r == -EFBIG ? plain_ns : asked.expected_ns;
		ret->needed_bytes = asked.needed_bytes;
		ret->room_bytes = asked.room_bytes;
		ret->room_limit = asked.room_limit;
		/*
		 * try again: the copy is complete, but the process was paused in the
		 * middle of malloc()
		 */
		if (r == 0 && heap_total_quality(ret) == QUALITY_ESTIMATE &&
		    i + 1 < PRE_COPY_TRIES)
			r = -ESTALE;
	}
	return r;
}

/* Return true if a copy before the pause has failed, but a survey may succeed. */
static bool may_survey_after(int error)
{
	return error == -EFBIG || error == -ENOMEM || error == -ETIMEDOUT ||
	       error == -ESTALE;
}

/*
 * Copy only some pages after a copy before the pause has failed with this error. Return
 * 0, the error if this fails, too, or the error for which the process cannot be paused.
 */
static int read_sparse_after(struct heap_reader *reader, struct usage *u,
			     struct mapping_list *mappings, int error, struct heap *ret,
			     struct heap *asked, uint64_t *stopped_ns)
{
	uint64_t expected_ns = 0;
	int r;

	heap_release(ret);
	r = read_sparse(reader, u, mappings, ret, &expected_ns, stopped_ns);
	if (r < 0 && r != -EPERM && r != -EBUSY && r != -ESRCH && r != -ETIME)
		return error;
	asked->pre_copy.problem = NULL;
	asked->pre_copy.round_count = 0;
	asked->expected_ns = expected_ns;
	/* the copy before the pause will fail again */
	if (r == 0)
		futile_pids_add(&reader->futile_pre_copies, u->process.pid);
	return r;
}

int heap_reader_walk(struct heap_reader *reader, struct usage *u,
		     struct mapping_list *mappings, struct heap *ret)
{
	bool surveys_last = prefers_pre_copy(reader, u, mappings);
	uint64_t stopped_ns = 0;
	struct heap asked = { 0 };
	int r;

	reader->survey_cpu_ns = 0;
	reader->has_tracked = false;
	if (reader->fs->is_live && is_hopeless(reader, u, mappings, ret)) {
		classify_heap(u, mappings, ret);
		return 0;
	}
	r = surveys_last ? -ENODATA
			 : read_sparse(reader, u, mappings, ret, &asked.expected_ns,
				       &stopped_ns);
	if (r == -ENODATA) {
		heap_release(ret);
		r = prepare(reader, u, mappings, ret);
		/*
		 * save what prepare() has computed: the expected duration of the pause,
		 * and the needed and the available memory
		 */
		asked = *ret;
		if (r == 0 && reader->is_running)
			r = read_running(reader, u, mappings, ret);
		else if (r == 0)
			r = read_stopped(reader, u, mappings, ret, &stopped_ns);
	}
	if (r == -EFBIG && may_pre_copy(reader, mappings)) {
		heap_release(ret);
		ret->expected_ns = asked.expected_ns;
		r = read_pre_copied(reader, u, mappings, ret, &stopped_ns);
		asked = *ret;
	}
	if (surveys_last && may_survey_after(r))
		r = read_sparse_after(reader, u, mappings, r, ret, &asked, &stopped_ns);
	/* after an error, discard the findings of an earlier attempt */
	if (r < 0)
		heap_release(ret);
	ret->pause_ns = stopped_ns;
	ret->pre_copy = asked.pre_copy;
	ret->expected_ns = asked.expected_ns;
	ret->needed_bytes = asked.needed_bytes;
	ret->room_bytes = asked.room_bytes;
	ret->room_limit = asked.room_limit;
	if (r == 0)
		classify_heap(u, mappings, ret);
	return r;
}

int heap_reader_read(struct heap_reader *reader, struct usage *u,
		     struct mapping_list *mappings, struct heap *ret)
{
	bool is_asked;
	int r;

	heap_init(ret);
	helper_answer_release(&reader->answer);
	heap_copies_begin(reader);
	sampler_forget_mounts(reader->sampler);
	/*
	 * Read smaps before the pause. In the pause, it is read again only if it no
	 * longer matches the copied memory (heap_moment_take()). The first reading shows
	 * how much must be copied: the estimated pause and the memory to reserve depend
	 * on the Rss and flags of each mapping.
	 * Neither maps nor smaps_rollup could replace it: maps lacks Rss, and
	 * smaps_rollup includes pages that are not copied, such as those of mapped files,
	 * so the estimate would be too high. If the heap is not read, the caller shows
	 * the first reading.
	 */
	r = sampler_read_mappings(reader->sampler, u, mappings);
	if (r < 0 || !process_has_memory(&u->process))
		return r;
	is_asked = reader->helpers && heap_ask_before(reader, u);
	r = heap_reader_walk(reader, u, mappings, ret);
	if (reader->helpers)
		heap_ask_after(reader, u, mappings, ret, is_asked);
	return ret->is_reported ? 0 : r;
}
