/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap PID ROUNDS - measure the cost of reading a process's heap, for the process and for
 * memstate.
 *
 * Each round stops the process and copies the pages in bulk, with one thread and with one
 * per CPU (the baselines), stops it and copies what memstate copies, marks the reachable
 * blocks in the copy, and walks the copy. The output has the medians. If the environment
 * variable MEMSTATE names a memstate, its peak memory is printed relative to the amount
 * it copies.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/thread.h"
#include "base/xalloc.h"
#include "bench.h"
#include "sample/heap/leak_scan.h"
#include "tracee/memory/peek.h"
#include "tracee/ptrace/stop.h"
#include "walk/walk.h"

#define PAUSE_MAX_NS UINT64_C(60000000000)
/* size of each bare copy, which is as fast as a larger one */
#define COPY_BYTES (UINT64_C(16) << 20)

struct heap_bench {
	int pid;
	struct procfs fs;
	struct sampler *sampler;
	struct targets targets;
	struct target_pid target;
	struct snapshot snapshot;
	struct heap_reader reader;
	struct mapping_list mappings;
	struct heap heap;
	struct leak_scan scan;
	uint64_t bare_ns;
	unsigned int bare_threads;
	/* with one thread, then with one per CPU, as memstate copies */
	double *bare_ms, *bares_ms;
	/* the pause, also relative to these */
	double *pause_ms, *pause_ratio, *pause_ratios;
	double *walk_ms;
	/* CPU time and duration with one thread, then with one per CPU */
	double *mark_ms, *mark_wall_ms, *marks_ms, *marks_wall_ms;
};

/* A part of the bare copy, as offsets in the image. */
struct part {
	struct heap_bench *b;
	uint64_t start, end;
	pthread_t thread;
	bool has_failed;
};

/*
 * Copy the runs that the reader copied last into the reader's own buffer, whose
 * pages have all been touched.
 */
static void *copy_part(void *context)
{
	struct part *part = context;
	const struct image *image = &part->b->reader.image;
	uint64_t at = part->start;

	while (at < part->end) {
		struct iovec from[IOV_MAX];
		struct iovec to = { image->bytes + at, 0 };
		unsigned long count = 0;

		for (; at < part->end && count < IOV_MAX && to.iov_len < COPY_BYTES;
		     count++) {
			const struct image_run *run = image_run_with_offset(image, at);
			uint64_t addr = run->start_addr + (at - run->offset_bytes);
			uint64_t length = run->end_addr - addr;

			if (length > part->end - at)
				length = part->end - at;
			if (length > COPY_BYTES - to.iov_len)
				length = COPY_BYTES - to.iov_len;
			from[count].iov_base = (void *)(uintptr_t)addr;
			from[count].iov_len = length;
			to.iov_len += length;
			at += length;
		}
		if (process_vm_readv(part->b->pid, &to, 1, from, count, 0) !=
		    (ssize_t)to.iov_len)
			part->has_failed = true;
	}
	return NULL;
}

static int copy_bare(void *context, const struct stop *stop)
{
	struct heap_bench *b = context;
	uint64_t length = b->reader.image.length_bytes;
	struct part parts[PEEK_THREADS_MAX] = { 0 };
	uint64_t start_ns = bench_now_ns();
	bool has_failed = false;

	(void)stop;
	for (unsigned int i = 0; i < b->bare_threads; i++) {
		parts[i].b = b;
		parts[i].start = length / b->bare_threads * i & ~(IMAGE_PAGE_BYTES - 1);
		parts[i].end = i + 1 < b->bare_threads
				       ? length / b->bare_threads * (i + 1) &
						 ~(IMAGE_PAGE_BYTES - 1)
				       : length;
		if (i > 0 && pthread_create(&parts[i].thread, NULL, copy_part, &parts[i]))
			return -EAGAIN;
	}
	copy_part(&parts[0]);
	for (unsigned int i = 0; i < b->bare_threads; i++) {
		if (i > 0)
			pthread_join(parts[i].thread, NULL);
		has_failed |= parts[i].has_failed;
	}
	b->bare_ns = bench_now_ns() - start_ns;
	return has_failed ? -EIO : 0;
}

/* Return the time in ms that the given number of threads needs for the copy. */
static double stop_and_copy_bare(struct heap_bench *b, unsigned int threads)
{
	const struct stop_request request = {
		.pid = b->pid,
		.task_fd = procfs_open_file(&b->fs, b->pid, "task"),
		.limit_ns = PAUSE_MAX_NS,
		.work = copy_bare,
		.context = b,
	};
	uint64_t pause_ns;
	int r;

	b->bare_threads = threads < PEEK_THREADS_MAX ? threads : PEEK_THREADS_MAX;
	r = stop_run(&request, &pause_ns);
	close(request.task_fd);
	if (r < 0) {
		errno = -r;
		bench_die("bare copy");
	}
	return (double)b->bare_ns / 1e6;
}

static void scan(struct heap_bench *b)
{
	int r;

	leak_scan_release(&b->scan);
	heap_release(&b->heap);
	r = heap_reader_read(&b->reader, &b->snapshot.usages[0], &b->mappings, &b->heap);
	if (r == 0)
		r = leak_scan_mark(&b->reader, &b->mappings, &b->heap, NULL, &b->scan);
	if (r == 0)
		r = leak_scan_group(&b->reader, &b->scan);
	if (r == 0 && b->heap.quality != QUALITY_EXACT)
		fprintf(stderr, "not exact: %s\n", b->heap.problem);
	if (r < 0) {
		errno = -r;
		bench_die("leak scan");
	}
}

static double walk_again(struct heap_bench *b)
{
	uint64_t *addrs = xcalloc(b->reader.thread_count + 1, sizeof(*addrs));
	struct walk_input input = {
		.image = &b->reader.image,
		.mappings = &b->mappings,
		.thread_addrs = addrs,
		.thread_count = b->reader.thread_count,
	};
	struct blocks blocks;
	struct heap heap;
	uint64_t start_ns;

	for (size_t i = 0; i < b->reader.thread_count; i++)
		addrs[i] = b->reader.threads[i].tls_addr;
	start_ns = bench_cpu_ns();
	walk_heap(&input, &heap, &blocks);
	start_ns = bench_cpu_ns() - start_ns;
	blocks_release(&blocks);
	heap_release(&heap);
	free(addrs);
	return (double)start_ns / 1e6;
}

static void mark_again(struct heap_bench *b, unsigned int threads, double *ret_cpu_ms,
		       double *ret_wall_ms)
{
	struct root_list roots;
	struct mark_input input = {
		.blocks = &b->reader.blocks,
		.roots = &roots,
		.words = b->reader.words,
		.word_count = b->reader.word_count,
		.thread_count = threads,
	};
	struct leak leak;
	struct mark mark;
	uint64_t start_ns = bench_now_ns(), cpu_ns = bench_cpu_ns();

	roots_find(&b->reader.blocks, &b->mappings, b->reader.threads,
		   b->reader.thread_count, &roots);
	(void)mark_run(&input, &mark);
	while (mark_next_leak(&mark, &leak) > 0)
		;
	*ret_cpu_ms = (double)(bench_cpu_ns() - cpu_ns) / 1e6;
	*ret_wall_ms = (double)(bench_now_ns() - start_ns) / 1e6;
	mark_release(&mark);
	root_list_release(&roots);
}

static void measure(struct heap_bench *b, size_t rounds)
{
	scan(b); /* warm up: allocates the buffers, and finds the mappings */
	for (size_t i = 0; i < rounds; i++) {
		b->bare_ms[i] = stop_and_copy_bare(b, 1);
		b->bares_ms[i] = stop_and_copy_bare(b, thread_count_cpus());
		scan(b);
		b->pause_ms[i] = (double)b->heap.pause_ns / 1e6;
		b->pause_ratio[i] = b->pause_ms[i] / b->bare_ms[i];
		b->pause_ratios[i] = b->pause_ms[i] / b->bares_ms[i];
		mark_again(b, 1, &b->mark_ms[i], &b->mark_wall_ms[i]);
		mark_again(b, thread_count_cpus(), &b->marks_ms[i], &b->marks_wall_ms[i]);
		b->walk_ms[i] = walk_again(b);
	}
}

static uint64_t count_chunks(const struct heap *heap)
{
	uint64_t count = heap->mapped.count;

	for (size_t i = 0; i < heap->class_count; i++)
		count += heap->classes[i].live.count + heap->classes[i].cached.count +
			 heap->classes[i].free.count;
	return count;
}

static void print_peak(const char *verb, int pid, double copied_mib)
{
	const char *memstate = getenv("MEMSTATE");
	struct rusage usage;
	char number[16];
	int status;
	pid_t child = fork();

	snprintf(number, sizeof(number), "%d", pid);
	if (child == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDOUT_FILENO);
		execl(memstate, memstate, verb, "-p", number, "-J", "--max-pause", "60s",
		      (char *)NULL);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) < 0)
		bench_die("memstate");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		printf("%9.3f x of what it copies, %.0f MiB: peak memory of memstate %s\n",
		       (double)usage.ru_maxrss / 1024 / copied_mib,
		       (double)usage.ru_maxrss / 1024, verb);
}

static void print(struct heap_bench *b, size_t rounds)
{
	double copied_mib = (double)b->reader.image.length_bytes / (1 << 20);
	double scanned_gib = (double)b->scan.mark.scanned_bytes / (1 << 30);
	double mark_ms = bench_median(b->mark_ms, rounds);

	printf("          %.0f MiB copied, %llu chunks, %zu arenas, %.2f GiB marked\n",
	       copied_mib, (unsigned long long)count_chunks(&b->heap),
	       b->heap.arena_count, scanned_gib);
	printf("%9.1f ms the bare copy by one thread\n",
	       bench_median(b->bare_ms, rounds));
	printf("%9.1f ms the bare copy by %u threads\n",
	       bench_median(b->bares_ms, rounds), b->bare_threads);
	printf("%9.1f ms %8.3f x, %.3f x  the pause\n", bench_median(b->pause_ms, rounds),
	       bench_median(b->pause_ratio, rounds),
	       bench_median(b->pause_ratios, rounds));
	printf("%9.1f ms CPU  walk, lists and sums\n", bench_median(b->walk_ms, rounds));
	printf("%9.1f ms CPU  %.2f s/GiB, mark by one thread, %.1f ms\n", mark_ms,
	       mark_ms / 1e3 / scanned_gib, bench_median(b->mark_wall_ms, rounds));
	printf("%9.1f ms CPU  mark by %u threads, %.1f ms\n",
	       bench_median(b->marks_ms, rounds), thread_count_cpus(),
	       bench_median(b->marks_wall_ms, rounds));
}

static void begin(struct heap_bench *b, int pid, size_t rounds)
{
	*b = (struct heap_bench){ .pid = pid, .target = { .pid = pid } };
	b->targets = (struct targets){ .pids = &b->target, .pid_count = 1 };
	snapshot_init(&b->snapshot);
	if (procfs_open(&b->fs, "/proc") < 0)
		bench_die("/proc");
	b->sampler = sampler_new(&b->fs, false);
	if (sampler_list(b->sampler, &b->targets, NEED_STAT, &b->snapshot) < 0 ||
	    b->snapshot.count != 1)
		bench_die("process");
	heap_reader_init(&b->reader, &b->fs, b->sampler, PAUSE_MAX_NS);
	b->reader.copies_roots = true;
	b->bare_ms = xcalloc(rounds, sizeof(double));
	b->pause_ms = xcalloc(rounds, sizeof(double));
	b->pause_ratio = xcalloc(rounds, sizeof(double));
	b->bares_ms = xcalloc(rounds, sizeof(double));
	b->pause_ratios = xcalloc(rounds, sizeof(double));
	b->walk_ms = xcalloc(rounds, sizeof(double));
	b->mark_ms = xcalloc(rounds, sizeof(double));
	b->mark_wall_ms = xcalloc(rounds, sizeof(double));
	b->marks_ms = xcalloc(rounds, sizeof(double));
	b->marks_wall_ms = xcalloc(rounds, sizeof(double));
}

static void end(struct heap_bench *b)
{
	leak_scan_release(&b->scan);
	heap_release(&b->heap);
	mapping_list_release(&b->mappings);
	heap_reader_release(&b->reader);
	snapshot_release(&b->snapshot);
	sampler_free(b->sampler);
	procfs_release(&b->fs);
	free(b->bare_ms);
	free(b->pause_ms);
	free(b->pause_ratio);
	free(b->bares_ms);
	free(b->pause_ratios);
	free(b->walk_ms);
	free(b->mark_ms);
	free(b->mark_wall_ms);
	free(b->marks_ms);
	free(b->marks_wall_ms);
}

int main(int argc, char **argv)
{
	struct heap_bench b;
	double copied_mib;
	size_t rounds;

	if (argc != 3) {
		fputs("usage: heap PID ROUNDS\n", stderr);
		return 2;
	}
	rounds = bench_number(argv[2]);
	begin(&b, (int)bench_number(argv[1]), rounds);
	measure(&b, rounds);
	print(&b, rounds);
	copied_mib = (double)b.reader.image.length_bytes / (1 << 20);
	end(&b); /* free the memory, which memstate may need */
	fflush(stdout);
	if (getenv("MEMSTATE")) {
		print_peak("heap", (int)bench_number(argv[1]), copied_mib);
		print_peak("leaks", (int)bench_number(argv[1]), copied_mib);
	}
	return 0;
}
