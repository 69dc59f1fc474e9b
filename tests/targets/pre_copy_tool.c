/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pre_copy_tool - copy the memory of a running process in rounds, stop the process, and
 * compare the copy page by page with the memory of the stopped process.
 *
 * "pre_copy_tool PID [OPTION VALUE]…" prints one line of JSON per try, with the names of
 * its steps. The pages that must be in the copy come from pagemap, which memstate does
 * not use for that on a kernel with PAGEMAP_SCAN.
 *
 *   -n TRIES
 *   -r ROUNDS     number of rounds (default 2)
 *   -l MS         how long to wait for a safe moment (default 5000)
 *   -k STEP       kill itself at this step; steps count from 1
 *   -w WALKS      number of copies per try (default 1); the first is kept for the others
 *   -e ERROR      make this mistake: 1: skip the pages written since the last round;
 *                 2: skip the pages written since the previous copy; 3, with -s: do not
 *                 notice that a page is at the address of another
 *   -s            use soft-dirty bits instead of userfaultfd
 *   -o            with -s: work as on a kernel before Linux 6.7
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "probe/track/fault_fd.h"
#include "proc/process/dir.h"
#include "proc/process/stat.h"
#include "proc/smaps/smaps.h"
#include "tracee/memory/early_keep.h"
#include "tracee/memory/soft_dirty.h"
#include "tracee/memory/write_track.h"
#include "tracee/ptrace/stop.h"

enum {
	RANGES_MAX = 4096,
	STEPS_MAX = 256,
	BATCH = 64, /* number of pages compared at a time */
};

static struct {
	int pid;
	unsigned long tries, rounds, limit_ms, kill_step, mistake, walks;
	bool uses_soft_dirty, is_old;
} options = { .tries = 1, .rounds = 2, .limit_ms = 5000, .walks = 1 };

struct
try {
	const struct procfs *fs;
	int process_fd, task_fd, pagemap_fd, mem_fd;
	struct early_copy copy;
	struct image image, late;
	struct early_range ranges[RANGES_MAX];
	size_t range_count;
	unsigned long step_count;
	const char *steps[STEPS_MAX];
	const char *reason;
	uint64_t round_pages, missing, different, surplus;
	/* further walks with the kept copy, and the pages that they copied in rounds */
	uint64_t kept_walks, kept_pages;
	uint64_t pause_ns;
};

static void step(void *context, const char *name)
{
	struct try *t = context;

	if (t->step_count < STEPS_MAX)
		t->steps[t->step_count] = name;
	if (++t->step_count == options.kill_step)
		kill(getpid(), SIGKILL);
}

static bool is_tracked(const struct mapping *m)
{
	return (m->flags & (MAPPING_READ | MAPPING_WRITE | MAPPING_SHARED)) ==
		       (MAPPING_READ | MAPPING_WRITE) &&
	       m->inode == 0 && (m->name[0] == '\0' || strcmp(m->name, "[heap]") == 0);
}

static int add_range(void *context, struct mapping *m)
{
	struct try *t = context;
	uint64_t done_addr = t->range_count ? t->ranges[t->range_count - 1].end_addr : 0;

	if (is_tracked(m) && t->range_count < RANGES_MAX && m->start_addr >= done_addr)
		t->ranges[t->range_count++] = (struct early_range){
			.start_addr = m->start_addr,
			.end_addr = m->end_addr,
			.is_shared = true, /* the target forks at any time */
			.is_tracked = m->flags & MAPPING_WRITE_TRACKED,
		};
	return 0;
}

static int read_ranges(struct try *t)
{
	struct smaps_reader reader;
	uint64_t read_ns;
	int r;

	t->range_count = 0;
	smaps_reader_init(&reader);
	r = proc_smaps_read(&reader, t->fs, options.pid, add_range, t, &read_ns);
	smaps_reader_release(&reader);
	return r;
}

static struct peek make_peek(const struct try *t, bool is_running)
{
	return (struct peek){
		.pid = options.pid,
		.pagemap_fd = t->pagemap_fd,
		.mem_fd = t->mem_fd,
		.is_running = is_running,
		.thread_count = is_running ? 1 : 2,
		.no_scan = options.is_old,
	};
}

/* Compare one page, which pagemap reports as present, with the copy. */
static void compare(struct try *t, uint64_t addr, const uint8_t *page)
{
	static const uint8_t zeros[IMAGE_PAGE_BYTES];
	const uint8_t *copy = image_at(&t->image, addr, IMAGE_PAGE_BYTES);

	/* the shared zero page is not part of the copy */
	if (!copy)
		t->missing += memcmp(page, zeros, IMAGE_PAGE_BYTES) != 0;
	else
		t->different += memcmp(page, copy, IMAGE_PAGE_BYTES) != 0;
}

/* Compare pages, all of which pagemap reports as present. */
static void compare_present(struct try *t, uint64_t addr, size_t count)
{
	static uint8_t pages[BATCH * IMAGE_PAGE_BYTES];
	size_t length = count * IMAGE_PAGE_BYTES;

	if (pread(t->mem_fd, pages, length, (off_t)addr) == (ssize_t)length)
		for (size_t i = 0; i < count; i++)
			compare(t, addr + i * IMAGE_PAGE_BYTES,
				pages + i * IMAGE_PAGE_BYTES);
	else if (count > 1)
		for (size_t i = 0; i < count; i++)
			compare_present(t, addr + i * IMAGE_PAGE_BYTES, 1);
}

static void compare_range(struct try *t, const struct peek_range *range)
{
	for (uint64_t addr = range->start_addr; addr < range->end_addr;) {
		uint64_t entries[BATCH] = { 0 };
		size_t left = (range->end_addr - addr) / IMAGE_PAGE_BYTES;
		size_t count = left < BATCH ? left : BATCH, present = 0;

		if (pread(t->pagemap_fd, entries, count * sizeof(entries[0]),
			  (off_t)(addr / IMAGE_PAGE_BYTES * sizeof(entries[0]))) < 0)
			t->missing++;
		while (present < count && entries[present] >> 63)
			present++;
		if (present > 0) {
			compare_present(t, addr, present);
			addr += present * IMAGE_PAGE_BYTES;
		} else {
			t->surplus += image_at(&t->image, addr, 1) != NULL;
			addr += IMAGE_PAGE_BYTES;
		}
	}
}

/* Record the pages that are now at the addresses of the copied ones. */
static void list_again(struct try *t)
{
	struct page_list list = PAGE_LIST_INIT;

	for (size_t i = 0; i < t->copy.range_count; i++) {
		const struct early_range *range = &t->copy.ranges[i];
		const struct tracked_part part = {
			.pagemap_fd = t->pagemap_fd,
			.start_addr = range->start_addr,
			.end_addr = range->end_addr,
			.first_page = range->offset_bytes / IMAGE_PAGE_BYTES,
		};

		t->copy.tracker.kind->list(&t->copy.tracker, &part, &list);
	}
	page_list_release(&list);
}

static int copy_stopped(void *context, const struct stop *stop)
{
	static struct peek_range ranges[RANGES_MAX];
	struct try *t = context;
	struct peek peek = make_peek(t, false);
	int r = read_ranges(t);

	(void)stop;
	for (size_t i = 0; i < t->range_count; i++)
		ranges[i] = (struct peek_range){ .start_addr = t->ranges[i].start_addr,
						 .end_addr = t->ranges[i].end_addr,
						 .is_shared = true };
	step(t, "stopped");
	if (r == 0)
		r = peek_find(&peek, ranges, t->range_count, &t->image);
	/* a page that is being migrated cannot be copied; memstate itself tries again */
	for (size_t i = 0; i < t->range_count; i++)
		if (ranges[i].swapped_bytes > 0)
			return -EAGAIN;
	if (options.mistake == 3)
		list_again(t);
	t->reason = "select";
	if (r == 0)
		r = early_copy_select(&t->copy, t->pagemap_fd, &t->image, &t->late);
	if (options.mistake == 1)
		image_clear(&t->late);
	t->reason = "copy of the late pages";
	if (r == 0)
		r = peek_copy(&peek, ranges, t->range_count, &t->late);
	step(t, "copied");
	if (r == 0) {
		t->reason = "a page that was not copied";
		r = early_copy_finish(&t->copy, &t->image, &t->late);
	}
	for (size_t i = 0; r == 0 && i < t->range_count; i++)
		compare_range(t, &ranges[i]);
	return r;
}

/* Give the copy a layout, so that it can be kept. */
static void make_layout(struct try *t)
{
	struct page_list list = PAGE_LIST_INIT;

	for (size_t i = 0; i < t->range_count; i++)
		page_list_add(&list, t->ranges[i].start_addr, t->ranges[i].end_addr);
	if (options.walks > 1)
		copy_layout_make(&t->copy.layout, &list, UINT64_C(1) << 40);
	page_list_release(&list);
}

static int copy_running(struct try *t, uint64_t *sum)
{
	struct peek peek = make_peek(t, true);
	uint64_t pages;
	int r = 0;

	t->reason = "round";
	for (unsigned long i = 0; r == 0 && i < options.rounds; i++) {
		r = early_copy_round(&t->copy, &peek, UINT64_MAX, &pages);
		*sum += pages;
		step(t, "round");
	}
	return r;
}

/* Copy again, with the kept copy of the previous walk. */
static int do_kept_walk(struct try *t, const struct stop_request *stop)
{
	int r;

	early_keep_return(&t->copy, &t->image);
	t->reason = "renew";
	r = read_ranges(t);
	if (r == 0)
		r = early_keep_renew(&t->copy, t->pagemap_fd, t->ranges, t->range_count);
	step(t, "renewed");
	if (r == 0 && options.mistake == 2) {
		struct page_list list = PAGE_LIST_INIT;

		for (size_t i = 0; i < t->range_count; i++)
			write_track_protect(t->pagemap_fd, t->ranges[i].start_addr,
					    t->ranges[i].end_addr, &list);
		page_list_release(&list);
	}
	if (r == 0)
		r = copy_running(t, &t->kept_pages);
	t->reason = "pause";
	if (r == 0)
		r = stop_run(stop, &t->pause_ns);
	step(t, "released again");
	t->kept_walks += r == 0;
	return r;
}

static int do_kept_walks(struct try *t, const struct stop_request *stop)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	int r = 0;

	for (unsigned long i = 1; r == 0 && i < options.walks; i++) {
		nanosleep(&pause, NULL);
		r = do_kept_walk(t, stop);
	}
	return r;
}

static int open_tracker(struct try *t, const struct procfs *fs,
			const struct process *process, struct write_tracker *ret)
{
	const struct probe_request request = {
		.fs = fs,
		.pid = process->pid,
		.start_ticks = process->start_ticks,
		.may_inject = true,
		.limit_ns = options.limit_ms * 1000000U,
		.step = step,
		.context = t,
	};
	struct probe_cost cost;
	int fd, r;

	if (options.uses_soft_dirty) {
		t->reason = "soft-dirty bits";
		r = soft_dirty_check_support();
		fd = proc_dir_open_file(t->process_fd, PROC_CLEAR_REFS, O_WRONLY);
		if (r < 0 || fd < 0)
			return r < 0 ? r : fd;
		return soft_dirty_open(ret, fd);
	}
	r = fault_fd_open(&request, &fd, &cost, &t->reason);
	if (r < 0)
		return r;
	step(t, "descriptor of its own");
	return write_track_open(ret, fd);
}

static int do_try(struct try *t, const struct procfs *fs, const struct process *process)
{
	const struct stop_request stop = {
		.pid = options.pid,
		.task_fd = t->task_fd,
		.limit_ns = 60000000000U,
		.work = copy_stopped,
		.context = t,
	};
	struct write_tracker tracker;
	int r = open_tracker(t, fs, process, &tracker);

	if (r < 0)
		return r;
	t->reason = "register";
	r = read_ranges(t);
	make_layout(t);
	if (r == 0)
		r = early_copy_begin(&t->copy, &tracker, t->pagemap_fd, t->ranges,
				     t->range_count);
	step(t, "registered");
	if (r == 0)
		r = copy_running(t, &t->round_pages);
	if (r == 0) {
		t->reason = "pause";
		r = stop_run(&stop, &t->pause_ns);
	}
	step(t, "released");
	if (r == 0)
		r = do_kept_walks(t, &stop);
	early_copy_end(&t->copy);
	step(t, "unregistered");
	return r;
}

static int do_print(const struct procfs *fs)
{
	static struct try t;
	struct process process;
	int r = proc_stat_read(fs, options.pid, &process);

	if (r < 0)
		return 99;
	t = (struct try){ .fs = fs, .copy = EARLY_COPY_INIT };
	t.process_fd = proc_dir_open(fs, options.pid);
	t.task_fd = proc_dir_open_threads(t.process_fd);
	t.pagemap_fd = proc_dir_open_file(t.process_fd, PROC_PAGEMAP, O_RDONLY);
	t.mem_fd = proc_dir_open_file(t.process_fd, PROC_MEM, O_RDONLY);
	r = do_try(&t, fs, &process);
	printf("{\"result\": %d, \"reason\": \"%s\", \"pages\": %" PRIu64
	       ", \"copied\": %" PRIu64 ", \"late\": %" PRIu64 ", \"missing\": %" PRIu64
	       ", \"different\": %" PRIu64 ", \"surplus\": %" PRIu64
	       ", \"pause_ns\": %" PRIu64 ", \"kept_walks\": %" PRIu64
	       ", \"kept_pages\": %" PRIu64 ", \"steps\": [",
	       r, r < 0 ? t.reason : "", t.image.length_bytes / IMAGE_PAGE_BYTES,
	       t.round_pages, t.late.length_bytes / IMAGE_PAGE_BYTES, t.missing,
	       t.different, t.surplus, t.pause_ns, t.kept_walks, t.kept_pages);
	for (unsigned long i = 0; i < t.step_count && i < STEPS_MAX; i++)
		printf("%s\"%s\"", i ? ", " : "", t.steps[i]);
	printf("]}\n");
	fflush(stdout);
	early_copy_release(&t.copy);
	image_release(&t.image);
	image_release(&t.late);
	close(t.process_fd);
	close(t.task_fd);
	close(t.pagemap_fd);
	close(t.mem_fd);
	return 0;
}

int main(int argc, char **argv)
{
	struct procfs fs = PROCFS_INIT;
	int letter;

	while ((letter = getopt(argc, argv, "n:r:l:k:e:w:so")) > 0) {
		unsigned long value = optarg ? strtoul(optarg, NULL, 10) : 0;

		switch (letter) {
		case 'n': options.tries = value; break;
		case 'r': options.rounds = value; break;
		case 'l': options.limit_ms = value; break;
		case 'k': options.kill_step = value; break;
		case 'e': options.mistake = value; break;
		case 'w': options.walks = value; break;
		case 's': options.uses_soft_dirty = true; break;
		case 'o': options.is_old = true; break;
		default: return 99;
		}
	}
	if (optind + 1 != argc || procfs_open(&fs, "/proc"))
		return 99;
	options.pid = atoi(argv[optind]);
	for (unsigned long i = 0; i < options.tries; i++) {
		int status = do_print(&fs);

		if (status)
			return status;
	}
	procfs_release(&fs);
	return 0;
}
