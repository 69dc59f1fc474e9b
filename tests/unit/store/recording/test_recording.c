/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "../../support/recordings.h"
#include "store/recording/read.h"
#include "../../support/unit.h"

/*
 * Return the number of rows in a table, read with sqlite3. Skips the test if that fails.
 */
static long count_rows(const char *table)
{
	char command[160];
	long count = -1;
	FILE *f;

	snprintf(command, sizeof(command), "sqlite3 '%s' 'SELECT count(*) FROM %s'",
		 recordings_path, table);
	f = popen(command, "r"); /* NOLINT(cert-env33-c) */
	if (f && fscanf(f, "%ld", &count) != 1)
		count = -1;
	if (!f || pclose(f) != 0 || count < 0)
		skip();
	return count;
}

static void recorded_samples_are_read_back(void **state)
{
	struct recording *r;
	struct recording_reader *reader;
	struct snapshot s;
	const struct recorded_sample *samples;
	size_t count;

	(void)state;
	recordings_open(&r);
	recordings_begin(r);
	recordings_add(r, 5, 100);
	recordings_add(r, 6, 200);
	recordings_end(r, 1000 * 10);
	recordings_begin(r);
	recordings_add(r, 6, 201);
	recordings_end(r, 1000 * 11);
	recording_close(r);

	assert_int_equal(recording_reader_open(recordings_path, &reader), 0);
	samples = recording_reader_samples(reader, &count);
	assert_int_equal(count, 2);
	assert_int_equal(samples[1].moment.unix_ms, 11000);
	snapshot_init(&s);
	assert_int_equal(recording_reader_read(reader, 0, &s), 0);
	assert_int_equal(s.count, 2);
	assert_int_equal(s.usages[0].process.pid, 5);
	assert_string_equal(s.usages[0].process.comm, "p\xff"
						      "5");
	assert_int_equal(s.usages[0].process.thread_count, 3);
	assert_int_equal(s.usages[0].total.bytes[SMAPS_RSS], 100 * KB);
	assert_int_equal(s.usages[0].total.bytes[SMAPS_SWAP], 8 * KB);
	assert_true(s.usages[0].total.bytes[SMAPS_SIZE] == BYTES_UNKNOWN);
	assert_true(s.usages[0].total.bytes[SMAPS_REFERENCED] == BYTES_UNKNOWN);
	assert_int_equal(recording_reader_read(reader, 1, &s), 0);
	assert_int_equal(s.count, 1);
	assert_int_equal(s.usages[0].process.pid, 6);
	assert_int_equal(s.usages[0].total.bytes[SMAPS_RSS], 201 * KB);
	snapshot_release(&s);
	recording_reader_close(reader);
}

static void unchanged_values_are_written_once(void **state)
{
	struct recording *r;

	(void)state;
	recordings_open(&r);
	for (uint64_t i = 0; i < 50; i++)
		recordings_sample(r, i, 5, i < 25 ? 100 : 101);
	recording_close(r);
	assert_int_equal(count_rows("sample"), 50);
	assert_int_equal(count_rows("usage"), 2);
	assert_int_equal(count_rows("process"), 1);
}

static void read_mappings(size_t index, struct mapping_list *ret)
{
	struct recording_reader *reader;
	struct usage u;

	recordings_make_usage(&u, 5, 0);
	assert_int_equal(recording_reader_open(recordings_path, &reader), 0);
	assert_int_equal(recording_reader_read_mappings(reader, index, &u.process, ret),
			 0);
	recording_reader_close(reader);
	usage_release(&u);
}

static void mappings_appear_grow_and_vanish(void **state)
{
	struct mapping_list list = MAPPING_LIST_INIT, some = MAPPING_LIST_INIT;
	struct mapping m = { .start_addr = 0x7f0000001000,
			     .end_addr = 0x7f0000003000,
			     .file_offset_bytes = 4096,
			     .inode = 9,
			     .dev_major = 8,
			     .dev_minor = 1,
			     .flags = MAPPING_READ | MAPPING_EXEC,
			     .name = "/usr/lib/libz.so",
			     .name_length = 16 };
	struct recording *r;
	struct usage u;

	(void)state;
	counters_set_zero(&m.counters);
	m.counters.bytes[SMAPS_RSS] = 8 * KB;
	mapping_list_add(&list, &m);
	m.start_addr = 0xffffffffff600000;
	m.end_addr = 0xffffffffff601000;
	m.name = "";
	m.name_length = 0;
	mapping_list_add(&list, &m);
	recordings_make_usage(&u, 5, 100);
	u.source = SOURCE_SMAPS;
	recordings_open(&r);
	for (int i = 0; i < 3; i++) {
		recordings_begin(r);
		if (i == 2)
			list.count = 1;
		assert_int_equal(recording_add_mappings(r, &u, &list), 0);
		recordings_end(r, 1000 * (uint64_t)i);
		list.items[0].counters.bytes[SMAPS_RSS] += 4 * KB;
	}
	list.count = 2;
	recording_close(r);

	read_mappings(1, &some);
	assert_int_equal(some.count, 2);
	read_mappings(2, &some);
	assert_int_equal(some.count, 1);
	assert_true(some.items[0].start_addr == 0x7f0000001000);
	assert_string_equal(some.items[0].name, "/usr/lib/libz.so");
	assert_int_equal(some.items[0].counters.bytes[SMAPS_RSS], 16 * KB);
	assert_int_equal(some.items[0].dev_major, 8);
	assert_int_equal(some.items[0].file_offset_bytes, 4096);
	mapping_list_release(&some);
	mapping_list_release(&list);
	usage_release(&u);
}

static void a_time_bound_keeps_values_that_are_still_valid(void **state)
{
	const struct recording_bounds bounds = { .ns = 10 * NS_PER_S };
	struct recording_reader *reader;
	struct recording *r;
	struct snapshot s;
	size_t count;
	int error = recording_open(recordings_path, &bounds, &r);

	(void)state;
	if (error == -EOPNOTSUPP)
		skip();
	assert_int_equal(error, 0);
	for (uint64_t i = 100; i < 200; i++) {
		recordings_begin(r);
		/* always the same, so only the first sample gets a row */
		recordings_add(r, 5, 100);
		if (i < 120)
			recordings_add(r, 6, i);
		recordings_end(r, 1000 * i);
	}
	recording_close(r);
	assert_int_equal(recording_reader_open(recordings_path, &reader), 0);
	recording_reader_samples(reader, &count);
	assert_in_range(count, 10, 12);
	snapshot_init(&s);
	assert_int_equal(recording_reader_read(reader, 0, &s), 0);
	assert_int_equal(s.count, 1);
	assert_int_equal(s.usages[0].total.bytes[SMAPS_RSS], 100 * KB);
	snapshot_release(&s);
	recording_reader_close(reader);
	assert_int_equal(count_rows("process"), 1);
}

static void a_size_bound_is_respected(void **state)
{
	const struct recording_bounds bounds = { .bytes = 120000 };
	struct recording_reader *reader;
	struct recording *r;
	struct stat st;
	size_t count;
	int error = recording_open(recordings_path, &bounds, &r);

	(void)state;
	if (error == -EOPNOTSUPP)
		skip();
	for (uint64_t i = 0; i < 3000; i++)
		recordings_sample(r, 20 * i, 5, i);
	recording_close(r);
	assert_int_equal(stat(recordings_path, &st), 0);
	assert_in_range(st.st_size, 100000, 170000);
	assert_int_equal(recording_reader_open(recordings_path, &reader), 0);
	recording_reader_samples(reader, &count);
	assert_in_range(count, 500, 2900);
	recording_reader_close(reader);
}

static void other_files_are_refused(void **state)
{
	static const struct recording_bounds none;
	struct recording *r = NULL;
	struct recording_reader *reader;
	char newer[100] = "SQLite format 3", other[200] = "";

	(void)state;
	recordings_open(&r);
	recording_close(r);
	unlink(recordings_path);
	memset(other, 'x', sizeof(other) - 1);
	tree_write(&recordings_tree, "recording", other);
	assert_int_equal(recording_open(recordings_path, &none, &r), -EEXIST);
	assert_int_equal(recording_reader_open(recordings_path, &reader), -EEXIST);
	tree_write(&recordings_tree, "recording", "short");
	assert_int_equal(recording_open(recordings_path, &none, &r), -EEXIST);
	memcpy(newer + 60, "\0\0\0\x63", 4);
	memcpy(newer + 68, "mste", 4);
	tree_write_bytes(&recordings_tree, "recording", newer, sizeof(newer));
	assert_int_equal(recording_open(recordings_path, &none, &r), -ENOTSUP);
	assert_int_equal(recording_open(recordings_tree.root, &none, &r), -EEXIST);
	unlink(recordings_path);
	assert_int_equal(recording_reader_open(recordings_path, &reader), -ENOENT);
}

static void a_truncated_recording_is_damaged(void **state)
{
	struct recording *r;
	struct recording_reader *reader;

	(void)state;
	recordings_open(&r);
	for (uint64_t i = 0; i < 200; i++)
		recordings_sample(r, i, (int)(5 + i), i);
	recording_close(r);
	assert_int_equal(truncate(recordings_path, 9000), 0);
	assert_int_equal(recording_reader_open(recordings_path, &reader), -EBADMSG);
}

static void a_removed_recording_is_an_error(void **state)
{
	struct recording *r;
	const struct recording_moment moment = { .unix_ms = 2 };

	(void)state;
	recordings_open(&r);
	recordings_sample(r, 1, 5, 100);
	unlink(recordings_path);
	recordings_begin(r);
	recordings_add(r, 5, 101);
	assert_int_equal(recording_end(r, &moment), -ENOENT);
	recording_close(r);
}

static void a_recording_can_be_read_while_it_is_written(void **state)
{
	static const struct recording_bounds none;
	struct recording *r, *other;
	struct recording_reader *reader;

	(void)state;
	recordings_open(&r);
	recordings_sample(r, 1, 5, 100);
	assert_int_equal(recording_open(recordings_path, &none, &other), -EBUSY);
	assert_int_equal(recording_reader_open(recordings_path, &reader), 0);
	recording_reader_close(reader);
	recordings_sample(r, 2, 5, 100);
	recording_close(r);
	recordings_open(&r);
	recordings_sample(r, 3, 5, 100);
	recording_close(r);
	assert_int_equal(count_rows("sample"), 3);
	assert_int_equal(count_rows("sample WHERE session=2"), 1);
}

/* Record as fast as possible until killed. After each sample, write its time to fd. */
static void record_for_ever(int fd)
{
	static const struct recording_bounds bounds = { .bytes = 500000 };
	struct recording *r;

	if (recording_open(recordings_path, &bounds, &r) < 0)
		_exit(1);
	for (uint64_t i = 1;; i++) {
		uint64_t ms = 1000 + 50 * i;

		recordings_sample(r, ms, 5, i % 1000);
		if (write(fd, &ms, sizeof(ms)) != sizeof(ms))
			_exit(1);
	}
}

static void kill_one(unsigned int turn)
{
	struct recording_reader *reader;
	const struct recorded_sample *samples;
	struct snapshot s;
	uint64_t last = 0, said;
	size_t count;
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		record_for_ever(fds[1]);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &last, sizeof(last)), sizeof(last));
	/* kill at any point within a sample; no condition depends on this sleep */
	usleep(turn * 137 % 5000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	while (read(fds[0], &said, sizeof(said)) == (ssize_t)sizeof(said))
		last = said;
	close(fds[0]);
	assert_int_equal(recording_reader_open(recordings_path, &reader), 0);
	samples = recording_reader_samples(reader, &count);
	/* the last sample may have been written, but not yet reported */
	assert_in_range(samples[count - 1].moment.unix_ms, last, last + 50);
	snapshot_init(&s);
	assert_int_equal(recording_reader_read(reader, count - 1, &s), 0);
	assert_int_equal(s.usages[0].total.bytes[SMAPS_RSS],
			 (samples[count - 1].moment.unix_ms - 1000) / 50 % 1000 * KB);
	snapshot_release(&s);
	recording_reader_close(reader);
}

static void no_completed_sample_is_lost_when_the_recorder_is_killed(void **state)
{
	struct recording *r;

	(void)state;
	recordings_open(&r);
	recording_close(r);
	for (unsigned int turn = 0; turn < 100; turn++)
		kill_one(turn);
}

static void a_damaged_recording_is_refused_or_read(void **state)
{
	struct recording *r;
	struct stat st;
	char *bytes;
	int fd;

	(void)state;
	recordings_open(&r);
	for (uint64_t i = 0; i < 200; i++)
		recordings_sample(r, i, (int)(5 + i % 3), i);
	recording_close(r);
	fd = open(recordings_path, O_RDWR);
	assert_int_equal(fstat(fd, &st), 0);
	bytes = malloc((size_t)st.st_size);
	assert_int_equal(pread(fd, bytes, (size_t)st.st_size, 0), st.st_size);
	for (unsigned int turn = 0; turn < 200; turn++) {
		struct recording_reader *reader;
		struct snapshot s;
		size_t count;
		off_t at =
			(off_t)((turn * 2654435761u) % (unsigned int)(st.st_size - 64)) +
			64;

		assert_int_equal(pwrite(fd, bytes, (size_t)st.st_size, 0), st.st_size);
		assert_int_equal(pwrite(fd, "\xff\x00\xa5\x7f\x80\x01\x10\xee", 8, at),
				 8);
		if (recording_reader_open(recordings_path, &reader) < 0)
			continue;
		snapshot_init(&s);
		recording_reader_samples(reader, &count);
		for (size_t i = 0; i < count; i += 50)
			(void)recording_reader_read(reader, i, &s);
		snapshot_release(&s);
		recording_reader_close(reader);
	}
	free(bytes);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(recorded_samples_are_read_back,
						recordings_set_up, recordings_tear_down),
		cmocka_unit_test_setup_teardown(unchanged_values_are_written_once,
						recordings_set_up, recordings_tear_down),
		cmocka_unit_test_setup_teardown(mappings_appear_grow_and_vanish,
						recordings_set_up, recordings_tear_down),
		cmocka_unit_test_setup_teardown(
			a_time_bound_keeps_values_that_are_still_valid, recordings_set_up,
			recordings_tear_down),
		cmocka_unit_test_setup_teardown(a_size_bound_is_respected,
						recordings_set_up, recordings_tear_down),
		cmocka_unit_test_setup_teardown(other_files_are_refused,
						recordings_set_up, recordings_tear_down),
		cmocka_unit_test_setup_teardown(a_truncated_recording_is_damaged,
						recordings_set_up, recordings_tear_down),
		cmocka_unit_test_setup_teardown(a_removed_recording_is_an_error,
						recordings_set_up, recordings_tear_down),
		cmocka_unit_test_setup_teardown(
			a_recording_can_be_read_while_it_is_written, recordings_set_up,
			recordings_tear_down),
		cmocka_unit_test_setup_teardown(
			no_completed_sample_is_lost_when_the_recorder_is_killed,
			recordings_set_up, recordings_tear_down),
		cmocka_unit_test_setup_teardown(a_damaged_recording_is_refused_or_read,
						recordings_set_up, recordings_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
