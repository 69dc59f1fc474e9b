/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Test which files the sampler reads of a process, and which sinks get their contents. */
#include "config.h"

#include "sample/process/sampler.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "proc/smaps/smaps.h"
#include "../../support/made_proc.h"
#include "../../support/smaps_texts.h"
#include "../../support/unit.h"

static struct sampler *sampler;
static struct snapshot snapshot;
static struct target_pid pids[3];

static uint64_t rollup_ns; /* times the pid: how long a read of smaps_rollup took */
static int stale_count;	   /* how many more reads of smaps find another program */
static int smaps_pid;	   /* of the last read of smaps */

int __real_proc_smaps_read(struct smaps_reader *reader, const struct procfs *from,
			   int pid, mapping_fn fn, void *context, uint64_t *ret_read_ns);
int __wrap_proc_smaps_read(struct smaps_reader *reader, const struct procfs *from,
			   int pid, mapping_fn fn, void *context, uint64_t *ret_read_ns);
int __real_proc_rollup_read(struct smaps_reader *reader, const struct procfs *from,
			    int pid, struct counters *ret, uint64_t *ret_read_ns);
int __wrap_proc_rollup_read(struct smaps_reader *reader, const struct procfs *from,
			    int pid, struct counters *ret, uint64_t *ret_read_ns);

int __wrap_proc_smaps_read(struct smaps_reader *reader, const struct procfs *from,
			   int pid, mapping_fn fn, void *context, uint64_t *ret_read_ns)
{
	int r = __real_proc_smaps_read(reader, from, pid, fn, context, ret_read_ns);

	smaps_pid = pid;
	return stale_count > 0 && stale_count-- ? -ESTALE : r;
}

int __wrap_proc_rollup_read(struct smaps_reader *reader, const struct procfs *from,
			    int pid, struct counters *ret, uint64_t *ret_read_ns)
{
	int r = __real_proc_rollup_read(reader, from, pid, ret, ret_read_ns);

	if (rollup_ns)
		*ret_read_ns = rollup_ns * (uint64_t)pid;
	return r;
}

static int begin(void **state)
{
	if (made_proc_set_up(state) < 0)
		return -1;
	snapshot_init(&snapshot);
	memset(pids, 0, sizeof(pids));
	rollup_ns = 0;
	stale_count = 0;
	sampler = sampler_new(&made_fs, false);
	return 0;
}

static int end(void **state)
{
	sampler_free(sampler);
	snapshot_release(&snapshot);
	return made_proc_tear_down(state);
}

static struct targets targets_of(int a, int b)
{
	pids[0].pid = a;
	pids[1].pid = b;
	return (struct targets){ .pids = pids, .pid_count = b ? 2 : 1 };
}

static void take(struct targets *targets, unsigned int needs)
{
	assert_int_equal(sampler_take(sampler, targets, needs, &snapshot), 0);
}

/* The command may exec while its mappings are read. */
static void a_read_is_repeated_when_the_program_changed_meanwhile(void **state)
{
	struct targets targets = targets_of(7, 0);

	(void)state;
	made_proc_write_process(7, "seven", 1);
	stale_count = 2;
	take(&targets, NEED_STAT | NEED_SMAPS);
	assert_int_equal(snapshot.usages[0].error, 0);
	assert_int_equal(snapshot.usages[0].mapping_count, 2);
	assert_true(snapshot.usages[0].total.bytes[SMAPS_RSS] == KIB(200));
	stale_count = 3;
	take(&targets, NEED_STAT | NEED_SMAPS);
	assert_int_equal(snapshot.usages[0].error, -ESTALE);
	assert_true(snapshot.usages[0].total.bytes[SMAPS_RSS] == BYTES_UNKNOWN);
}

static void a_process_without_its_main_thread_is_read_by_another_one(void **state)
{
	struct targets targets = targets_of(7, 0);

	(void)state;
	made_proc_write_process(7, "seven", 1);
	made_proc_write(
		7, "stat",
		"7 (seven) Z 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 107 1048576 16 0\n");
	made_proc_write(7, "smaps", "");
	made_proc_write(7, "task/7/stat",
			"7 (seven) Z 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 107\n");
	made_proc_write(7, "task/8/stat",
			"8 (seven) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 108\n");
	made_proc_write(8, "smaps", SMAPS_RECORD_6_18(SMAPS_STACK_HEADER));
	take(&targets, NEED_STAT | NEED_SMAPS);
	assert_int_equal(snapshot.count, 1);
	assert_int_equal(snapshot.usages[0].process.pid, 7);
	assert_int_equal(smaps_pid, 8);
	assert_true(snapshot.usages[0].total.bytes[SMAPS_RSS] == KIB(100));
}

static void a_process_without_mappings_has_ended(void **state)
{
	struct targets targets = targets_of(7, 0);

	(void)state;
	made_proc_write_process(7, "seven", 1);
	made_proc_write(7, "smaps", "");
	take(&targets, NEED_STAT | NEED_SMAPS);
	assert_int_equal(snapshot.count, 0);
	assert_int_equal(snapshot.gone_count, 1);
}

static void the_interval_follows_the_most_expensive_process(void **state)
{
	struct targets targets = targets_of(8, 7);
	int pid = 0;

	(void)state;
	made_proc_write_process(7, "seven", 1);
	made_proc_write_process(8, "eight", 1);
	rollup_ns = NS_PER_MS;
	take(&targets, NEED_STAT | NEED_ROLLUP);
	assert_true(sampler_min_interval_ns(sampler, 10, &pid) == 800 * NS_PER_MS);
	assert_int_equal(pid, 8);
	assert_true(sampler_min_interval_ns(sampler, 0, &pid) == 0);
	/* only the last sample counts */
	tree_delete(&made_tree, "8");
	take(&targets, NEED_STAT | NEED_ROLLUP);
	assert_true(sampler_min_interval_ns(sampler, 10, &pid) == 700 * NS_PER_MS);
	assert_int_equal(pid, 7);
}

/* The contents that a sink or a source of heaps got */
struct got {
	int wanted_pid, wants_count, take_count, heap_count;
	size_t mapping_count;
	enum owner last_owner;
};

static bool wants_pid(void *context, const struct process *process)
{
	struct got *got = context;

	got->wants_count++;
	return process->pid == got->wanted_pid;
}

static void take_mappings(void *context, const struct usage *u,
			  const struct mapping_list *list)
{
	struct got *got = context;

	assert_int_equal(u->source, SOURCE_SMAPS);
	got->take_count++;
	got->mapping_count += list->count;
	got->last_owner = list->items[list->count - 1].owner;
}

static void a_sink_gets_the_mappings_that_it_wants(void **state)
{
	struct targets targets = targets_of(7, 8);
	struct got got = { .wanted_pid = 8 };
	const struct mapping_sink sink = { wants_pid, take_mappings, &got };

	(void)state;
	made_proc_write_process(7, "seven", 1);
	made_proc_write_process(8, "eight", 1);
	sampler_set_mapping_sink(sampler, &sink);
	take(&targets, NEED_STAT | NEED_ROLLUP);
	assert_int_equal(got.wants_count, 2);
	assert_int_equal(got.take_count, 1);
	assert_int_equal(got.mapping_count, 2);
	assert_int_equal(got.last_owner, OWNER_STACK);
	assert_int_equal(snapshot_find(&snapshot, 7)->source, SOURCE_ROLLUP);
	assert_int_equal(snapshot_find(&snapshot, 8)->source, SOURCE_SMAPS);
	/* mappings that are read anyway are passed on unasked */
	take(&targets, NEED_STAT | NEED_SMAPS);
	assert_int_equal(got.wants_count, 2);
	assert_int_equal(got.take_count, 3);
	sampler_set_mapping_sink(sampler, NULL);
	take(&targets, NEED_STAT | NEED_SMAPS);
	assert_int_equal(got.take_count, 3);
}

static int read_heap(void *context, struct usage *u, struct mapping_list *list)
{
	struct got *got = context;
	int r = sampler_read_mappings(sampler, u, list);

	got->heap_count++;
	u->heap_quality = QUALITY_EXACT;
	return r;
}

static void heaps_are_read_by_their_source_only_if_needed(void **state)
{
	struct targets targets = targets_of(7, 0);
	struct got got = { .wanted_pid = 7 };
	const struct mapping_sink sink = { wants_pid, take_mappings, &got };

	(void)state;
	made_proc_write_process(7, "seven", 1);
	take(&targets, NEED_STAT | NEED_HEAP);
	assert_int_equal(snapshot.usages[0].heap_quality, QUALITY_UNKNOWN);
	sampler_set_heap_source(sampler, read_heap, &got);
	sampler_set_mapping_sink(sampler, &sink);
	take(&targets, NEED_STAT | NEED_HEAP);
	assert_int_equal(got.heap_count, 1);
	assert_int_equal(got.mapping_count, 2);
	assert_int_equal(snapshot.usages[0].heap_quality, QUALITY_EXACT);
	take(&targets, NEED_STAT | NEED_SMAPS);
	assert_int_equal(got.heap_count, 1);
	assert_int_equal(snapshot.usages[0].heap_quality, QUALITY_UNKNOWN);
}

static void the_command_is_read_if_needed(void **state)
{
	struct targets targets = targets_of(7, 0);

	(void)state;
	made_proc_write_process(7, "seven", 1);
	tree_write_bytes(&made_tree, "7/cmdline", "seven\0of\0nine", 14);
	take(&targets, NEED_STAT | NEED_ROLLUP);
	assert_null(snapshot.usages[0].command);
	take(&targets, NEED_STAT | NEED_ROLLUP | NEED_COMMAND);
	assert_string_equal(snapshot.usages[0].command, "seven of nine");
}

#define test(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(a_read_is_repeated_when_the_program_changed_meanwhile),
		test(a_process_without_its_main_thread_is_read_by_another_one),
		test(a_process_without_mappings_has_ended),
		test(the_interval_follows_the_most_expensive_process),
		test(a_sink_gets_the_mappings_that_it_wants),
		test(heaps_are_read_by_their_source_only_if_needed),
		test(the_command_is_read_if_needed),
	};

	return cmocka_run_group_tests_name("sampler_reads", tests, NULL, NULL);
}
