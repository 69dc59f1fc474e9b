/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a recording with arbitrary bytes. It is either refused or read to its end.
 */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "fuzz.h"
#include "store/recording/read.h"

#define SAMPLES_READ 16
#define PROCESSES_READ 8

static char path[64];

static void remove_file(void)
{
	static const char *const endings[] = { "", "-wal", "-shm", "-journal" };
	char name[sizeof(path) + 16];

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, endings[i]);
		unlink(name);
	}
}

/* Make a temporary file, in memory if possible. */
static int make_file(void)
{
	static const char *const folders[] = { "/dev/shm", "/tmp" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/memstate-fuzz-XXXXXX", folders[i]);
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

static void write_file(const uint8_t *data, size_t size)
{
	static bool is_registered;
	int fd = make_file();

	CHECK(fd >= 0 && io_write_all(fd, data, size) == 0);
	close(fd);
	if (!is_registered)
		CHECK(atexit(remove_file) == 0);
	is_registered = true;
}

static int check_process(void *context, const struct process *process,
			 const char *command)
{
	CHECK(process->pid > 0);
	CHECK(!command || strlen(command) <= 16 << 20);
	(void)context;
	return 0;
}

static int check_event(void *context, const struct recorded_event *event)
{
	CHECK(event->kind && strlen(event->kind) < 65536 && event->pid >= 0);
	(void)context;
	return 0;
}

static int check_note(void *context, const struct recorded_note *note)
{
	CHECK(note->kind && note->text && note->process.pid > 0);
	(void)context;
	return 0;
}

static void check_mappings(struct recording_reader *reader, size_t sample,
			   const struct process *p)
{
	struct mapping_list mappings = MAPPING_LIST_INIT;
	const struct mapping_list *scanned;
	struct heap_sums heap;
	uint64_t version;

	if (recording_reader_is_scanning(reader)) {
		if (recording_reader_scan_mappings(reader, sample, p, &scanned,
						   &version) == 0)
			for (size_t i = 0; i < scanned->count; i++)
				CHECK(scanned->items[i].start_addr <
				      scanned->items[i].end_addr);
	} else if (recording_reader_read_mappings(reader, sample, p, &mappings) == 0) {
		for (size_t i = 0; i < mappings.count; i++)
			CHECK(mappings.items[i].start_addr < mappings.items[i].end_addr);
	}
	mapping_list_release(&mappings);
	if (recording_reader_read_heap(reader, sample, p, &heap) == 0)
		CHECK(heap.quality < QUALITY_COUNT_ && heap.allocator < ALLOCATOR_COUNT_);
}

static void check_sample(struct recording_reader *reader, size_t sample)
{
	struct cgroup cgroup;
	struct snapshot s;

	snapshot_init(&s);
	if (recording_reader_read(reader, sample, &s) == 0)
		for (size_t i = 0; i < s.count && i < PROCESSES_READ; i++) {
			CHECK(s.usages[i].process.pid > 0 &&
			      s.usages[i].source < SOURCE_COUNT_);
			check_mappings(reader, sample, &s.usages[i].process);
		}
	snapshot_release(&s);
	cgroup_init(&cgroup);
	if (recording_reader_read_cgroup(reader, sample, &cgroup) == 0)
		CHECK(cgroup.level_count > 0);
	cgroup_release(&cgroup);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct recorded_sample *samples;
	struct recording_reader *reader;
	size_t count;
	int r;

	write_file(data, size);
	r = recording_reader_open(path, &reader);
	CHECK(r <= 0);
	if (r == 0) {
		samples = recording_reader_samples(reader, &count);
		CHECK(count > 0);
		for (size_t i = 1; i < count; i++)
			CHECK(samples[i].number > samples[i - 1].number);
		for (int turn = 0; turn < 2; turn++) {
			recording_reader_scan(reader, turn == 1);
			for (size_t i = 0; i < count && i < SAMPLES_READ; i++)
				check_sample(reader, i);
		}
		recording_reader_for_each_peak(reader, check_process, NULL);
		recording_reader_for_each_event(reader, check_event, NULL);
		recording_reader_for_each_note(reader, check_note, NULL);
		recording_reader_close(reader);
	}
	remove_file();
	return 0;
}
