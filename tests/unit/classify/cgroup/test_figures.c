/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/cgroup/figures.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "../../support/unit.h"

#define MIB (UINT64_C(1) << 20)

struct made {
	struct cgroup cgroup;
	struct snapshot processes;
	struct oom_figures figures;
};

static int set_up(void **state)
{
	struct made *m = calloc(1, sizeof(*m));

	cgroup_init(&m->cgroup);
	snapshot_init(&m->processes);
	*state = m;
	return 0;
}

static int tear_down(void **state)
{
	struct made *m = *state;

	cgroup_release(&m->cgroup);
	snapshot_release(&m->processes);
	free(m);
	return 0;
}

/*
 * Make a group of cgroup version 2 at its limit of 64 MiB, inside a group without a
 * limit. All amounts are unknown.
 */
static void make_group(struct made *m)
{
	struct cgroup *c = &m->cgroup;

	c->version = CGROUP_V2;
	c->level_count = 2;
	c->levels = malloc(2 * sizeof(*c->levels));
	memset(c->levels, 0xff, 2 * sizeof(*c->levels));
	c->levels[0].path = strdup("/a/b");
	c->levels[1].path = strdup("/a");
	c->levels[0].usage_bytes = c->levels[0].limit_bytes = 64 * MIB;
	c->levels[1].usage_bytes = 900 * MIB;
	c->levels[1].limit_bytes = CGROUP_NO_LIMIT;
	c->tightest = 0;
	c->slack_bytes = MIB;
}

/*
 * Add a process with Rss = Pss = bytes. `lazyfree` of that is LazyFree, and
 * `droppable` of LazyFree is not shared.
 */
static void add_process(struct made *m, uint64_t bytes, uint64_t lazyfree,
			uint64_t droppable)
{
	struct usage *u = snapshot_add(&m->processes);

	counters_set_zero(&u->total);
	u->source = SOURCE_SMAPS;
	u->total.bytes[SMAPS_RSS] = u->total.bytes[SMAPS_PSS] = bytes;
	u->total.bytes[SMAPS_LAZYFREE] = lazyfree;
	u->total.bytes[SMAPS_PRIVATE_CLEAN] = droppable;
	u->state_bytes[STATE_PRIVATE_CLEAN] = 0;
}

static const struct oom_figures *find(struct made *m)
{
	oom_figures_find(&m->cgroup, &m->processes, &m->figures);
	return &m->figures;
}

static void each_byte_is_counted_in_one_part(void **state)
{
	struct made *m = *state;
	struct cgroup_stat *s = &m->cgroup.limit_stat;
	const struct oom_figures *f;

	make_group(m);
	s->anon_bytes = 30 * MIB;
	s->file_bytes = 14 * MIB;
	s->shmem_bytes = 4 * MIB;
	s->kernel_bytes = 16 * MIB;
	s->slab_reclaimable_bytes = 3 * MIB;
	s->slab_unreclaimable_bytes = 5 * MIB;
	s->kernel_stack_bytes = 2 * MIB;
	s->pagetables_bytes = 1 * MIB;
	s->percpu_bytes = s->vmalloc_bytes = 0;
	s->sock_bytes = 2 * MIB;
	s->inactive_file_bytes = 15 * MIB;
	s->active_file_bytes = 5 * MIB;
	s->file_mapped_bytes = 1 * MIB;
	add_process(m, 20 * MIB, 10 * MIB, 10 * MIB);
	f = find(m);
	assert_int_equal(f->lazyfree_bytes, 10 * MIB);
	assert_int_equal(f->live_anon_bytes, 20 * MIB);
	assert_int_equal(f->file_bytes, 10 * MIB);
	assert_int_equal(f->kernel_bytes, 13 * MIB);
	assert_int_equal(f->other_kernel_bytes, 5 * MIB);
	assert_int_equal(f->need_bytes, (20 + 4 + 13 + 2) * MIB);
	assert_int_equal(f->headroom_bytes, (64 - 39) * MIB);
	assert_int_equal(f->unexplained_bytes, (64 - 39 - 10 - 10 - 3) * (int64_t)MIB);
	assert_int_equal(f->working_set_bytes, (64 - 15) * MIB);
	assert_int_equal(f->hidden_bytes, 0);
	/*
	 * unaccounted: usage without the processes' memory, kernel,
	 * sockets and unmapped files
	 */
	assert_int_equal(f->unaccounted_bytes, (64 - 20 - 16 - 2 - 9) * MIB);
	assert_true(f->is_lazyfree_exact);
}

static void memory_that_was_lazily_freed_and_rewritten_is_hidden(void **state)
{
	struct made *m = *state;
	struct cgroup_stat *s = &m->cgroup.limit_stat;

	make_group(m);
	s->anon_bytes = 60 * MIB;
	s->file_bytes = s->shmem_bytes = 0;
	s->inactive_file_bytes = 50 * MIB;
	s->active_file_bytes = 0;
	add_process(m, 60 * MIB, 0, 0);
	assert_int_equal(find(m)->hidden_bytes, 50 * MIB);
	assert_int_equal(m->figures.working_set_bytes, 14 * MIB);
	assert_int_equal(m->figures.need_bytes, 60 * MIB);
}

static void lazily_freed_and_file_memory_is_not_hidden(void **state)
{
	struct made *m = *state;
	struct cgroup_stat *s = &m->cgroup.limit_stat;

	make_group(m);
	s->anon_bytes = 40 * MIB;
	s->file_bytes = 20 * MIB;
	s->shmem_bytes = 0;
	s->inactive_file_bytes = 35 * MIB;
	s->active_file_bytes = 5 * MIB;
	add_process(m, 40 * MIB, 20 * MIB, 20 * MIB);
	assert_int_equal(find(m)->hidden_bytes, 0);
	s->inactive_file_bytes += MIB; /* within the error of the amounts */
	assert_int_equal(find(m)->hidden_bytes, 0);
	s->inactive_file_bytes += MIB;
	assert_int_equal(find(m)->hidden_bytes, 2 * MIB);
	m->cgroup.slack_bytes = BYTES_UNKNOWN;
	assert_int_equal(find(m)->hidden_bytes, 0);
}

static void lazyfree_shared_with_a_child_counts_as_needed(void **state)
{
	struct made *m = *state;

	make_group(m);
	m->cgroup.limit_stat.anon_bytes = 50 * MIB;
	add_process(m, 50 * MIB, 50 * MIB, 10 * MIB);
	assert_int_equal(find(m)->lazyfree_bytes, 10 * MIB);
	assert_int_equal(m->figures.live_anon_bytes, 40 * MIB);
}

static void figures_come_from_the_level_with_the_limit(void **state)
{
	struct made *m = *state;

	make_group(m);
	m->cgroup.levels[1].limit_bytes = 1000 * MIB;
	m->cgroup.levels[0].limit_bytes = CGROUP_NO_LIMIT;
	m->cgroup.tightest = 1;
	m->cgroup.stat.anon_bytes = MIB;
	m->cgroup.limit_stat.anon_bytes = 800 * MIB;
	assert_int_equal(find(m)->usage_bytes, 900 * MIB);
	assert_int_equal(m->figures.need_bytes, 800 * MIB);
	assert_int_equal(m->figures.headroom_bytes, 200 * MIB);
}

static void without_a_limit_there_is_no_headroom(void **state)
{
	struct made *m = *state;

	make_group(m);
	m->cgroup.levels[0].limit_bytes = CGROUP_NO_LIMIT;
	m->cgroup.tightest = SIZE_MAX;
	assert_true(find(m)->limit_bytes == CGROUP_NO_LIMIT);
	assert_true(m->figures.headroom_bytes == BYTES_UNKNOWN);
	assert_int_equal(m->figures.usage_bytes, 64 * MIB);
}

static void version_1_does_not_split_kernel_memory(void **state)
{
	struct made *m = *state;
	struct cgroup_stat *s = &m->cgroup.limit_stat;

	make_group(m);
	m->cgroup.version = CGROUP_V1;
	s->anon_bytes = 10 * MIB;
	s->kernel_bytes = 7 * MIB;
	s->sock_bytes = 5 * MIB; /* has a separate limit in version 1 */
	assert_int_equal(find(m)->kernel_bytes, 7 * MIB);
	assert_true(m->figures.other_kernel_bytes == BYTES_UNKNOWN);
	assert_int_equal(m->figures.need_bytes, 17 * MIB);
}

static void version_1_parts_never_exceed_kernel_memory(void **state)
{
	struct made *m = *state;
	struct cgroup_kernel *k = &m->cgroup.kernel;

	make_group(m);
	m->cgroup.version = CGROUP_V1;
	m->cgroup.limit_stat.kernel_bytes = 7 * MIB;
	assert_true(find(m)->pipe_limit_bytes == BYTES_UNKNOWN);
	assert_true(m->figures.pipe_count == COUNT_UNKNOWN);
	k->pipe_limit_bytes = 4 * MIB;
	k->pipe_count = 60;
	k->tcp_bytes = 20 * MIB;
	assert_int_equal(find(m)->pipe_limit_bytes, 4 * MIB);
	assert_int_equal(m->figures.pipe_count, 60);
	assert_int_equal(m->figures.tcp_bytes, 20 * MIB);
	assert_int_equal(m->figures.need_bytes, 7 * MIB);
	/* Exact amounts come first; an amount that is only a bound gets the remainder. */
	k->inode_slab_bytes = 5 * MIB;
	k->socket_slab_bytes = 1 * MIB;
	assert_int_equal(find(m)->inode_slab_bytes, 5 * MIB);
	assert_int_equal(m->figures.socket_slab_bytes, 1 * MIB);
	assert_int_equal(m->figures.pipe_limit_bytes, 1 * MIB);
	k->inode_slab_bytes = 8 * MIB;
	assert_int_equal(find(m)->inode_slab_bytes, 7 * MIB);
	assert_int_equal(m->figures.pipe_limit_bytes, 0);
}

static void unreadable_processes_are_counted_separately(void **state)
{
	struct made *m = *state;
	struct usage *u;

	make_group(m);
	add_process(m, 10 * MIB, 0, 0);
	add_process(m, 10 * MIB, 4 * MIB, 4 * MIB);
	u = &m->processes.usages[1];
	u->error = -13;
	assert_int_equal(find(m)->process_count, 1);
	assert_int_equal(m->figures.unreadable_count, 1);
	/* neither its memory nor its LazyFree is known */
	assert_true(m->figures.process_bytes == BYTES_UNKNOWN);
	assert_true(m->figures.hidden_bytes == BYTES_UNKNOWN);
	assert_true(m->figures.unaccounted_bytes == BYTES_UNKNOWN);
	u->error = 0;
	u->source = SOURCE_ROLLUP; /* only sums: some of its LazyFree may be shared */
	assert_false(find(m)->is_lazyfree_exact);
	u->recorded_droppable_bytes = 4 * MIB;
	assert_true(find(m)->is_lazyfree_exact);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(each_byte_is_counted_in_one_part),
		TEST(memory_that_was_lazily_freed_and_rewritten_is_hidden),
		TEST(lazily_freed_and_file_memory_is_not_hidden),
		TEST(lazyfree_shared_with_a_child_counts_as_needed),
		TEST(figures_come_from_the_level_with_the_limit),
		TEST(without_a_limit_there_is_no_headroom),
		TEST(version_1_does_not_split_kernel_memory),
		TEST(version_1_parts_never_exceed_kernel_memory),
		TEST(unreadable_processes_are_counted_separately),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
