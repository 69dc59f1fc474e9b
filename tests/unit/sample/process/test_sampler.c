/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/process/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "../../support/made_proc.h"
#include "../../support/smaps_texts.h"
#include "../../support/unit.h"

static struct sampler *sampler;
static struct snapshot snapshot;
static struct target_pid pids[3];

static int begin(void **state)
{
	if (made_proc_set_up(state) < 0)
		return -1;
	snapshot_init(&snapshot);
	memset(pids, 0, sizeof(pids));
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

/*
 * memstate reads the cheapest file that has the answer. The rollup lacks it
 * if there are LazyFree pages.
 */
static void the_cheapest_sufficient_file_is_read(void **state)
{
	static const struct {
		const char *lazyfree; /* NULL: there is no rollup file */
		unsigned int needs;
		enum source source;
		uint64_t rss_kib;
	} rows[] = {
		{ "       0", NEED_STAT, SOURCE_STAT, 0 },
		{ "       0", NEED_ROLLUP, SOURCE_ROLLUP, 64 },
		{ "       8", NEED_ROLLUP, SOURCE_ROLLUP, 64 },
		{ "       0", NEED_ROLLUP | NEED_STATES, SOURCE_ROLLUP, 64 },
		{ "       8", NEED_ROLLUP | NEED_STATES, SOURCE_SMAPS, 200 },
		{ "       0", NEED_SMAPS, SOURCE_SMAPS, 200 },
		{ NULL, NEED_ROLLUP, SOURCE_SMAPS, 200 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct targets targets = targets_of(7, 0);
		const struct usage *u = NULL;

		made_proc_write_process(7, "seven", 1);
		if (rows[i].lazyfree) {
			struct strbuf text = STRBUF_INIT;

			strbuf_addf(&text, "%s", MADE_ROLLUP);
			memcpy(strstr(text.text, "LazyFree:") + 15, rows[i].lazyfree, 8);
			made_proc_write(7, "smaps_rollup", text.text);
			strbuf_release(&text);
		} else {
			tree_delete(&made_tree, "7/smaps_rollup");
		}
		take(&targets, NEED_STAT | rows[i].needs);
		assert_int_equal(snapshot.count, 1);
		u = &snapshot.usages[0];
		assert_int_equal(u->source, rows[i].source);
		assert_true(u->total.bytes[SMAPS_RSS] ==
			    (rows[i].rss_kib ? KIB(rows[i].rss_kib) : BYTES_UNKNOWN));
		assert_true((u->mapping_count == 2) == (u->source == SOURCE_SMAPS));
	}
}

static void the_mappings_add_up_to_the_process(void **state)
{
	struct targets targets = targets_of(7, 0);
	const struct usage *u;

	(void)state;
	made_proc_write_process(7, "seven", 1);
	take(&targets, NEED_STAT | NEED_SMAPS);
	u = &snapshot.usages[0];
	assert_true(u->total.bytes[SMAPS_PRIVATE_DIRTY] == KIB(56));
	assert_true(u->state_bytes[STATE_LAZYFREE] == KIB(16));
	assert_true(u->state_bytes[STATE_PRIVATE_CLEAN] == KIB(8));
	assert_true(matrix_owner_bytes(&u->matrix, OWNER_STACK) == KIB(100));
	assert_true(matrix_owner_bytes(&u->matrix, OWNER_ANON) == KIB(100));
	assert_true(usage_unexplained_bytes(u) == 0);
}

static void a_target_with_a_reused_pid_is_gone(void **state)
{
	struct targets targets = targets_of(7, 0);

	(void)state;
	made_proc_write_process(7, "seven", 1);
	take(&targets, NEED_STAT | NEED_ROLLUP);
	assert_int_equal(snapshot.count, 1);
	made_proc_write_stat(7, "seven", 'S', 1, 99999);
	take(&targets, NEED_STAT | NEED_ROLLUP);
	assert_int_equal(snapshot.count, 0);
	assert_int_equal(snapshot.gone_count, 1);
	assert_true(targets.pids[0].is_gone);
	/* the process is gone for good, and counts once */
	made_proc_write_stat(7, "seven", 'S', 1, 107);
	take(&targets, NEED_STAT | NEED_ROLLUP);
	assert_int_equal(snapshot.count + snapshot.gone_count, 0);
}

static void exec_keeps_the_target_and_changes_its_name(void **state)
{
	struct targets targets = targets_of(7, 0);

	(void)state;
	made_proc_write_process(7, "before", 1);
	take(&targets, NEED_STAT | NEED_ROLLUP);
	made_proc_write_process(7, "after", 1);
	take(&targets, NEED_STAT | NEED_ROLLUP);
	assert_int_equal(snapshot.count, 1);
	assert_string_equal(snapshot.usages[0].process.comm, "after");
}

static void a_target_that_becomes_a_zombie_has_ended(void **state)
{
	struct targets targets = targets_of(7, 0);

	(void)state;
	made_proc_write_process(7, "seven", 1);
	take(&targets, NEED_STAT | NEED_ROLLUP);
	made_proc_write_stat(7, "seven", 'Z', 1, 107);
	take(&targets, NEED_STAT | NEED_ROLLUP);
	assert_int_equal(snapshot.count, 0);
	assert_true(targets.pids[0].is_gone);
}

static void a_zombie_target_has_no_memory_and_no_error(void **state)
{
	struct targets targets = targets_of(7, 0);
	const struct usage *u;

	(void)state;
	made_proc_write_stat(7, "seven", 'Z', 1, 107);
	take(&targets, NEED_STAT | NEED_SMAPS);
	u = &snapshot.usages[0];
	assert_int_equal(snapshot.count, 1);
	assert_int_equal(u->error, 0);
	assert_true(u->total.bytes[SMAPS_RSS] == 0 && u->mapping_count == 0);
	assert_true(matrix_owner_bytes(&u->matrix, OWNER_LIVE) == BYTES_UNKNOWN);
}

static void a_zombie_is_not_found_by_its_name(void **state)
{
	const char *names[] = { "seven" };
	struct targets targets = { .names = names, .name_count = 1 };

	(void)state;
	made_proc_write_stat(7, "seven", 'Z', 1, 107);
	take(&targets, NEED_STAT | NEED_SMAPS);
	assert_int_equal(snapshot.count, 0);
	free(targets.names_found);
	name_cache_free(targets.name_cache);
}

static void a_zombie_has_no_mappings_and_no_error(void **state)
{
	struct targets targets = targets_of(7, 0);
	struct mapping_list list = MAPPING_LIST_INIT;

	(void)state;
	made_proc_write_stat(7, "seven", 'Z', 1, 107);
	assert_int_equal(sampler_list(sampler, &targets, NEED_STAT, &snapshot), 0);
	assert_int_equal(sampler_read_mappings(sampler, &snapshot.usages[0], &list), 0);
	assert_int_equal(list.count, 0);
	mapping_list_release(&list);
}

static void gone_targets_are_omitted_and_the_others_are_read(void **state)
{
	struct targets targets = targets_of(8, 7);

	(void)state;
	made_proc_write_process(7, "seven", 1);
	take(&targets, NEED_STAT | NEED_ROLLUP);
	assert_int_equal(snapshot.count, 1);
	assert_int_equal(snapshot.usages[0].process.pid, 7);
	assert_int_equal(snapshot.gone_count, 1);
	assert_true(targets.pids[0].is_gone && !targets.pids[1].is_gone);
}

static void all_means_all_processes_with_memory(void **state)
{
	struct targets all = { .pid_count = 0 };

	(void)state;
	made_proc_write_process(7, "seven", 1);
	made_proc_write_process(8, "eight", 7);
	made_proc_write_stat(9, "dead", 'Z', 7, 1);
	tree_write(
		&made_tree, "2/stat",
		"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0\n");
	for (unsigned int needs = 0; needs <= NEED_STAT; needs += NEED_STAT) {
		take(&all, needs | NEED_ROLLUP);
		assert_int_equal(snapshot.count, 2);
		assert_int_equal(snapshot.unreadable_count, 0);
		assert_int_equal(snapshot.usages[0].process.pid, 7);
	}
}

static void children_of_named_targets_are_found(void **state)
{
	const char *names[] = { "seven" };
	struct targets targets = { .names = names, .name_count = 1 };

	(void)state;
	made_proc_write_process(7, "seven", 1);
	made_proc_write_process(30, "child", 7);
	made_proc_write_process(20, "grandchild", 30); /* listed before its parent */
	made_proc_write_process(40, "seventh", 1);
	take(&targets, NEED_STAT | NEED_ROLLUP);
	assert_int_equal(snapshot.count, 1);
	targets.with_children = true;
	take(&targets, NEED_STAT | NEED_ROLLUP);
	assert_int_equal(snapshot.count, 3);
	assert_non_null(snapshot_find(&snapshot, 20));
	assert_null(snapshot_find(&snapshot, 40));
	free(targets.names_found);
	name_cache_free(targets.name_cache);
}

static void a_target_given_twice_is_sampled_once(void **state)
{
	struct targets targets = targets_of(7, 7);

	(void)state;
	made_proc_write_process(7, "seven", 1);
	take(&targets, NEED_STAT | NEED_ROLLUP);
	assert_int_equal(snapshot.count, 1);
}

static void an_unreadable_process_has_an_error_and_no_figures(void **state)
{
	static const struct {
		const char *smaps; /* NULL: there is no smaps file */
		int error;
	} rows[] = {
		{ NULL, -EOPNOTSUPP },
		{ "junk\n", -EBADMSG },
		{ SMAPS_RECORD_6_18(SMAPS_ANON_HEADER) "7ffc", -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct targets targets = targets_of(7, 0);
		const struct usage *u;

		made_proc_write_process(7, "seven", 1);
		if (rows[i].smaps)
			made_proc_write(7, "smaps", rows[i].smaps);
		else
			tree_delete(&made_tree, "7/smaps");
		take(&targets, NEED_STAT | NEED_SMAPS);
		u = &snapshot.usages[0];
		assert_int_equal(snapshot.unreadable_count, 1);
		assert_int_equal(u->error, rows[i].error);
		assert_int_equal(u->source, SOURCE_NONE);
		assert_true(u->total.bytes[SMAPS_RSS] == BYTES_UNKNOWN);
		assert_true(u->state_bytes[STATE_PRIVATE_DIRTY] == BYTES_UNKNOWN);
		assert_true(matrix_total_bytes(&u->matrix) == BYTES_UNKNOWN);
		assert_string_equal(u->process.comm, "seven");
	}
}

static void a_malformed_stat_affects_only_its_own_process(void **state)
{
	struct targets all = { .pid_count = 0 }, one = targets_of(7, 0);

	(void)state;
	made_proc_write_process(7, "seven", 1);
	made_proc_write_process(8, "eight", 1);
	made_proc_write(7, "stat", "7 (seven) S junk\n");
	take(&all, NEED_STAT | NEED_ROLLUP);
	assert_int_equal(snapshot.count, 2);
	assert_int_equal(snapshot.unreadable_count, 1);
	assert_int_equal(snapshot_find(&snapshot, 7)->error, -EBADMSG);
	assert_int_equal(snapshot_find(&snapshot, 8)->error, 0);
	take(&one, NEED_STAT | NEED_ROLLUP);
	assert_int_equal(snapshot.usages[0].error, -EBADMSG);
	assert_false(one.pids[0].is_gone);
}

static void processes_without_permission_are_counted(void **state)
{
	struct targets all = { .pid_count = 0 };

	(void)state;
	if (geteuid() == 0)
		skip();
	made_proc_write_process(7, "seven", 1);
	made_proc_write_process(8, "eight", 1);
	tree_chmod(&made_tree, "7/smaps_rollup", 0);
	take(&all, NEED_STAT | NEED_ROLLUP);
	assert_int_equal(snapshot.count, 2);
	assert_int_equal(snapshot.unreadable_count, 1);
	assert_int_equal(snapshot_find(&snapshot, 7)->error, -EACCES);
}

static void mappings_have_owners(void **state)
{
	struct targets targets = targets_of(7, 0);
	struct mapping_list list = MAPPING_LIST_INIT;

	(void)state;
	made_proc_write_process(7, "seven", 1);
	made_proc_write(7, "mountinfo", "29 23 0:25 / /run rw - tmpfs tmpfs rw\n");
	made_proc_write(
		7, "smaps",
		SMAPS_RECORD_6_18("1000-2000 r--s 00000000 00:19 7 /run/file")
			SMAPS_RECORD_6_18("2000-3000 r--s 00000000 00:1a 7 /other/file")
				SMAPS_RECORD_6_18(SMAPS_STACK_HEADER));
	for (int round = 0; round < 2; round++) {
		assert_int_equal(sampler_list(sampler, &targets, NEED_STAT, &snapshot),
				 0);
		assert_int_equal(
			sampler_read_mappings(sampler, &snapshot.usages[0], &list), 0);
		assert_int_equal(list.count, 3);
		assert_int_equal(list.items[0].owner, OWNER_SHMEM);
		assert_int_equal(list.items[1].owner, OWNER_FILE);
		assert_int_equal(list.items[2].owner, OWNER_STACK);
	}
	tree_delete(&made_tree, "7/smaps");
	assert_int_equal(sampler_read_mappings(sampler, &snapshot.usages[0], &list),
			 -EOPNOTSUPP);
	assert_int_equal(list.count, 0);
	mapping_list_release(&list);
}

struct given {
	struct usage usages[4];
	size_t count, limit;
};

static int give(void *context, const struct usage *u)
{
	struct given *given = context;

	if (given->count == given->limit)
		return -ENOSPC;
	given->usages[given->count++] = *u;
	return 0;
}

static void sampling_one_by_one_gives_the_same_as_sampling_all(void **state)
{
	struct given given = { .limit = 4 };
	struct targets targets = { .pid_count = 0 };
	struct snapshot counts;

	(void)state;
	snapshot_init(&counts);
	made_proc_write_process(7, "seven", 1);
	made_proc_write_stat(8, "zombie", 'Z', 1, 108);
	made_proc_write_process(9, "nine", 1);
	tree_delete(&made_tree, "9/smaps");
	made_proc_write_process(10, "ten", 7);
	take(&targets, NEED_STAT | NEED_SMAPS);
	assert_int_equal(
		sampler_take_each(sampler, NEED_STAT | NEED_SMAPS, give, &given, &counts),
		0);
	assert_int_equal(snapshot.count, 3);
	assert_int_equal(given.count, 3);
	for (size_t i = 0; i < given.count; i++) {
		const struct usage *u = &given.usages[i], *other = &snapshot.usages[i];

		assert_int_equal(u->process.pid, other->process.pid);
		assert_int_equal(u->error, other->error);
		assert_memory_equal(&u->matrix, &other->matrix, sizeof(u->matrix));
	}
	assert_int_equal(counts.count, 0);
	assert_int_equal(counts.unreadable_count, snapshot.unreadable_count);
	assert_int_equal(counts.unreadable_count, 1);
	given = (struct given){ .limit = 1 };
	assert_int_equal(sampler_take_each(sampler, NEED_ROLLUP, give, &given, &counts),
			 -ENOSPC);
	snapshot_release(&counts);
}

#define test(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(the_cheapest_sufficient_file_is_read),
		test(the_mappings_add_up_to_the_process),
		test(a_target_with_a_reused_pid_is_gone),
		test(exec_keeps_the_target_and_changes_its_name),
		test(a_target_that_becomes_a_zombie_has_ended),
		test(a_zombie_target_has_no_memory_and_no_error),
		test(a_zombie_is_not_found_by_its_name),
		test(a_zombie_has_no_mappings_and_no_error),
		test(gone_targets_are_omitted_and_the_others_are_read),
		test(all_means_all_processes_with_memory),
		test(children_of_named_targets_are_found),
		test(a_target_given_twice_is_sampled_once),
		test(an_unreadable_process_has_an_error_and_no_figures),
		test(a_malformed_stat_affects_only_its_own_process),
		test(processes_without_permission_are_counted),
		test(mappings_have_owners),
		test(sampling_one_by_one_gives_the_same_as_sampling_all),
	};

	return cmocka_run_group_tests_name("sampler", tests, NULL, NULL);
}
