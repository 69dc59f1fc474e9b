/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/classify_heap.h"
#include "proc/proc_room.h"
#include "proc/proc_task.h"
#include "sample/heap_ask.h"
#include "sample/swift.h"
#include "target/peek.h"
#include "target/stop.h"
#include "walk/detail.h"
#include "walk/walk.h"

/* What a pause is made of, on a busy machine: measured, rounded up. */
#define PAUSE_BASE_NS (2 * NS_PER_MS)
#define PAUSE_THREAD_NS (200 * NS_PER_US)
#define PAUSE_MAPPING_NS (4 * NS_PER_US)
#define PAUSE_COPY_NS_PER_GIB (500 * NS_PER_MS)

/* It may grow between the look at its size and the stop. */
#define ROOM_SPARE_SHARE 16
#define ROOM_SPARE_BYTES (UINT64_C(4) << 20)

/* What the walk and a mark need besides, and what is left to others: one part in so many. */
#define TABLES_SHARE 8
#define OTHERS_SHARE 4

/* A target that was stopped in the middle of malloc() looks broken: another moment may be better. */
#define WALK_TRIES 4

/* Readings of a target that is not stopped. */
#define READINGS 3

void heap_reader_init(struct heap_reader *reader, const struct procfs *fs,
		      struct sampler *sampler, uint64_t max_pause_ns)
{
	*reader = (struct heap_reader){
		.fs = fs,
		.sampler = sampler,
		.max_pause_ns = max_pause_ns,
		.image = IMAGE_INIT,
		.blocks = BLOCKS_INIT,
		.names = NAMES_INIT,
	};
}

void heap_reader_release(struct heap_reader *reader)
{
	free(reader->threads);
	free(reader->words);
	helper_answer_release(&reader->answer);
	names_release(&reader->names);
	blocks_release(&reader->blocks);
	image_release(&reader->image);
}

/* What is done, and kept, while the target stands still. */
struct moment {
	struct heap_reader *reader;
	int pagemap_fd, mem_fd;
	int memory_pid; /* a thread's that lives */
	struct usage usage;
	struct mapping_list mappings;
	uint64_t *thread_addrs;
	size_t thread_count;
};

static bool is_wanted(const struct heap_reader *reader, const struct mapping *m)
{
	return walk_wants_mapping(m) || (reader->copies_roots && roots_want_mapping(m));
}

/* Huge pages of hugetlbfs are no part of Rss. */
static uint64_t resident_bytes(const struct mapping *m)
{
	const uint64_t *bytes = m->counters.bytes;

	if (!(m->flags & MAPPING_HUGETLB))
		return bytes[SMAPS_RSS];
	return bytes_add(bytes[SMAPS_SHARED_HUGETLB], bytes[SMAPS_PRIVATE_HUGETLB]);
}

/* Anonymous pages that a fork or KSM made common to several; the pages of a file are no matter. */
static bool may_share_pages(const struct mapping *m)
{
	const uint64_t *bytes = m->counters.bytes;
	bool is_merged = bytes_known(bytes[SMAPS_KSM]) && bytes[SMAPS_KSM] != 0;

	return bytes[SMAPS_ANONYMOUS] != 0 &&
	       (is_merged || bytes[SMAPS_SHARED_DIRTY] != 0 || bytes[SMAPS_SHARED_CLEAN] != 0);
}

static size_t choose_ranges(const struct heap_reader *reader,
			    const struct mapping_list *mappings, struct peek_range *ret)
{
	uint64_t done_addr = 0;
	size_t count = 0;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];
		/* one that grew while smaps was read may be in it twice, with its old end too */
		uint64_t start = m->start_addr > done_addr ? m->start_addr : done_addr;

		if (!is_wanted(reader, m) || start >= m->end_addr)
			continue;
		ret[count++] = (struct peek_range){ start, m->end_addr, may_share_pages(m) };
		done_addr = m->end_addr;
	}
	return count;
}

/* What the threads had outside of memory. */
static void keep_threads(struct heap_reader *reader, const struct stop *stop)
{
	reader->threads =
		xrealloc(reader->threads, (stop->count + 1) * sizeof(*reader->threads));
	reader->thread_count = stop->count;
	for (size_t i = 0; i < stop->count; i++) {
		const struct stopped_thread *thread = &stop->threads[i];

		reader->threads[i] = (struct root_thread){
			.tid = thread->tid,
			.stack_addr = thread->stack_addr,
			.tls_addr = thread->tls_addr,
			.word_count = thread->word_count,
		};
	}
	reader->words = xrealloc(reader->words,
				 (stop->word_count + 1) * sizeof(*reader->words));
	reader->word_count = stop->word_count;
	if (stop->word_count > 0)
		memcpy(reader->words, stop->words,
		       stop->word_count * sizeof(*reader->words));
}

static int copy_target(void *context, const struct stop *stop)
{
	struct moment *moment = context;
	_cleanup_free_ struct peek_range *ranges = NULL;
	struct peek peek = {
		.pid = moment->memory_pid,
		.pagemap_fd = moment->pagemap_fd,
		.mem_fd = moment->mem_fd,
		.deadline_ns = stop->deadline_ns,
		.is_running = moment->reader->is_running,
	};
	struct sampler *sampler = moment->reader->sampler;
	/* nobody is there to be let in while the target stands still */
	bool was_paced = sampler_set_paced(sampler, moment->reader->is_running);
	int r;

	r = sampler_read_mappings(sampler, &moment->usage, &moment->mappings);
	sampler_set_paced(sampler, was_paced);
	if (r < 0)
		return r;
	ranges = xcalloc(moment->mappings.count + 1, sizeof(*ranges));
	r = peek_copy(&peek, ranges,
		      choose_ranges(moment->reader, &moment->mappings, ranges),
		      &moment->reader->image);
	if (r < 0)
		return r;
	moment->thread_addrs = xcalloc(stop->count, sizeof(*moment->thread_addrs));
	for (size_t i = 0; i < stop->count; i++)
		moment->thread_addrs[i] = stop->threads[i].tls_addr;
	moment->thread_count = stop->count;
	keep_threads(moment->reader, stop);
	return 0;
}

static void moment_release(struct moment *moment)
{
	mapping_list_release(&moment->mappings);
	free(moment->thread_addrs);
}

static uint64_t copy_bytes(const struct heap_reader *reader,
			   const struct mapping_list *mappings)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < mappings->count; i++)
		if (is_wanted(reader, &mappings->items[i]))
			sum = bytes_add(sum, resident_bytes(&mappings->items[i]));
	return sum;
}

uint64_t heap_reader_estimate_pause_ns(const struct heap_reader *reader,
				       const struct usage *u,
				       const struct mapping_list *mappings)
{
	uint64_t bytes = copy_bytes(reader, mappings);

	if (!bytes_known(bytes))
		return BYTES_UNKNOWN;
	return PAUSE_BASE_NS + u->process.thread_count * PAUSE_THREAD_NS +
	       mappings->count * PAUSE_MAPPING_NS +
	       (bytes >> 10) * PAUSE_COPY_NS_PER_GIB / (1 << 20);
}

/* Room for the copy and the tables of the walk. Never drive the machine into swapping. */
static int make_room(struct heap_reader *reader, uint64_t bytes, struct heap *ret)
{
	uint64_t had_bytes = reader->image.capacity_bytes;
	struct room room;
	int r = 0;

	bytes += bytes / ROOM_SPARE_SHARE + ROOM_SPARE_BYTES;
	if (had_bytes >= bytes)
		return 0;
	room = proc_room_read(reader->fs);
	ret->needed_bytes = bytes - had_bytes + bytes / TABLES_SHARE;
	ret->room_bytes = room.bytes;
	ret->room_limit = room.limit;
	if (bytes_known(room.bytes) &&
	    ret->needed_bytes > room.bytes - room.bytes / OTHERS_SHARE)
		r = -ENOMEM;
	return r ? r : image_reserve(&reader->image, bytes);
}

/* All that can be done before the stop: may it be, and room for the copy. */
static int prepare(struct heap_reader *reader, const struct usage *u,
		   const struct mapping_list *mappings, struct heap *ret)
{
	uint64_t bytes = copy_bytes(reader, mappings);

	if (!reader->fs->is_live || !bytes_known(bytes))
		return -EOPNOTSUPP;
	ret->expected_ns = heap_reader_estimate_pause_ns(reader, u, mappings);
	if (ret->expected_ns > reader->max_pause_ns && !reader->is_running)
		return -EFBIG;
	return make_room(reader, bytes, ret);
}

static int take_moment(struct heap_reader *reader, const struct usage *u,
		       struct moment *ret, uint64_t *ret_pause_ns)
{
	/* a first thread that has ended has no memory any more, the others have */
	int tid = u->process.state == 'Z' ? proc_task_find_living(reader->fs, u->process.pid) :
					    u->process.pid;
	_cleanup_close_ int task_fd =
		procfs_open_file(reader->fs, u->process.pid, "task");
	_cleanup_close_ int pagemap_fd = procfs_open_file(reader->fs, tid, "pagemap");
	_cleanup_close_ int mem_fd = procfs_open_file(reader->fs, tid, "mem");
	struct stop_request request = {
		.pid = u->process.pid,
		.task_fd = task_fd,
		.limit_ns = reader->max_pause_ns,
		.work = copy_target,
		.context = ret,
	};

	*ret = (struct moment){
		.reader = reader,
		.pagemap_fd = pagemap_fd,
		.mem_fd = mem_fd,
		.memory_pid = tid,
	};
	if (task_fd < 0 || pagemap_fd < 0)
		return task_fd < 0 ? task_fd : pagemap_fd;
	if (mem_fd < 0)
		return mem_fd;
	usage_init(&ret->usage);
	ret->usage.process = u->process;
	ret->usage.command = u->command; /* there already: not read again */
	image_clear(&reader->image);
	names_open(&reader->names, reader->fs, tid);
	*ret_pause_ns = 0;
	if (reader->is_running)
		return copy_target(ret, &(struct stop){ 0 });
	return stop_run(&request, ret_pause_ns);
}

static bool is_page_count_right(const struct heap_reader *reader, const struct mapping *m)
{
	return image_resident_bytes(&reader->image, m->start_addr, m->end_addr) ==
	       resident_bytes(m);
}

static bool holds_thread(const struct moment *moment, const struct mapping *m)
{
	for (size_t i = 0; i < moment->thread_count; i++)
		if (moment->thread_addrs[i] >= m->start_addr &&
		    moment->thread_addrs[i] < m->end_addr)
			return true;
	return false;
}

/*
 * Does the copy hold as many pages as the kernel counts, of the heap, of the threads' data, which
 * lead to their caches, and of the roots? A page that is being migrated is resident, but cannot be copied.
 */
static bool is_copy_whole(const struct heap_reader *reader, const struct moment *moment,
			  const struct heap *heap)
{
	const struct mapping_list *list = &moment->mappings;

	for (size_t i = 0; i < heap->share_count; i++)
		if (!is_page_count_right(reader, &list->items[heap->shares[i].mapping]))
			return false;
	for (size_t i = 0; i < list->count; i++)
		if (is_wanted(reader, &list->items[i]) &&
		    (reader->copies_roots || holds_thread(moment, &list->items[i])) &&
		    !is_page_count_right(reader, &list->items[i]))
			return false;
	return true;
}

static int read_once(struct heap_reader *reader, struct usage *u,
		     struct mapping_list *mappings, struct heap *ret,
		     uint64_t *ret_pause_ns)
{
	struct moment moment;
	struct walk_input input;
	int r;

	r = take_moment(reader, u, &moment, ret_pause_ns);
	if (r < 0) {
		moment_release(&moment);
		return r;
	}
	input = (struct walk_input){
		.image = &reader->image,
		.mappings = &moment.mappings,
		.thread_addrs = moment.thread_addrs,
		.thread_count = moment.thread_count,
		.is_running = reader->is_running,
	};
	heap_release(ret);
	blocks_release(&reader->blocks);
	walk_heap(&input, ret, &reader->blocks);
	ret->copied_bytes = reader->image.length_bytes;
	if (ret->quality == QUALITY_EXACT && !is_copy_whole(reader, &moment, ret)) {
		ret->quality = QUALITY_ESTIMATE;
		ret->problem = "resident pages are not those that smaps counts";
	}
	*u = moment.usage;
	mapping_list_release(mappings);
	*mappings = moment.mappings;
	moment.mappings = (struct mapping_list)MAPPING_LIST_INIT;
	moment_release(&moment);
	return 0;
}

/* What came into a mapping after its Rss was read is left out, the free pages first. */
static void fit_shares(const struct mapping_list *mappings, struct heap *heap)
{
	static const enum owner order[] = { OWNER_POOL_PAGES, OWNER_POOL_FRAGMENTS,
					    OWNER_LIVE, OWNER_HEAP_META };

	for (size_t i = 0; i < heap->share_count; i++) {
		uint64_t *bytes = heap->shares[i].owner_bytes;
		uint64_t rss_bytes = mappings->items[heap->shares[i].mapping]
					     .counters.bytes[SMAPS_RSS];
		uint64_t sum = 0;

		for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
			sum += bytes[o];
		for (size_t k = 0; sum > rss_bytes; k++) {
			uint64_t most = bytes[order[k]];
			uint64_t less = sum - rss_bytes < most ? sum - rss_bytes : most;

			bytes[order[k]] -= less;
			heap->owner_bytes[order[k]] -= less;
			sum -= less;
		}
	}
}

static void pause_shortly(void)
{
	const struct timespec pause = { .tv_nsec = 1 * (long)NS_PER_MS };

	nanosleep(&pause, NULL);
}

/* Without a stop: several readings, of which *ret is the last one. */
static int read_running(struct heap_reader *reader, struct usage *u,
			struct mapping_list *mappings, struct heap *ret)
{
	uint64_t least[OWNER_HEAP_LAST + 1], most[OWNER_HEAP_LAST + 1];
	unsigned int readings = reader->is_read_once ? 1 : READINGS;
	uint64_t no_pause_ns;
	unsigned int count = 0;
	int r = 0;

	for (int i = 0; r == 0 && count < readings && i < READINGS + WALK_TRIES; i++) {
		if (i > 0)
			pause_shortly();
		r = read_once(reader, u, mappings, ret, &no_pause_ns);
		if (r < 0 || ret->quality == QUALITY_UNKNOWN)
			continue;
		fit_shares(mappings, ret);
		for (size_t o = 0; o <= OWNER_HEAP_LAST; o++) {
			uint64_t bytes = ret->owner_bytes[o];

			least[o] = count == 0 || bytes < least[o] ? bytes : least[o];
			most[o] = count == 0 || bytes > most[o] ? bytes : most[o];
		}
		count++;
	}
	for (size_t o = 0; count > 0 && o <= OWNER_HEAP_LAST; o++)
		ret->spread_bytes[o] = most[o] - least[o];
	ret->reading_count = count;
	return r;
}

static int read_stopped(struct heap_reader *reader, struct usage *u,
			struct mapping_list *mappings, struct heap *ret,
			uint64_t *ret_stopped_ns)
{
	uint64_t stopped_ns = 0;
	int r = 0;

	for (int i = 0; (r == 0 || r == -ESTALE) && i < WALK_TRIES; i++) {
		uint64_t pause_ns = 0;

		if (i > 0)
			pause_shortly();
		r = read_once(reader, u, mappings, ret, &pause_ns);
		stopped_ns += pause_ns;
		if (r == 0 && ret->quality != QUALITY_ESTIMATE)
			break;
	}
	*ret_stopped_ns = stopped_ns;
	return r;
}

int heap_reader_walk(struct heap_reader *reader, struct usage *u,
		     struct mapping_list *mappings, struct heap *ret)
{
	uint64_t stopped_ns = 0;
	struct heap asked;
	int r;

	r = prepare(reader, u, mappings, ret);
	asked = *ret; /* nothing but what was expected */
	if (r == 0 && reader->is_running)
		r = read_running(reader, u, mappings, ret);
	else if (r == 0)
		r = read_stopped(reader, u, mappings, ret, &stopped_ns);
	if (r < 0) /* what an earlier try found is not the reason */
		heap_release(ret);
	ret->pause_ns = stopped_ns;
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
	int r;

	heap_init(ret);
	helper_answer_release(&reader->answer);
	r = sampler_read_mappings(reader->sampler, u, mappings);
	if (r < 0 || !process_has_memory(&u->process))
		return r;
	return reader->helpers ? heap_ask(reader, u, mappings, ret) :
				 heap_reader_walk(reader, u, mappings, ret);
}

static void translate_types(struct heap_detail *detail)
{
	_cleanup_free_ char **names = xcalloc(detail->type_count + 1, sizeof(*names));

	for (size_t i = 0; i < detail->type_count; i++)
		names[i] = detail->types[i].name;
	swift_translate(names, detail->type_count, SWIFT_TYPES);
	for (size_t i = 0; i < detail->type_count; i++)
		detail->types[i].name = names[i];
}

void heap_reader_detail(struct heap_reader *reader, const struct mapping_list *mappings,
			struct heap_detail *ret)
{
	names_begin(&reader->names, mappings);
	walk_detail(&reader->blocks, reader->names.types, ret);
	translate_types(ret);
	if (!reader->names.symbols && !ret->problem)
		ret->problem = "there is no libelf: only C++ is known, by its type "
			       "information (memstate doctor)";
}
