/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/process/group_turns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"

/*
 * Maximum number of new processes read per sample. Later samples read the remaining ones.
 */
#define NEW_MAX 64
/* Maximum amount of unused CPU time that is saved for later samples. */
#define CREDIT_MAX_NS (20 * NS_PER_MS)

void group_turns_init(struct group_turns *g, struct sampler *sampler, unsigned int needs)
{
	*g = (struct group_turns){ .sampler = sampler, .needs = needs };
	snapshot_init(&g->known);
	snapshot_init(&g->scratch);
}

void group_turns_release(struct group_turns *g)
{
	snapshot_release(&g->known);
	snapshot_release(&g->scratch);
}

static int compare_pids(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static int compare_usages(const void *a, const void *b)
{
	const struct usage *x = a, *y = b;

	return (x->process.pid > y->process.pid) - (x->process.pid < y->process.pid);
}

static struct usage *find(struct group_turns *g, int pid)
{
	struct usage key = { .process.pid = pid };

	if (g->known.count == 0)
		return NULL;
	return bsearch(&key, g->known.usages, g->known.count, sizeof(key),
		       compare_usages);
}

static bool is_listed(const struct cgroup *cgroup, int pid)
{
	return cgroup->pid_count > 0 && bsearch(&pid, cgroup->pids, cgroup->pid_count,
						sizeof(*cgroup->pids), compare_pids);
}

static void forget_ended(struct group_turns *g, const struct cgroup *cgroup)
{
	struct snapshot *known = &g->known;
	size_t kept = 0;

	for (size_t i = 0; i < known->count; i++) {
		if (!is_listed(cgroup, known->usages[i].process.pid)) {
			usage_release(&known->usages[i]);
			continue;
		}
		if (kept != i)
			known->usages[kept] = known->usages[i];
		kept++;
	}
	known->count = kept;
}

/*
 * Read one process into the scratch snapshot. sampler_take() reads its stat file first,
 * because another process may have reused the pid.
 */
static struct usage *read_one(struct group_turns *g, int pid, unsigned int needs)
{
	struct target_pid target = { .pid = pid };
	struct targets targets = { .pids = &target, .pid_count = 1 };
	uint64_t before_ns = clock_thread_cpu_ns();
	int r = sampler_take(g->sampler, &targets, needs, &g->scratch);

	g->credit_ns -= (int64_t)(clock_thread_cpu_ns() - before_ns);
	return r == 0 && g->scratch.count == 1 ? &g->scratch.usages[0] : NULL;
}

/* Move the usage from the scratch snapshot to *known. */
static void move_scratch(struct group_turns *g, struct usage *known)
{
	usage_release(known);
	*known = g->scratch.usages[0];
	usage_init(&g->scratch.usages[0]);
}

static void add_new(struct group_turns *g, const struct cgroup *cgroup, size_t max)
{
	size_t count_before = g->known.count, read_count = 0;

	for (size_t i = 0; i < cgroup->pid_count && read_count < max; i++) {
		struct usage key = { .process.pid = cgroup->pids[i] };

		if (count_before > 0 && bsearch(&key, g->known.usages, count_before,
						sizeof(key), compare_usages))
			continue;
		read_count++;
		if (read_one(g, cgroup->pids[i], g->needs))
			move_scratch(g, snapshot_add(&g->known));
	}
	if (g->known.count > count_before)
		qsort(g->known.usages, g->known.count, sizeof(*g->known.usages),
		      compare_usages);
}

/*
 * Return the index of the process to read next: the first whose pid is above that of the
 * last process read, or 0 after the highest pid.
 */
static size_t find_turn(const struct group_turns *g)
{
	for (size_t i = 0; i < g->known.count; i++)
		if (g->known.usages[i].process.pid > g->last_pid)
			return i;
	return 0;
}

static void read_in_turn(struct group_turns *g, enum turns turns)
{
	unsigned int needs = g->needs | (turns == TURNS_MAPPINGS ? NEED_SMAPS : 0);
	size_t at = find_turn(g);

	for (size_t n = 0;
	     n < g->known.count && (turns != TURNS_IN_TURN || g->credit_ns > 0); n++) {
		struct usage *known = &g->known.usages[at];

		g->last_pid = known->process.pid;
		/*
		 * keep the figures of an ended process until the cgroup no longer lists
		 * its pid
		 */
		if (read_one(g, known->process.pid, needs))
			move_scratch(g, known);
		at = at + 1 < g->known.count ? at + 1 : 0;
	}
}

static void give_credit(struct group_turns *g, unsigned int share_per_million,
			uint64_t now_ns)
{
	uint64_t passed_us = (now_ns - g->credited_ns) / NS_PER_US;

	if (g->credited_ns > 0)
		g->credit_ns += (int64_t)(passed_us * share_per_million / 1000);
	if (g->credit_ns > (int64_t)CREDIT_MAX_NS)
		g->credit_ns = (int64_t)CREDIT_MAX_NS;
	g->credited_ns = now_ns;
}

void group_turns_update(struct group_turns *g, const struct cgroup *cgroup,
			unsigned int share_per_million, enum turns turns)
{
	give_credit(g, share_per_million, cgroup->taken_ns);
	forget_ended(g, cgroup);
	read_in_turn(g, turns);
	add_new(g, cgroup, turns == TURNS_IN_TURN ? NEW_MAX : SIZE_MAX);
}

int group_turns_read(struct group_turns *g, int pid)
{
	struct usage *known = find(g, pid),
		     *fresh = read_one(g, pid, g->needs | NEED_SMAPS);

	if (!fresh)
		return -ESRCH;
	if (fresh->error)
		return fresh->error;
	if (!known) {
		move_scratch(g, snapshot_add(&g->known));
		qsort(g->known.usages, g->known.count, sizeof(*g->known.usages),
		      compare_usages);
	} else {
		move_scratch(g, known);
	}
	return 0;
}
