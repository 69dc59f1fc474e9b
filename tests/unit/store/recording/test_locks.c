/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Readers and writers of a recording in several processes, which
 * must respect SQLite's locks.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../support/recordings.h"
#include "store/recording/read.h"
#include "../../support/unit.h"

#define SAMPLES 50

static bool has_log(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s-wal", recordings_path);
	return access(path, F_OK) == 0;
}

/* A process that records, one step for each byte that it reads. */
struct writer {
	pid_t pid;
	int to, from;
};

static void wait_for_byte(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		_exit(2);
}

static void writer_run(int in, int out)
{
	static const struct recording_bounds none;
	struct recording *r;

	if (recording_open(recordings_path, &none, &r) < 0)
		_exit(1);
	for (uint64_t i = 1; i <= SAMPLES; i++)
		recordings_sample(r, i, 5, i);
	if (write(out, "w", 1) != 1)
		_exit(1);
	wait_for_byte(in);
	recording_close(r);
	_exit(0);
}

static void writer_start(struct writer *w)
{
	int in[2], out[2];
	char byte;

	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	w->pid = fork();
	assert_true(w->pid >= 0);
	if (w->pid == 0) {
		close(in[1]);
		close(out[0]);
		writer_run(in[0], out[1]);
	}
	close(in[0]);
	close(out[1]);
	w->to = in[1];
	w->from = out[0];
	assert_int_equal(read(w->from, &byte, 1), 1);
}

static void writer_end(struct writer *w)
{
	int status;

	assert_int_equal(write(w->to, "e", 1), 1);
	assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
	assert_int_equal(status, 0);
	close(w->to);
	close(w->from);
}

static void skip_without_sqlite(void)
{
	struct recording *r;

	recordings_open(&r);
	recording_close(r);
	unlink(recordings_path);
}

static void assert_last_rss(struct recording_reader *reader, uint64_t rss_kb)
{
	struct snapshot s;
	size_t count;

	recording_reader_samples(reader, &count);
	snapshot_init(&s);
	assert_int_equal(recording_reader_read(reader, count - 1, &s), 0);
	assert_int_equal(s.count, 1);
	assert_int_equal(s.usages[0].total.bytes[SMAPS_RSS], rss_kb * KB);
	snapshot_release(&s);
}

static void the_log_is_kept_while_there_is_a_reader(void **state)
{
	struct recording_reader *reader;
	struct writer writer;

	(void)state;
	skip_without_sqlite();
	writer_start(&writer);
	assert_int_equal(recording_reader_open(recordings_path, &reader), 0);
	assert_true(has_log());
	writer_end(&writer);
	assert_true(has_log());
	assert_last_rss(reader, SAMPLES);
	recording_reader_close(reader);
}

static void closing_a_reader_keeps_the_locks_of_another(void **state)
{
	struct recording_reader *one, *two, *refused;
	struct recording *r;
	static const struct recording_bounds none;
	struct writer writer;

	(void)state;
	skip_without_sqlite();
	writer_start(&writer);
	assert_int_equal(recording_reader_open(recordings_path, &one), 0);
	assert_int_equal(recording_reader_open(recordings_path, &two), 0);
	assert_int_equal(recording_open(recordings_path, &none, &r), -EBUSY);
	recording_reader_close(two);
	assert_int_equal(recording_reader_open(recordings_tree.root, &refused), -EEXIST);
	writer_end(&writer);
	assert_true(has_log());
	assert_last_rss(one, SAMPLES);
	recording_reader_close(one);
}

/*
 * A writer that opens the file must not reset the log while a
 * scan in this process reads it.
 */
static void a_second_recorder_does_not_reset_the_log(void **state)
{
	struct recording_reader *reader;
	struct writer first, second;
	struct snapshot s;
	size_t count;

	(void)state;
	skip_without_sqlite();
	writer_start(&first);
	assert_int_equal(recording_reader_open(recordings_path, &reader), 0);
	recording_reader_samples(reader, &count);
	assert_int_equal(count, SAMPLES);
	snapshot_init(&s);
	recording_reader_scan(reader, true);
	assert_int_equal(recording_reader_read(reader, 0, &s), 0);
	writer_end(&first);
	assert_true(has_log());
	writer_start(&second);
	writer_end(&second);
	for (size_t i = 1; i < count; i++) {
		assert_int_equal(recording_reader_read(reader, i, &s), 0);
		assert_int_equal(s.count, 1);
		assert_int_equal(s.usages[0].total.bytes[SMAPS_RSS], (i + 1) * KB);
	}
	snapshot_release(&s);
	recording_reader_close(reader);
	assert_true(has_log()); /* a read-only connection cannot delete the log */
}

/* Without readers the writer removes the log, because no lock of this process is left. */
static void the_log_is_removed_after_the_last_reader(void **state)
{
	struct recording_reader *reader;
	struct writer writer;

	(void)state;
	skip_without_sqlite();
	writer_start(&writer);
	assert_int_equal(recording_reader_open(recordings_path, &reader), 0);
	recording_reader_close(reader);
	writer_end(&writer);
	assert_false(has_log());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_log_is_kept_while_there_is_a_reader,
						recordings_set_up, recordings_tear_down),
		cmocka_unit_test_setup_teardown(
			closing_a_reader_keeps_the_locks_of_another, recordings_set_up,
			recordings_tear_down),
		cmocka_unit_test_setup_teardown(a_second_recorder_does_not_reset_the_log,
						recordings_set_up, recordings_tear_down),
		cmocka_unit_test_setup_teardown(the_log_is_removed_after_the_last_reader,
						recordings_set_up, recordings_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
