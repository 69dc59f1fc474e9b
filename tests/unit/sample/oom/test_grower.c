/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Made-up recordings of a pod of two containers, in which the process that grew is known.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "classify/oom/verdict.h"
#include "proc/kmsg/oom.h"
#include "../../support/recordings.h"
#include "sample/oom/ends.h"
#include "sample/process/process_notes.h"
#include "../../support/unit.h"

#define SAMPLES 200
#define APP 1
#define SIDECAR 2
#define APP_AGAIN 3
#define POD "/kubepods/podu"
#define OTHER_KB (2 * 1024) /* memory of a process outside its heap */

static struct recording *recording;
static struct oom_kill_list kills;
static struct oom_ends ends;

/* A process in a sample. */
struct made {
	int pid;
	const char *name;
	uint64_t kb, shmem_kb;
};

static const char *sidecar_group; /* NULL: below the pod */
static bool has_report = true, has_notes = true;
static uint64_t mappings_every_ms; /* 0: mappings are never read */

static void add_notes(const struct process *process, const char *container)
{
	char group[64];

	if (!has_notes)
		return;
	snprintf(group, sizeof(group), POD "/%s", container);
	if (sidecar_group && strcmp(container, "sidecar") == 0)
		snprintf(group, sizeof(group), "%s", sidecar_group);
	assert_int_equal(recording_add_note(recording, process, NOTE_GROUP, group), 0);
	assert_int_equal(recording_add_note(recording, process, "container", container),
			 0);
	assert_int_equal(recording_add_note(recording, process, "pod", "web-0"), 0);
	assert_int_equal(recording_add_note(recording, process, "namespace", "shop"), 0);
}

/* Record a process with a heap, and a file of which all but OTHER_KB is clean. */
static void add_mappings(struct usage *u, uint64_t heap_kb)
{
	struct mapping_list list = MAPPING_LIST_INIT;

	for (int is_file = 0; is_file < 2; is_file++) {
		struct mapping m = { .start_addr = UINT64_C(1) << (30 + is_file),
				     .end_addr = UINT64_C(2) << (30 + is_file),
				     .name = is_file ? "/data" : "[heap]" };
		uint64_t *bytes = m.counters.bytes;

		m.name_length = (uint32_t)strlen(m.name);
		counters_set_zero(&m.counters);
		bytes[SMAPS_ANONYMOUS] = (is_file ? OTHER_KB : heap_kb) * KB;
		bytes[SMAPS_PRIVATE_DIRTY] = bytes[SMAPS_ANONYMOUS];
		bytes[SMAPS_SHARED_CLEAN] = is_file ? 64 * MIB : 0;
		bytes[SMAPS_RSS] = bytes[SMAPS_ANONYMOUS] + bytes[SMAPS_SHARED_CLEAN];
		mapping_list_add(&list, &m);
	}
	assert_int_equal(recording_add_mappings(recording, u, &list), 0);
	mapping_list_release(&list);
}

static void add_process(const struct made *made, bool has_mappings)
{
	struct usage u;

	recordings_make_usage(&u, made->pid, made->kb + made->shmem_kb);
	snprintf(u.process.comm, sizeof(u.process.comm), "%s", made->name);
	u.total.bytes[SMAPS_ANONYMOUS] = made->kb * KB;
	u.total.bytes[SMAPS_PRIVATE_DIRTY] = (made->kb + made->shmem_kb) * KB;
	u.total.bytes[SMAPS_PSS] = u.total.bytes[SMAPS_RSS];
	u.total.bytes[SMAPS_SWAP] = 0;
	if (has_mappings)
		add_mappings(&u, made->kb - OTHER_KB);
	else
		assert_int_equal(recording_add_usage(recording, &u), 0);
	add_notes(&u.process, made->name);
	usage_release(&u);
}

static void add_sample(uint64_t ms, const struct made made[2], uint64_t shmem_kb,
		       bool is_killed)
{
	struct cgroup_level levels[2] = {
		{ .path = (char *)POD,
		  .limit_bytes = 300 * MIB,
		  .oom_kill_count = is_killed,
		  .max_count = 1 },
		{ .path = (char *)"/", .limit_bytes = CGROUP_NO_LIMIT },
	};
	struct cgroup cgroup;

	cgroup_init(&cgroup);
	cgroup.version = CGROUP_V2;
	cgroup.levels = levels;
	cgroup.level_count = 2;
	cgroup.tightest = 0;
	cgroup.group_count = 3;
	cgroup.slack_bytes = MIB;
	memset(&cgroup.stat, 0, sizeof(cgroup.stat));
	cgroup.stat.anon_bytes = (made[0].kb + made[1].kb) * KB;
	cgroup.stat.shmem_bytes = cgroup.stat.file_bytes = shmem_kb * KB;
	levels[0].usage_bytes = cgroup.stat.anon_bytes + cgroup.stat.file_bytes;
	cgroup.limit_stat = cgroup.stat;
	recordings_begin(recording);
	for (int i = 0; i < 2; i++)
		if (made[i].pid != 0)
			add_process(&made[i],
				    mappings_every_ms > 0 &&
					    (ms - 1000) % mappings_every_ms == 0);
	assert_int_equal(recording_add_cgroup(recording, &cgroup), 0);
	recordings_end(recording, ms);
}

/*
 * Fill in both processes for sample i of SAMPLES, and the shared memory
 * that no process has mapped.
 */
typedef void (*scenario)(uint64_t i, struct made made[2], uint64_t *ret_shmem_kb);

/*
 * Record a scenario in which the app is killed when `invoker` allocates; `limit` is the
 * group whose limit was reached.
 */
static void explain(scenario fill, const char *limit, int invoker)
{
	char text[1024];
	static const struct targets all;
	struct made made[2], app;
	uint64_t shmem_kb = 0;
	struct replay *replay;

	recordings_open(&recording);
	for (uint64_t i = 0; i < SAMPLES; i++) {
		made[0] = (struct made){ .pid = APP, .name = "app", .kb = 200 * 1024 };
		made[1] = (struct made){ .pid = SIDECAR,
					 .name = "sidecar",
					 .kb = 5 * 1024 };
		fill(i, made, &shmem_kb);
		add_sample(1000 + 100 * i, made, shmem_kb, false);
	}
	app = made[0];
	made[0].pid = 0;
	add_sample(1000 + 100 * SAMPLES, made, shmem_kb, true);
	recording_close(recording);
	snprintf(
		text, sizeof(text),
		"%s invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
		"CPU: 1 UID: 0 PID: %d Comm: %s Not tainted 6.18.1 #1\n"
		"memory: usage 307200kB, limit 307200kB, failcnt 5\n"
		"Memory cgroup stats for %s:\n"
		"anon 293601280\nfile 0\nkernel 16777216\nshmem 0\n"
		"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
		"oom_memcg=%s,task_memcg=" POD "/app,task=app,pid=%d,uid=0\n"
		"Memory cgroup out of memory: Killed process %d (app) total-vm:1kB, "
		"anon-rss:204800kB, file-rss:3kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0\n",
		invoker == SIDECAR ? "sidecar" : "app", invoker,
		invoker == SIDECAR ? "sidecar" : "app", limit, limit, app.pid, app.pid);
	kmsg_oom_parse(text, has_report ? strlen(text) : 0, &kills);
	assert_int_equal(kills.count, has_report);
	assert_int_equal(replay_open(recordings_path, &replay), 0);
	assert_int_equal(oom_ends_read(replay, &kills, &all, &ends), 0);
	replay_close(replay);
	assert_int_equal(ends.count, 1);
	assert_int_equal(ends.items[0].victim.pid, app.pid);
	assert_string_equal(ends.items[0].victim_place.container, has_notes ? "app" : "");
}

static void forget(void)
{
	oom_ends_release(&ends);
	oom_kill_list_release(&kills);
}

/* Assert the grower and its growth, to within a tenth. */
static void assert_grew(int pid, const char *container, uint64_t mib)
{
	const struct oom_grower *g = &ends.items[0].grower;
	uint64_t grown_bytes = g->to_bytes - g->from_bytes;

	assert_int_equal(g->pid, pid);
	assert_string_equal(g->place.container, container);
	assert_string_equal(g->place.pod, "web-0");
	assert_string_equal(g->place.namespace_, "shop");
	assert_in_range(grown_bytes, mib * MIB * 9 / 10, mib * MIB * 11 / 10);
}

static void app_starts_and_sidecar_leaks(uint64_t i, struct made made[2],
					 uint64_t *shmem_kb)
{
	(void)shmem_kb;
	made[0].kb = (i < 20 ? 10 * i : 200) * 1024;
	made[1].kb += i < 120 ? 0 : (i - 119) * 1024;
}

static void a_steady_app_did_not_grow_whatever_it_allocated_at_startup(void **state)
{
	(void)state;
	explain(app_starts_and_sidecar_leaks, POD, APP);
	assert_grew(SIDECAR, "sidecar", 80);
	assert_false(ends.items[0].grower.is_new);
	assert_int_equal(ends.items[0].invoker.pid, APP);
	assert_string_equal(ends.items[0].invoker_place.container, "app");
	forget();
}

static void app_leaks(uint64_t i, struct made made[2], uint64_t *shmem_kb)
{
	(void)shmem_kb;
	made[0].kb = (100 + i) * 1024;
	made[1].kb += (i % 7) * 100;
}

static void the_process_that_hits_the_limit_need_not_be_the_grower(void **state)
{
	(void)state;
	explain(app_leaks, POD, SIDECAR);
	assert_grew(APP, "app", 199);
	assert_int_equal(ends.items[0].invoker.pid, SIDECAR);
	assert_string_equal(ends.items[0].invoker_place.container, "sidecar");
	assert_string_equal(ends.items[0].invoker_place.pod, "web-0");
	forget();
}

/*
 * The mappings are read in every 30th sample. The last reading is therefore 19 samples
 * older than the last sample, and the heap's amounts are compared with that reading.
 */
static void the_part_and_the_whole_are_of_one_reading(void **state)
{
	const struct oom_grower *g;

	(void)state;
	mappings_every_ms = 3000;
	explain(app_leaks, POD, APP);
	assert_grew(APP, "app", 199);
	g = &ends.items[0].grower;
	assert_true(g->to_bytes > 295 * MIB);
	assert_string_equal(g->mapping, "[heap]");
	assert_int_equal(g->mappings_from_bytes, 100 * MIB);
	assert_int_equal(g->mappings_to_bytes, 280 * MIB);
	assert_int_equal(g->mapping_from_bytes, 98 * MIB);
	assert_int_equal(g->mapping_to_bytes, 278 * MIB);
	forget();
	/* the only reading does not show the growth */
	remove(recordings_path);
	mappings_every_ms = 21000;
	explain(app_leaks, POD, APP);
	mappings_every_ms = 0;
	assert_string_equal(ends.items[0].grower.mapping, "");
	forget();
}

static void app_is_restarted(uint64_t i, struct made made[2], uint64_t *shmem_kb)
{
	(void)shmem_kb;
	made[1].kb += i < 90 ? 0 : (i - 89) * 512;
	if (i >= 130)
		made[0].pid = APP_AGAIN;
	if (i == 130)
		made[0].pid = 0;
	if (i > 130 && i < 140)
		made[0].kb = (i - 130) * 20 * 1024;
}

static void a_restarted_app_did_not_grow(void **state)
{
	(void)state;
	explain(app_is_restarted, POD, APP_AGAIN);
	assert_grew(SIDECAR, "sidecar", 55);
	forget();
}

static void app_doubles_after_restart(uint64_t i, struct made made[2], uint64_t *shmem_kb)
{
	(void)shmem_kb;
	made[0].kb = 100 * 1024;
	if (i >= 100)
		made[0] = (struct made){ APP_AGAIN, "app", (100 + (i - 99)) * 1024, 0 };
}

static void growth_after_a_restart_counts_from_the_earlier_level(void **state)
{
	(void)state;
	explain(app_doubles_after_restart, POD, APP_AGAIN);
	assert_grew(APP_AGAIN, "app", 100);
	assert_true(ends.items[0].grower.is_restarted);
	assert_false(ends.items[0].grower.is_new);
	forget();
}

static void both_grow(uint64_t i, struct made made[2], uint64_t *shmem_kb)
{
	(void)shmem_kb;
	made[0].kb = (100 + i / 4) * 1024;
	made[1].kb = (5 + i) * 1024;
}

static void a_container_outside_the_limited_group_does_not_count(void **state)
{
	(void)state;
	explain(both_grow, POD, APP);
	assert_grew(SIDECAR, "sidecar", 199);
	forget();
	remove(recordings_path);
	explain(both_grow, POD "/app", APP);
	assert_grew(APP, "app", 49);
	forget();
	/* "/app" is compared as a path, not as a prefix of names */
	remove(recordings_path);
	explain(both_grow, POD "/app", APP);
	assert_string_equal(ends.items[0].limit_path, POD "/app");
	forget();
}

/* In a container, the recording has other paths than the kernel's report. */
static void a_report_with_the_paths_of_the_host_is_of_the_recorded_limit(void **state)
{
	(void)state;
	explain(both_grow, "/host.slice/u", APP);
	assert_grew(SIDECAR, "sidecar", 199);
	forget();
	sidecar_group = "/other/sidecar";
	remove(recordings_path);
	explain(both_grow, "/host.slice/u", APP);
	sidecar_group = NULL;
	assert_grew(APP, "app", 49);
	forget();
}

static void without_a_report_the_recorded_limit_counts(void **state)
{
	(void)state;
	sidecar_group = POD "2/sidecar";
	has_report = false;
	explain(both_grow, POD, APP);
	sidecar_group = NULL;
	has_report = true;
	assert_grew(APP, "app", 49);
	forget();
}

static void sidecar_writes_tmpfs(uint64_t i, struct made made[2], uint64_t *shmem_kb)
{
	(void)made;
	*shmem_kb = i < 100 ? 0 : (i - 99) * 1024;
}

static void sidecar_maps_tmpfs(uint64_t i, struct made made[2], uint64_t *shmem_kb)
{
	sidecar_writes_tmpfs(i, made, shmem_kb);
	made[1].shmem_kb = *shmem_kb;
}

static void shared_memory_is_attributed_to_the_process_that_maps_it(void **state)
{
	(void)state;
	explain(sidecar_maps_tmpfs, POD, SIDECAR);
	assert_grew(SIDECAR, "sidecar", 100);
	forget();
}

static void the_writer_of_an_unmapped_tmpfs_file_is_unknown(void **state)
{
	const struct oom_grower *g;

	(void)state;
	explain(sidecar_writes_tmpfs, POD, SIDECAR);
	g = &ends.items[0].grower;
	assert_int_equal(g->pid, 0);
	assert_true(g->is_shmem);
	assert_in_range(g->to_bytes - g->from_bytes, 95 * MIB, 105 * MIB);
	forget();
}

static void app_bursts_and_sidecar_leaks(uint64_t i, struct made made[2],
					 uint64_t *shmem_kb)
{
	(void)shmem_kb;
	made[0].kb = (i < SAMPLES - 5 ? 100 : 200) * 1024;
	made[1].kb = (5 + i / 2) * 1024;
}

/*
 * The pod's need grows steadily; the need of the container that reached
 * its limit does not.
 */
static void a_containers_limit_is_compared_with_the_containers_need(void **state)
{
	const struct oom_evidence *e;
	uint64_t ns;

	(void)state;
	explain(app_bursts_and_sidecar_leaks, POD, APP);
	e = &ends.items[0];
	assert_false(e->is_need_private);
	assert_int_equal(e->growth.kind, GROWTH_STEADY);
	assert_true(bytes_known(e->hidden_bytes) && bytes_known(e->last.need_bytes));
	assert_in_range(e->typical_bytes, 140 * MIB, 160 * MIB);
	forget();
	remove(recordings_path);
	explain(app_bursts_and_sidecar_leaks, POD "/app", APP);
	e = &ends.items[0];
	assert_true(e->is_need_private);
	assert_int_equal(e->growth.kind, GROWTH_NONE);
	assert_int_equal(e->typical_bytes, 100 * MIB);
	assert_int_equal(e->low_bytes, 100 * MIB);
	/* the report has 280 MiB of private memory, and 16 MiB of the kernel's */
	assert_int_equal(oom_evidence_rise_bytes(e, &ns), 180 * MIB);
	assert_int_equal(e->process_count, 1);
	assert_int_equal(e->process_bytes, 200 * MIB);
	assert_false(bytes_known(e->hidden_bytes) || bytes_known(e->last.need_bytes));
	assert_int_equal(e->at.limit_bytes, 300 * MIB);
	assert_int_equal(oom_verdict_find(e), OOM_WHY_BURST);
	forget();
}

static void assert_need_is_unknown(void)
{
	const struct oom_evidence *e = &ends.items[0];
	uint64_t ns;

	assert_int_equal(e->growth.kind, GROWTH_TOO_SHORT);
	assert_false(bytes_known(e->typical_bytes) || bytes_known(e->low_bytes));
	assert_false(bytes_known(e->hidden_bytes) || bytes_known(e->last.need_bytes));
	assert_false(bytes_known(e->process_bytes) || bytes_known(e->private_bytes));
	assert_false(bytes_known(oom_evidence_rise_bytes(e, &ns)));
	forget();
}

static void the_need_of_a_group_that_was_not_recorded_is_unknown(void **state)
{
	(void)state;
	/* the limit is of a group above the recorded one */
	explain(app_bursts_and_sidecar_leaks, "/kubepods", APP);
	assert_need_is_unknown();
	remove(recordings_path);
	/* the container of a process was not recorded */
	has_notes = false;
	explain(app_bursts_and_sidecar_leaks, POD "/app", APP);
	has_notes = true;
	assert_need_is_unknown();
}

static void no_growth(uint64_t i, struct made made[2], uint64_t *shmem_kb)
{
	(void)i;
	(void)made;
	(void)shmem_kb;
}

static void without_growth_no_process_is_named(void **state)
{
	(void)state;
	explain(no_growth, POD, APP);
	assert_int_equal(ends.items[0].grower.pid, 0);
	assert_int_equal(ends.items[0].grower.to_bytes, 0);
	forget();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, recordings_set_up, recordings_tear_down)
		TEST(a_steady_app_did_not_grow_whatever_it_allocated_at_startup),
		TEST(the_process_that_hits_the_limit_need_not_be_the_grower),
		TEST(the_part_and_the_whole_are_of_one_reading),
		TEST(a_restarted_app_did_not_grow),
		TEST(growth_after_a_restart_counts_from_the_earlier_level),
		TEST(a_container_outside_the_limited_group_does_not_count),
		TEST(a_report_with_the_paths_of_the_host_is_of_the_recorded_limit),
		TEST(without_a_report_the_recorded_limit_counts),
		TEST(shared_memory_is_attributed_to_the_process_that_maps_it),
		TEST(the_writer_of_an_unmapped_tmpfs_file_is_unknown),
		TEST(a_containers_limit_is_compared_with_the_containers_need),
		TEST(the_need_of_a_group_that_was_not_recorded_is_unknown),
		TEST(without_growth_no_process_is_named),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
