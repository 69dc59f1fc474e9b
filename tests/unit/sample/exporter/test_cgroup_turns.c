/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kills of cgroups that end and begin between looks, in a made-up hierarchy. */
#include "config.h"

#include "sample/exporter/cgroup_turns.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "../../support/tree.h"
#include "../../support/unit.h"

#define SECOND NS_PER_S

static struct tree tree;
static struct procfs fs;
static struct places places;
static struct cgroup_turns turns;
static struct named_cgroups cgroups;

static int begin(void **state)
{
	char path[64];

	(void)state;
	tree_make(&tree);
	tree_write(&tree, "proc/version", "");
	snprintf(path, sizeof(path), "%s/proc", tree.root);
	assert_int_equal(procfs_open(&fs, path), 0);
	places_init(&places, &fs, GROUPING_CGROUP);
	assert_false(places.has_mount);
	snprintf(path, sizeof(path), "%s/cgroup", tree.root);
	places.mount = (struct cgroup_mount){ CGROUP_V2, xstrdup(path), xstrdup("/") };
	places.has_mount = true;
	turns = (struct cgroup_turns){ 0 };
	cgroups = (struct named_cgroups)NAMED_CGROUPS_INIT;
	return 0;
}

static int end(void **state)
{
	(void)state;
	cgroup_turns_release(&turns);
	named_cgroups_release(&cgroups);
	places_release(&places);
	procfs_release(&fs);
	tree_remove(&tree);
	return 0;
}

/* Make a cgroup with one process and this number of kills. */
static void make_cgroup(const char *name, int pid, unsigned int kills)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "cgroup/%s/cgroup.procs", name);
	tree_write(&tree, path, "");
	snprintf(path, sizeof(path), "cgroup/%s/memory.max", name);
	tree_write(&tree, path, "4096000\n");
	snprintf(path, sizeof(path), "cgroup/%s/memory.current", name);
	tree_write(&tree, path, "4096\n");
	snprintf(path, sizeof(path), "cgroup/%s/memory.events", name);
	snprintf(text, sizeof(text), "max 0\noom 0\noom_kill %u\n", kills);
	tree_write(&tree, path, text);
	snprintf(path, sizeof(path), "proc/%d/cgroup", pid);
	snprintf(text, sizeof(text), "0::/%s\n", name);
	tree_write(&tree, path, text);
}

/* Replace a cgroup with a new one, which has another inode than the one before. */
static void replace_cgroup(const char *name, int pid, unsigned int kills)
{
	char old[64], path[64];

	snprintf(old, sizeof(old), "%s/cgroup/%s", tree.root, name);
	snprintf(path, sizeof(path), "%s/cgroup/before", tree.root);
	assert_int_equal(rename(old, path), 0);
	make_cgroup(name, pid, kills);
	tree_delete(&tree, "cgroup/before");
}

/*
 * Take a look at the processes with these pids; 0 ends the list. With limit_ns 0, it
 * reads one cgroup.
 */
static void look(uint64_t now_ns, uint64_t limit_ns, const int *pids)
{
	const struct process_cgroup *found[4] = { NULL };
	struct usage usages[4];
	struct snapshot processes = { .usages = usages };
	const struct cgroup_turns_input input = { &places, &processes, found };

	places_begin(&places, now_ns);
	for (size_t i = 0; pids[i] != 0; i++) {
		usage_init(&usages[i]);
		usages[i].process = (struct process){ .pid = pids[i] };
		(void)places_find(&places, &usages[i].process, &found[i]);
		assert_non_null(found[i]);
		processes.count++;
	}
	named_cgroups_begin(&cgroups);
	cgroup_turns_take(&turns, &input, limit_ns, &cgroups);
	named_cgroups_end(&cgroups, clock_now_ns());
	places_end(&places);
}

static void assert_kills(const char *name, uint64_t want)
{
	const struct named_cgroup *cgroup = named_cgroups_find(&cgroups, name);

	assert_non_null(cgroup);
	assert_int_equal(cgroup->counts.values[CGROUP_COUNT_KILLS], want);
}

static const int none[] = { 0 }, first[] = { 7, 0 }, both[] = { 7, 8, 0 };

static void a_cgroup_that_was_replaced_between_looks_counts_from_0(void **state)
{
	(void)state;
	make_cgroup("a", 7, 1);
	look(SECOND, UINT64_MAX, first);
	assert_kills("/a", 0);
	replace_cgroup("a", 7, 1);
	look(2 * SECOND, UINT64_MAX, first);
	assert_kills("/a", 1);
	look(3 * SECOND, UINT64_MAX, first);
	assert_kills("/a", 1);
}

static void a_removed_cgroup_is_shown_when_it_exists_again(void **state)
{
	(void)state;
	make_cgroup("a", 7, 0);
	look(SECOND, UINT64_MAX, first);
	assert_true(named_cgroups_find(&cgroups, "/a")->has_figures);
	tree_delete(&tree, "cgroup/a");
	look(2 * SECOND, UINT64_MAX, none);
	assert_false(named_cgroups_find(&cgroups, "/a")->has_figures);
	make_cgroup("a", 7, 2);
	look(3 * SECOND, UINT64_MAX, first);
	assert_true(named_cgroups_find(&cgroups, "/a")->has_figures);
	assert_kills("/a", 2);
}

static void kills_before_a_first_look_that_was_cut_short_do_not_count(void **state)
{
	(void)state;
	make_cgroup("a", 7, 3);
	make_cgroup("b", 8, 5);
	look(SECOND, 0, both);
	assert_null(named_cgroups_find(&cgroups, "/b"));
	look(2 * SECOND, UINT64_MAX, both);
	look(3 * SECOND, UINT64_MAX, both);
	assert_kills("/a", 0);
	assert_kills("/b", 0);
}

static void an_empty_cgroup_is_not_forgotten(void **state)
{
	(void)state;
	make_cgroup("a", 7, 0);
	look(SECOND, UINT64_MAX, first);
	make_cgroup("a", 7, 4);
	look(2 * SECOND, UINT64_MAX, first);
	assert_kills("/a", 4);
	look(SECOND + PLACES_KEEP_NS, UINT64_MAX, none);
	look(2 * SECOND + PLACES_KEEP_NS, UINT64_MAX, none);
	look(3 * SECOND + PLACES_KEEP_NS, UINT64_MAX, first);
	assert_kills("/a", 4);
}

static void a_removed_cgroup_is_forgotten(void **state)
{
	(void)state;
	make_cgroup("a", 7, 0);
	look(SECOND, UINT64_MAX, first);
	tree_delete(&tree, "cgroup/a");
	look(2 * SECOND, UINT64_MAX, none);
	assert_int_equal(places.count, 1);
	look(SECOND + PLACES_KEEP_NS, UINT64_MAX, none);
	assert_int_equal(places.count, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_cgroup_that_was_replaced_between_looks_counts_from_0),
		CASE(a_removed_cgroup_is_shown_when_it_exists_again),
		CASE(kills_before_a_first_look_that_was_cut_short_do_not_count),
		CASE(an_empty_cgroup_is_not_forgotten),
		CASE(a_removed_cgroup_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
