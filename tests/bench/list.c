/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list ROUNDS [VISIBLE] - measure the cost of listing all processes once. All methods run
 * in turn, ROUNDS times. VISIBLE processes count as visible. Prints the median CPU time
 * per process of each method, and the median over the rounds of its ratio to the first
 * method.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "bench.h"
#include "proc/process/lister.h"
#include "proc/process/stat.h"
#include "proc/process/statm.h"

struct list {
	struct procfs fs;
	struct lister *lister;
	int *pids;
	size_t count, capacity;
	size_t visible_count;
};

static int add_pid(void *context, const struct process *p)
{
	struct list *l = context;

	l->pids = xgrow(l->pids, &l->capacity, l->count + 1, sizeof(*l->pids));
	l->pids[l->count++] = p->pid;
	return 0;
}

static void list_pids(struct list *l)
{
	l->count = 0;
	if (proc_list_read(&l->fs, 0, add_pid, l) < 0)
		bench_die("/proc");
}

static void list_once(struct list *l)
{
	l->count = 0;
	if (proc_list_read(&l->fs, LIST_STAT, add_pid, l) < 0)
		bench_die("the list");
}

static void list_and_read_stat(struct list *l)
{
	struct process p;

	list_pids(l);
	for (size_t i = 0; i < l->count; i++)
		(void)proc_stat_read(&l->fs, l->pids[i], &p);
}

static void list_again(struct list *l)
{
	/* the pids of the previous method */
	size_t count = l->count < l->visible_count ? l->count : l->visible_count;
	int *visible = xcalloc(count + 1, sizeof(*visible));

	if (count > 0)
		memcpy(visible, l->pids + l->count - count, count * sizeof(*visible));
	l->count = 0;
	if (lister_read(l->lister, visible, count, add_pid, l) < 0)
		bench_die("the lister");
	free(visible);
}

static const struct method {
	const char *name;
	void (*run)(struct list *l);
} methods[] = {
	{ "proc_list_read()", list_once },
	{ "pids only", list_pids },
	{ "pids and stat", list_and_read_stat },
	{ "lister", list_again },
};
#define METHOD_COUNT (sizeof(methods) / sizeof(methods[0]))

int main(int argc, char **argv)
{
	struct list l = { .fs = PROCFS_INIT };
	double *ns[METHOD_COUNT], *ratio[METHOD_COUNT];
	size_t rounds;

	if (argc != 2 && argc != 3) {
		fputs("usage: list ROUNDS [VISIBLE]\n", stderr);
		return 2;
	}
	rounds = bench_number(argv[1]);
	l.visible_count = argc == 3 ? bench_number(argv[2]) : 0;
	if (!proc_statm_is_exact())
		puts("statm is not exact: memstate does not use a lister here");
	if (procfs_open(&l.fs, "/proc") < 0)
		bench_die("/proc");
	l.lister = lister_new(&l.fs);
	for (size_t m = 0; m < METHOD_COUNT; m++) {
		ns[m] = xcalloc(rounds, sizeof(double));
		ratio[m] = xcalloc(rounds, sizeof(double));
		methods[m].run(&l); /* warm up */
	}
	for (size_t round = 0; round < rounds; round++)
		for (size_t m = 0; m < METHOD_COUNT; m++) {
			uint64_t before_ns = bench_cpu_ns();

			methods[m].run(&l);
			ns[m][round] = (double)(bench_cpu_ns() - before_ns) /
				       (double)(l.count + (l.count == 0));
			ratio[m][round] = ns[m][round] / ns[0][round];
		}
	printf("%zu processes\n", l.count);
	for (size_t m = 0; m < METHOD_COUNT; m++) {
		printf("%9.2f us CPU %8.3f x  %s\n", bench_median(ns[m], rounds) / 1000,
		       bench_median(ratio[m], rounds), methods[m].name);
		free(ns[m]);
		free(ratio[m]);
	}
	lister_free(l.lister);
	procfs_release(&l.fs);
	free(l.pids);
	return 0;
}
