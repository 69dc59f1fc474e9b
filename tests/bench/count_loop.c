/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_loop PAIRS [FRAMES] - call malloc and free PAIRS times, FRAMES frames deep
 * (default 1), and print the CPU time of one pair in ns.
 *
 * count_loop -r THREADS ROUNDS - start THREADS threads that allocate, and read their
 * counts ROUNDS times as memstate does. Prints the median time of a reading, provided
 * that the program is being counted.
 */
#include "config.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "probe/count/count.h"

static pthread_barrier_t barrier;

static void *allocate(void *unused)
{
	void *volatile p = malloc(64);

	(void)unused;
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	free(p);
	return NULL;
}

static int read_own(int thread_count, int round_count)
{
	struct count_folder folder = COUNT_FOLDER_INIT;
	struct count_list list = COUNT_LIST_INIT;
	double *ns = calloc((size_t)round_count, sizeof(*ns));
	pthread_t thread;

	folder.path = getenv(count_folder_variable);
	folder.fd = folder.path ? open(folder.path, O_RDONLY | O_DIRECTORY) : -1;
	if (folder.fd < 0 || !ns)
		return 1;
	pthread_barrier_init(&barrier, NULL, (unsigned int)thread_count + 1);
	for (int i = 0; i < thread_count; i++)
		if (pthread_create(&thread, NULL, allocate, NULL) != 0)
			return 1;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < round_count; i++) {
		uint64_t begin = bench_now_ns();

		if (count_folder_read(&folder, &list) < 0 || list.count == 0)
			return 1;
		ns[i] = (double)(bench_now_ns() - begin);
	}
	printf("%zu threads read in %.1f us\n",
	       list.programs[list.count - 1].listed_count,
	       bench_median(ns, (size_t)round_count) / 1000);
	return 0;
}

static __attribute__((noinline)) void allocate_and_free(long count)
{
	uint64_t begin = bench_cpu_ns();

	for (long i = 0; i < count; i++) {
		void *volatile p = malloc(64 + (size_t)(i & 31));

		free(p);
	}
	printf("%.2f ns\n", (double)(bench_cpu_ns() - begin) / (double)count);
}

static __attribute__((noinline)) void descend(long frames, long count)
{
	if (frames <= 1)
		allocate_and_free(count);
	else
		descend(frames - 1, count);
	/* prevents a tail call, which would not add a frame */
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 0;

	if (argc > 3 && strcmp(argv[1], "-r") == 0)
		return read_own(atoi(argv[2]), atoi(argv[3]));
	if (count <= 0)
		return 2;
	/* allocate_and_free(), main() and its three callers count as frames, too */
	descend(argc > 2 ? atol(argv[2]) - 5 : 1, count);
	return 0;
}
