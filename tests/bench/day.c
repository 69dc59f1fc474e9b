/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * day FILE [SECONDS [PROCESSES]] - make a recording of a service in simulated time, with
 * one sample per second, like a long real recording.
 *
 * A few processes change their heap all the time, the others rarely, and the group has a
 * limit. bench-day measures how fast memstate reads the recording.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "bench.h"
#include "store/recording/recording.h"

#define DAY_S 86400
#define FIRST_UNIX_MS UINT64_C(1795219200000)
#define MAPPINGS 80
#define HEAP 3 /* index of the mapping that changes */
#define KB UINT64_C(1024)
#define LIMIT_BYTES (2048 * MIB)

struct day {
	struct recording *recording;
	uint64_t second;
	int process_count;
	struct mapping_list *mappings; /* one list for each process */
	uint64_t anon_bytes;	       /* sum over all processes */
};

/* Return for how many seconds a process stays unchanged. */
static uint64_t pause_of(int process)
{
	return process < 4 ? 1 : process < 10 ? 10 : 300;
}

/* Return the size of a process's heap: a rising sawtooth, the same in each run. */
static uint64_t heap_kb(int process, uint64_t second)
{
	uint64_t step = second / pause_of(process), tooth = step % 600;

	return 4000 + step / 20 + (tooth < 500 ? tooth * 40 : (600 - tooth) * 200) +
	       step * 7919 % 97;
}

static void make_mappings(struct mapping_list *list, int process)
{
	for (int i = 0; i < MAPPINGS; i++) {
		char name[64] = "";
		struct mapping m = { .start_addr =
					     0x7f0000000000 + (uint64_t)i * 0x10000000,
				     .flags = MAPPING_READ | MAPPING_WRITE,
				     .name = name };

		m.end_addr = m.start_addr + 0x8000000;
		if (i == HEAP)
			snprintf(name, sizeof(name), "[heap]");
		else if (i % 3)
			snprintf(name, sizeof(name), "/usr/lib/lib%d-%d.so", process % 5,
				 i / 4);
		m.inode = name[0] == '/' ? 100 + (uint64_t)i : 0;
		m.name_length = (uint32_t)strlen(name);
		counters_set_zero(&m.counters);
		m.counters.bytes[SMAPS_RSS] = 64 * KB;
		m.counters.bytes[m.inode ? SMAPS_SHARED_CLEAN : SMAPS_PRIVATE_DIRTY] =
			64 * KB;
		m.counters.bytes[SMAPS_PSS] = m.inode ? 8 * KB : 64 * KB;
		mapping_list_add(list, &m);
	}
}

static void set_heap(struct mapping *m, uint64_t bytes)
{
	m->counters.bytes[SMAPS_RSS] = m->counters.bytes[SMAPS_PSS] = bytes;
	m->counters.bytes[SMAPS_PRIVATE_DIRTY] = m->counters.bytes[SMAPS_ANONYMOUS] =
		bytes;
}

/*
 * Add a process with its mappings. The first process has a large memory map, so its
 * mappings are recorded only every fifth second.
 */
static int add_process(struct day *day, int process)
{
	struct mapping_list *list = &day->mappings[process];
	struct usage u;
	int r;

	set_heap(&list->items[HEAP], heap_kb(process, day->second) * KB);
	usage_init(&u);
	u.process.pid = 1000 + process;
	u.process.ppid = 1;
	u.process.start_ticks = 5000 + (uint64_t)process;
	u.process.thread_count = 4;
	u.process.state = 'S';
	u.process.minor_fault_count = day->second / pause_of(process) * 40;
	snprintf(u.process.comm, sizeof(u.process.comm), "service-%d", process);
	counters_set_zero(&u.total);
	for (size_t i = 0; i < list->count; i++)
		counters_add(&u.total, &list->items[i].counters);
	day->anon_bytes += u.total.bytes[SMAPS_PRIVATE_DIRTY];
	u.source = process > 0 || day->second % 5 == 0 ? SOURCE_SMAPS : SOURCE_ROLLUP;
	r = u.source == SOURCE_SMAPS ? recording_add_mappings(day->recording, &u, list)
				     : recording_add_usage(day->recording, &u);
	usage_release(&u);
	return r;
}

static int add_group(struct day *day)
{
	static char path[] = "/system.slice/service.service";
	struct cgroup_level level;
	struct cgroup group;

	cgroup_init(&group);
	memset(&level, 0xff, sizeof(level));
	level.path = path;
	level.usage_bytes = day->anon_bytes + (300 + day->second % 200) * MIB;
	level.limit_bytes = LIMIT_BYTES;
	level.is_oom_group = level.is_kill_disabled = false;
	group.version = CGROUP_V2;
	group.levels = &level;
	group.level_count = 1;
	group.tightest = 0;
	group.stat.anon_bytes = day->anon_bytes;
	group.stat.file_bytes = (290 + day->second % 200) * MIB;
	group.stat.shmem_bytes = 4 * MIB;
	group.stat.kernel_bytes = 10 * MIB;
	group.stat.slab_reclaimable_bytes = 6 * MIB;
	group.stat.inactive_file_bytes = 200 * MIB;
	group.limit_stat = group.stat;
	return recording_add_cgroup(day->recording, &group);
}

static int add_event(struct day *day)
{
	const struct recorded_event event = {
		.unix_ms = FIRST_UNIX_MS + day->second * 1000,
		.kind = "limit",
		.text = "usage has come to the limit",
	};

	return day->second % 21600 == 3600 ? recording_add_event(day->recording, &event)
					   : 0;
}

static int add_sample(struct day *day)
{
	const struct recording_moment moment = {
		.unix_ms = FIRST_UNIX_MS + day->second * 1000,
		.elapsed_ns = day->second * NS_PER_S,
		.cost_ns = 2 * NS_PER_MS,
	};
	int r = recording_begin(day->recording);

	day->anon_bytes = 0;
	for (int i = 0; i < day->process_count && r == 0; i++)
		r = add_process(day, i);
	if (r == 0)
		r = add_group(day);
	if (r == 0)
		r = add_event(day);
	return r == 0 ? recording_end(day->recording, &moment) : r;
}

int main(int argc, char **argv)
{
	static const struct recording_bounds none;
	uint64_t seconds = argc > 2 ? strtoull(argv[2], NULL, 10) : DAY_S;
	struct day day = { .process_count = argc > 3 ? atoi(argv[3]) : 20 };

	if (argc < 2 || recording_open(argv[1], &none, &day.recording) < 0)
		bench_die("day FILE [SECONDS [PROCESSES]]");
	day.mappings = calloc((size_t)day.process_count + 1, sizeof(*day.mappings));
	if (!day.mappings)
		bench_die("memory");
	for (int i = 0; i < day.process_count; i++)
		make_mappings(&day.mappings[i], i);
	for (; day.second < seconds; day.second++)
		if (add_sample(&day) < 0)
			bench_die(argv[1]);
	for (int i = 0; i < day.process_count; i++)
		mapping_list_release(&day.mappings[i]);
	free(day.mappings);
	recording_close(day.recording);
	return 0;
}
