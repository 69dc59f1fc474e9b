/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/recording/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "../../support/recordings.h"
#include "../../support/unit.h"

static void make_group(struct cgroup *c)
{
	cgroup_init(c);
	c->version = CGROUP_V2;
	c->level_count = 2;
	c->levels = calloc(2, sizeof(*c->levels));
	memset(c->levels, 0xff, 2 * sizeof(*c->levels));
	c->levels[0].path = strdup("/a b/c");
	c->levels[1].path = strdup("/a b");
	for (int i = 0; i < 2; i++)
		c->levels[i].is_oom_group = c->levels[i].is_kill_disabled = false;
	c->levels[0].limit_bytes = CGROUP_NO_LIMIT;
	c->levels[0].usage_bytes = 12345;
	c->levels[1].limit_bytes = 67108864;
	c->levels[1].is_oom_group = true;
	c->tightest = 1;
	c->names[CGROUP_NAME_POD] = strdup("web-0");
	c->group_count = 3;
	c->slack_bytes = 4096 * 64;
	c->hidden_limit_bytes = 33554432;
	c->has_pressure = true;
	c->pressure = (struct cgroup_pressure){ 7000, 3000, 250, 125 };
	c->stat.anon_bytes = 11;
	c->limit_stat.anon_bytes = 22;
}

static void groups_keep_their_levels_and_limits(void **state)
{
	const struct recorded_event event = { 2000, "oom", "killed", 7 };
	struct cgroup c, read;
	struct recording_reader *reader;
	struct recording *r;

	(void)state;
	make_group(&c);
	cgroup_init(&read);
	recordings_open(&r);
	recordings_begin(r);
	recordings_end(r, 1000 * 1);
	recordings_begin(r);
	assert_int_equal(recording_add_cgroup(r, &c), 0);
	assert_int_equal(recording_add_event(r, &event), 0);
	recordings_end(r, 1000 * 2);
	recording_close(r);
	cgroup_release(&c);

	assert_int_equal(recording_reader_open(recordings_path, &reader), 0);
	assert_int_equal(recording_reader_read_cgroup(reader, 0, &read), -ENOENT);
	assert_int_equal(recording_reader_read_cgroup(reader, 1, &read), 0);
	assert_string_equal(read.levels[0].path, "/a b/c");
	assert_true(read.levels[0].limit_bytes == CGROUP_NO_LIMIT);
	assert_true(read.levels[0].high_bytes == BYTES_UNKNOWN);
	assert_int_equal(read.levels[0].usage_bytes, 12345);
	assert_int_equal(read.tightest, 1);
	assert_true(read.levels[1].is_oom_group);
	assert_int_equal(read.stat.anon_bytes, 11);
	assert_int_equal(read.limit_stat.anon_bytes, 22);
	assert_true(read.stat.sock_bytes == BYTES_UNKNOWN);
	assert_string_equal(read.names[CGROUP_NAME_POD], "web-0");
	assert_null(read.names[CGROUP_NAME_UNIT]);
	assert_int_equal(read.group_count, 3);
	assert_int_equal(read.slack_bytes, 4096 * 64);
	assert_int_equal(read.hidden_limit_bytes, 33554432);
	assert_true(read.has_pressure);
	assert_int_equal(read.pressure.some_ns, 7000);
	assert_int_equal(read.pressure.full_avg10_percent_x100, 125);
	assert_int_equal(read.pid_count, 0);
	cgroup_release(&read);
	recording_reader_close(reader);
}

/* Return a pseudorandom number below limit. The sequence is the same in each run. */
static unsigned int draw(unsigned int *seed, unsigned int limit)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % limit;
}

/*
 * Record processes that start, change or stay the same, and
 * end. Some reuse an earlier pid.
 */
static void record_some(struct recording *r, unsigned int *seed)
{
	uint64_t rss_kb[8] = { 0 };

	for (uint64_t ms = 0; ms < 300; ms++) {
		recordings_begin(r);
		for (int pid = 0; pid < 8; pid++) {
			if (draw(seed, 10) == 0)
				rss_kb[pid] = draw(seed, 3) * 100;
			if (rss_kb[pid] > 0)
				recordings_add(r, pid + 1, rss_kb[pid]);
		}
		recordings_end(r, ms);
	}
}

static void sequential_and_random_reads_give_the_same_samples(void **state)
{
	struct recording_reader *scanning, *searching;
	struct snapshot a, b;
	struct recording *r;
	unsigned int seed = 1;
	size_t count, processes = 0;

	(void)state;
	recordings_open(&r);
	record_some(r, &seed);
	recording_close(r);
	assert_int_equal(recording_reader_open(recordings_path, &scanning), 0);
	assert_int_equal(recording_reader_open(recordings_path, &searching), 0);
	recording_reader_samples(scanning, &count);
	assert_int_equal(count, 300);
	snapshot_init(&a);
	snapshot_init(&b);
	recording_reader_scan(scanning, true);
	for (size_t i = 0; i < count; i++) {
		/* sometimes jump backwards or far ahead */
		size_t index = draw(&seed, 20) == 0 ? draw(&seed, 300) : i;

		assert_int_equal(recording_reader_read(scanning, index, &a), 0);
		assert_int_equal(recording_reader_read(searching, index, &b), 0);
		assert_int_equal(a.count, b.count);
		for (size_t p = 0; p < a.count; p++) {
			assert_int_equal(a.usages[p].process.pid,
					 b.usages[p].process.pid);
			assert_memory_equal(&a.usages[p].total, &b.usages[p].total,
					    sizeof(a.usages[p].total));
		}
		processes += a.count;
	}
	assert_true(processes > 300);
	snapshot_release(&a);
	snapshot_release(&b);
	recording_reader_close(scanning);
	recording_reader_close(searching);
}

static int add_kind(void *context, const struct recorded_event *event)
{
	strncat(context, event->kind, 20);
	return 0;
}

static void events_may_come_between_samples(void **state)
{
	const struct recorded_event before = { 900, "limit", NULL, 0 };
	const struct recorded_event between = { 1500, "victim", "", 7 };
	struct recording_reader *reader;
	char kinds[64] = "";
	struct recording *r;

	(void)state;
	recordings_open(&r);
	assert_int_equal(recording_add_event(r, &before), 0);
	recordings_sample(r, 1000, 5, 100);
	assert_int_equal(recording_add_event(r, &between), 0);
	recording_close(r);
	assert_int_equal(recording_reader_open(recordings_path, &reader), 0);
	assert_int_equal(recording_reader_for_each_event(reader, add_kind, kinds), 0);
	assert_string_equal(kinds, "limitvictim");
	recording_reader_close(reader);
}

static void shared_lazyfree_is_recorded_separately(void **state)
{
	struct recording_reader *reader;
	struct recording *r;
	struct snapshot s;
	struct usage u;

	(void)state;
	recordings_open(&r);
	recordings_begin(r);
	recordings_make_usage(&u, 5, 100);
	u.source = SOURCE_SMAPS;
	u.total.bytes[SMAPS_LAZYFREE] = 60 * KB;
	u.total.bytes[SMAPS_PRIVATE_CLEAN] = 70 * KB;
	u.state_bytes[STATE_PRIVATE_CLEAN] = 50 * KB; /* so 20 KiB of it are LazyFree */
	assert_int_equal(recording_add_usage(r, &u), 0);
	usage_release(&u);
	recordings_add(r, 6, 100);
	recordings_end(r, 1000);
	recording_close(r);
	snapshot_init(&s);
	assert_int_equal(recording_reader_open(recordings_path, &reader), 0);
	assert_int_equal(recording_reader_read(reader, 0, &s), 0);
	assert_int_equal(s.usages[0].source, SOURCE_ROLLUP);
	assert_int_equal(s.usages[0].recorded_droppable_bytes, 20 * KB);
	assert_true(s.usages[1].recorded_droppable_bytes == BYTES_UNKNOWN);
	snapshot_release(&s);
	recording_reader_close(reader);
}

static void a_process_that_reappears_has_the_mappings_of_that_sample(void **state)
{
	struct mapping m = { .start_addr = 0x1000, .end_addr = 0x3000, .name = "" };
	struct mapping_list mappings = MAPPING_LIST_INIT, read = MAPPING_LIST_INIT;
	struct recording_reader *reader;
	struct recording *r;
	struct usage u;

	(void)state;
	counters_set_zero(&m.counters);
	mapping_list_add(&mappings, &m);
	recordings_make_usage(&u, 5, 8);
	u.source = SOURCE_SMAPS;
	recordings_open(&r);
	for (uint64_t i = 0; i < 3; i++) {
		mappings.items[0].counters.bytes[SMAPS_RSS] = (i + 1) * 4 * KB;
		recordings_begin(r);
		if (i != 1)
			assert_int_equal(recording_add_mappings(r, &u, &mappings), 0);
		recordings_end(r, 1000 + i);
	}
	recording_close(r);
	assert_int_equal(recording_reader_open(recordings_path, &reader), 0);
	assert_int_equal(recording_reader_read_mappings(reader, 2, &u.process, &read), 0);
	assert_int_equal(read.count, 1);
	assert_int_equal(read.items[0].counters.bytes[SMAPS_RSS], 12 * KB);
	assert_int_equal(recording_reader_read_mappings(reader, 0, &u.process, &read), 0);
	assert_int_equal(read.items[0].counters.bytes[SMAPS_RSS], 4 * KB);
	assert_int_equal(recording_reader_read_mappings(reader, 1, &u.process, &read), 0);
	assert_int_equal(read.count, 0);
	mapping_list_release(&read);
	mapping_list_release(&mappings);
	recording_reader_close(reader);
	usage_release(&u);
}

/*
 * Add a pseudorandom choice of mappings with random names and amounts. The
 * sequence is the same in each run.
 */
static void make_churn(uint64_t *seed, struct mapping_list *ret)
{
	static const char *const names[] = { "", "[heap]", "/usr/lib/libz.so",
					     "/tmp/x (deleted)" };

	for (uint64_t i = 0; i < 14; i++) {
		struct mapping m = { .start_addr = 0xff5 + i * 0x1234567890abcde };

		*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		if (*seed >> 62 == 0)
			continue;
		m.end_addr = m.start_addr + 4 * KB;
		m.name = names[*seed >> 33 & 3];
		m.name_length = (uint32_t)strlen(m.name);
		counters_set_zero(&m.counters);
		m.counters.bytes[SMAPS_RSS] = (*seed >> 40 & 3) * KB;
		mapping_list_add(ret, &m);
	}
}

static void record_churn(unsigned int sample_count)
{
	struct recording *r;
	uint64_t seed = 7;

	recordings_open(&r);
	for (unsigned int s = 0; s < sample_count; s++) {
		recordings_begin(r);
		for (int pid = 5; pid < 7; pid++) {
			struct mapping_list list = MAPPING_LIST_INIT;
			struct usage u;

			recordings_make_usage(&u, pid, 100);
			make_churn(&seed, &list);
			u.source = SOURCE_SMAPS;
			if (seed >> 63)
				assert_int_equal(recording_add_mappings(r, &u, &list), 0);
			else
				recordings_add(r, pid, 100);
			mapping_list_release(&list);
			usage_release(&u);
		}
		recordings_end(r, 1000 * (uint64_t)s);
	}
	recording_close(r);
}

static void assert_same_mappings(const struct mapping_list *a,
				 const struct mapping_list *b)
{
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		const struct mapping *m = mapping_list_find(b, a->items[i].start_addr);

		assert_non_null(m);
		assert_string_equal(a->items[i].name, m->name);
		assert_int_equal(a->items[i].counters.bytes[SMAPS_RSS],
				 m->counters.bytes[SMAPS_RSS]);
	}
}

static void scanned_mappings_are_equal_and_have_a_change_version(void **state)
{
	static const size_t order[] = { 0, 1, 2, 5, 5, 6, 3, 3, 4, 9, 39, 0 };
	struct mapping_list found = MAPPING_LIST_INIT;
	struct recording_reader *scanning, *searching;
	const struct mapping_list *scanned;
	uint64_t version, before = 0;
	struct usage u;

	(void)state;
	record_churn(40);
	assert_int_equal(recording_reader_open(recordings_path, &scanning), 0);
	assert_int_equal(recording_reader_open(recordings_path, &searching), 0);
	recording_reader_scan(scanning, true);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		for (int pid = 5; pid < 7; pid++) {
			recordings_make_usage(&u, pid, 0);
			assert_int_equal(recording_reader_read_mappings(
						 searching, order[i], &u.process, &found),
					 0);
			assert_int_equal(recording_reader_scan_mappings(
						 scanning, order[i], &u.process, &scanned,
						 &version),
					 0);
			assert_same_mappings(scanned, &found);
			if (pid == 5 && i > 0)
				assert_true(version == before ||
					    order[i] != order[i - 1]);
			before = pid == 5 ? version : before;
			usage_release(&u);
		}
	mapping_list_release(&found);
	recording_reader_close(scanning);
	recording_reader_close(searching);
}

/*
 * Record one mapping that changes in each sample, one that never changes,
 * and one that comes and goes.
 */
static void record_long(unsigned int sample_count)
{
	struct mapping m = { .name = "" };
	struct mapping_list list = MAPPING_LIST_INIT;
	struct recording *r;
	struct usage u;

	counters_set_zero(&m.counters);
	for (uint64_t i = 1; i < 4; i++) {
		m.start_addr = i * 0x100000;
		m.end_addr = m.start_addr + 0x1000;
		mapping_list_add(&list, &m);
	}
	recordings_make_usage(&u, 5, 100);
	u.source = SOURCE_SMAPS;
	recordings_open(&r);
	for (unsigned int s = 0; s < sample_count; s++) {
		list.items[0].counters.bytes[SMAPS_RSS] = s * KB;
		list.count = s / 700 % 2 ? 2 : 3;
		recordings_begin(r);
		assert_int_equal(recording_add_mappings(r, &u, &list), 0);
		recordings_end(r, s);
	}
	list.count = 3;
	recording_close(r);
	mapping_list_release(&list);
	usage_release(&u);
}

static void mappings_are_scanned_over_any_distance(void **state)
{
	static const size_t order[] = { 0,    1,    699,  700,	999,  1000, 1001,
					1500, 2000, 2001, 2499, 2498, 2499, 0,
					2400, 1200, 1201, 2200, 2201, 3 };
	struct recording_reader *reader;
	const struct mapping_list *list;
	uint64_t version;
	struct usage u;

	(void)state;
	record_long(2500);
	recordings_make_usage(&u, 5, 0);
	assert_int_equal(recording_reader_open(recordings_path, &reader), 0);
	recording_reader_scan(reader, true);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		assert_int_equal(recording_reader_scan_mappings(
					 reader, order[i], &u.process, &list, &version),
				 0);
		assert_int_equal(list->count, order[i] / 700 % 2 ? 2 : 3);
		assert_int_equal(list->items[0].counters.bytes[SMAPS_RSS], order[i] * KB);
	}
	recording_reader_close(reader);
	usage_release(&u);
}

static void a_heap_is_read_back_for_the_samples_that_had_one(void **state)
{
	struct mapping m = { .start_addr = 0x1000,
			     .end_addr = 0x100000,
			     .name = "",
			     .owner = OWNER_ANON,
			     .flags = MAPPING_HEAP };
	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct recording_reader *reader;
	struct heap_sums heap;
	struct recording *r;
	struct usage u;

	(void)state;
	counters_set_zero(&m.counters);
	m.counters.bytes[SMAPS_RSS] = 100 * KB;
	mapping_list_add(&mappings, &m);
	recordings_make_usage(&u, 5, 100);
	u.source = SOURCE_SMAPS;
	u.allocator = ALLOCATOR_JEMALLOC;
	u.heap_pause_ns = 3 * NS_PER_MS;
	u.trimmable_bytes = BYTES_UNKNOWN;
	matrix_set_no_heap(&u.matrix);
	for (int o = 0; o <= OWNER_HEAP_LAST; o++)
		u.matrix.owner_rss_bytes[o] = ((uint64_t)o + 1) * 5000;
	u.matrix.owner_rss_bytes[OWNER_ANON] = 100 * KB - 50000;
	u.heaps[0] = (struct usage_heap){ .allocator = ALLOCATOR_JEMALLOC,
					  .quality = QUALITY_ESTIMATE };
	u.heaps[1] = (struct usage_heap){
		ALLOCATOR_GO, QUALITY_EXACT, { 1, 2, 3, 4 }, BYTES_UNKNOWN, 0, 0
	};
	recordings_open(&r);
	for (uint64_t i = 0; i < 4; i++) {
		u.heap_count = i == 2 ? 2 : 1;
		u.heap_quality = i == 1 || i == 2 ? QUALITY_ESTIMATE : QUALITY_UNKNOWN;
		recordings_begin(r);
		assert_int_equal(recording_add_mappings(r, &u, &mappings), 0);
		recordings_end(r, 1000 + i);
	}
	recording_close(r);
	assert_int_equal(recording_reader_open(recordings_path, &reader), 0);
	assert_int_equal(recording_reader_read_heap(reader, 0, &u.process, &heap),
			 -ENOENT);
	assert_int_equal(recording_reader_read_heap(reader, 3, &u.process, &heap),
			 -ENOENT);
	assert_int_equal(recording_reader_read_heap(reader, 2, &u.process, &heap), 0);
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_int_equal(heap.allocator, ALLOCATOR_JEMALLOC);
	assert_int_equal(heap.pause_ns, 3 * NS_PER_MS);
	assert_true(heap.trimmable_bytes == BYTES_UNKNOWN);
	assert_int_equal(heap.owner_bytes[OWNER_HEAP_META], 20000);
	assert_int_equal(heap.taken_bytes[OWNER_ANON], 50000);
	assert_int_equal(heap.taken_bytes[OWNER_SHMEM], 0);
	assert_int_equal(heap.heap_count, 2);
	assert_memory_equal(&heap.heaps[1], &u.heaps[1], sizeof(u.heaps[1]));
	assert_int_equal(recording_reader_read_heap(reader, 1, &u.process, &heap), 0);
	assert_int_equal(heap.heap_count, 0);
	recording_reader_close(reader);
	mapping_list_release(&mappings);
	usage_release(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(groups_keep_their_levels_and_limits,
						recordings_set_up, recordings_tear_down),
		cmocka_unit_test_setup_teardown(
			sequential_and_random_reads_give_the_same_samples,
			recordings_set_up, recordings_tear_down),
		cmocka_unit_test_setup_teardown(events_may_come_between_samples,
						recordings_set_up, recordings_tear_down),
		cmocka_unit_test_setup_teardown(shared_lazyfree_is_recorded_separately,
						recordings_set_up, recordings_tear_down),
		cmocka_unit_test_setup_teardown(mappings_are_scanned_over_any_distance,
						recordings_set_up, recordings_tear_down),
		cmocka_unit_test_setup_teardown(
			a_heap_is_read_back_for_the_samples_that_had_one,
			recordings_set_up, recordings_tear_down),
		cmocka_unit_test_setup_teardown(
			a_process_that_reappears_has_the_mappings_of_that_sample,
			recordings_set_up, recordings_tear_down),
		cmocka_unit_test_setup_teardown(
			scanned_mappings_are_equal_and_have_a_change_version,
			recordings_set_up, recordings_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
