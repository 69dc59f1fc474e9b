/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/recording/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "proc/smaps/smaps.h"
#include "sample/process/process_notes.h"
#include "sample/recording/replay.h"
#include "../../support/made_proc.h"
#include "../../support/recordings.h"
#include "../../support/smaps_texts.h"
#include "../../support/unit.h"

#define SHARE_PER_MILLE 10
static struct sampler *sampler;
static struct recorder *recorder;
static struct snapshot snapshot;
static struct targets targets;
static struct target_pid pids[2];
static struct replay *replay;

/* The results of the replaced functions. */
static uint64_t now_ns, smaps_ns, rollup_ns;
static int usage_error, mappings_error, end_error, smaps_count;

uint64_t __wrap_clock_now_ns(void);
int __real_proc_smaps_read(struct smaps_reader *reader, const struct procfs *from,
			   int pid, mapping_fn fn, void *context, uint64_t *ret_read_ns);
int __wrap_proc_smaps_read(struct smaps_reader *reader, const struct procfs *from,
			   int pid, mapping_fn fn, void *context, uint64_t *ret_read_ns);
int __real_proc_rollup_read(struct smaps_reader *reader, const struct procfs *from,
			    int pid, struct counters *ret, uint64_t *ret_read_ns);
int __wrap_proc_rollup_read(struct smaps_reader *reader, const struct procfs *from,
			    int pid, struct counters *ret, uint64_t *ret_read_ns);
int __real_recording_add_usage(struct recording *r, const struct usage *u);
int __wrap_recording_add_usage(struct recording *r, const struct usage *u);
int __real_recording_add_mappings(struct recording *r, const struct usage *u,
				  const struct mapping_list *mappings);
int __wrap_recording_add_mappings(struct recording *r, const struct usage *u,
				  const struct mapping_list *mappings);

int __real_recording_end(struct recording *r, const struct recording_moment *moment);
int __wrap_recording_end(struct recording *r, const struct recording_moment *moment);

uint64_t __wrap_clock_now_ns(void)
{
	return now_ns;
}

int __wrap_proc_smaps_read(struct smaps_reader *reader, const struct procfs *from,
			   int pid, mapping_fn fn, void *context, uint64_t *ret_read_ns)
{
	int r = __real_proc_smaps_read(reader, from, pid, fn, context, ret_read_ns);

	smaps_count++;
	*ret_read_ns = smaps_ns;
	return r;
}

int __wrap_proc_rollup_read(struct smaps_reader *reader, const struct procfs *from,
			    int pid, struct counters *ret, uint64_t *ret_read_ns)
{
	int r = __real_proc_rollup_read(reader, from, pid, ret, ret_read_ns);

	*ret_read_ns = rollup_ns * (uint64_t)pid;
	return r;
}

int __wrap_recording_add_usage(struct recording *r, const struct usage *u)
{
	return usage_error ? usage_error : __real_recording_add_usage(r, u);
}

int __wrap_recording_add_mappings(struct recording *r, const struct usage *u,
				  const struct mapping_list *mappings)
{
	return mappings_error ? mappings_error
			      : __real_recording_add_mappings(r, u, mappings);
}

int __wrap_recording_end(struct recording *r, const struct recording_moment *moment)
{
	return end_error ? end_error : __real_recording_end(r, moment);
}

static int begin(void **state)
{
	recordings_set_up(state);
	if (made_proc_set_up(state) < 0)
		return -1;
	snapshot_init(&snapshot);
	memset(pids, 0, sizeof(pids));
	targets = (struct targets){ .pids = pids, .pid_count = 1 };
	pids[0].pid = 7;
	now_ns = 1000 * NS_PER_S;
	smaps_ns = 2 * NS_PER_MS;
	rollup_ns = 0;
	usage_error = mappings_error = end_error = smaps_count = 0;
	recorder = NULL;
	replay = NULL;
	sampler = sampler_new(&made_fs, false);
	return 0;
}

static int end(void **state)
{
	recorder_close(recorder);
	if (replay)
		replay_close(replay);
	sampler_free(sampler);
	snapshot_release(&snapshot);
	made_proc_tear_down(state);
	return recordings_tear_down(state);
}

static void record(unsigned int share_per_mille)
{
	static const struct recording_bounds none;
	int r = recorder_open(recordings_path, &none, share_per_mille, sampler,
			      &recorder);

	if (r == -EOPNOTSUPP)
		skip();
	assert_int_equal(r, 0);
}

static void write_process(int pid, char state, int start)
{
	made_proc_write_stat(pid, "p", state, 1, start);
	made_proc_write_memory(pid);
}

static int take_sample(void)
{
	recorder_begin(recorder);
	assert_int_equal(sampler_take(sampler, &targets, RECORDER_NEEDS, &snapshot), 0);
	return recorder_end(recorder, &snapshot, NULL);
}

static void pass_ms(uint64_t ms)
{
	now_ns += ms * NS_PER_MS;
}

static void close_and_replay(size_t sample_count)
{
	recorder_close(recorder);
	recorder = NULL;
	assert_int_equal(replay_open(recordings_path, &replay), 0);
	assert_int_equal(replay_count(replay), sample_count);
}

static const struct usage *recorded(size_t sample, int pid)
{
	const struct targets all = { .pid_count = 0 };
	const struct usage *u;

	assert_int_equal(replay_read(replay, sample, &all, &snapshot), 0);
	u = snapshot_find(&snapshot, pid);
	assert_non_null(u);
	return u;
}

/* 2 ms in 200 ms are 10 per mille. The totals are in every sample. */
static void mappings_are_read_as_often_as_the_share_allows(void **state)
{
	static const struct {
		uint64_t wait_ms;
		enum source source;
		uint64_t rss_kib;
	} rows[] = {
		{ 0, SOURCE_SMAPS, 200 },   { 199, SOURCE_ROLLUP, 64 },
		{ 1, SOURCE_SMAPS, 200 },   { 1, SOURCE_ROLLUP, 64 },
		{ 199, SOURCE_SMAPS, 200 },
	};

	(void)state;
	record(SHARE_PER_MILLE);
	write_process(7, 'S', 100);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		pass_ms(rows[i].wait_ms);
		assert_int_equal(take_sample(), 0);
		assert_int_equal(snapshot.usages[0].source, rows[i].source);
	}
	close_and_replay(ARRAY_SIZE(rows));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct usage *u = recorded(i, 7);

		assert_int_equal(u->source, rows[i].source);
		assert_true(u->total.bytes[SMAPS_RSS] == KIB(rows[i].rss_kib));
		assert_true((matrix_owner_bytes(&u->matrix, OWNER_STACK) == KIB(100)) ==
			    (rows[i].source == SOURCE_SMAPS));
	}
}

static void without_a_share_mappings_are_read_once(void **state)
{
	(void)state;
	record(SHARE_PER_MILLE);
	recorder_set_share(recorder, 0);
	write_process(7, 'S', 100);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(take_sample(), 0);
		assert_int_equal(snapshot.usages[0].source,
				 i == 0 ? SOURCE_SMAPS : SOURCE_ROLLUP);
		pass_ms(UINT64_C(3600000));
	}
}

static void a_new_process_with_a_reused_pid_has_its_own_turn(void **state)
{
	(void)state;
	record(SHARE_PER_MILLE);
	targets.pid_count = 0;
	write_process(7, 'S', 100);
	assert_int_equal(take_sample(), 0);
	pass_ms(1);
	write_process(7, 'S', 101);
	assert_int_equal(take_sample(), 0);
	assert_int_equal(snapshot.usages[0].source, SOURCE_SMAPS);
	/* the turn of the former process is forgotten */
	pass_ms(1);
	write_process(7, 'S', 100);
	assert_int_equal(take_sample(), 0);
	assert_int_equal(snapshot.usages[0].source, SOURCE_SMAPS);
}

static void only_samples_that_were_begun_are_recorded(void **state)
{
	(void)state;
	record(SHARE_PER_MILLE);
	write_process(7, 'S', 100);
	assert_int_equal(sampler_take(sampler, &targets, RECORDER_NEEDS, &snapshot), 0);
	assert_int_equal(snapshot.usages[0].source, SOURCE_ROLLUP);
	assert_int_equal(take_sample(), 0);
	assert_int_equal(snapshot.usages[0].source, SOURCE_SMAPS);
	pass_ms(1000);
	assert_int_equal(sampler_take(sampler, &targets, RECORDER_NEEDS, &snapshot), 0);
	assert_int_equal(snapshot.usages[0].source, SOURCE_ROLLUP);
	close_and_replay(1);
	/* the sampler no longer passes mappings to the closed recorder */
	assert_int_equal(
		sampler_take(sampler, &targets, NEED_STAT | NEED_SMAPS, &snapshot), 0);
}

static void a_sample_that_fails_is_left_out_and_the_next_one_is_kept(void **state)
{
	(void)state;
	record(SHARE_PER_MILLE);
	write_process(7, 'S', 100);
	mappings_error = -ENOSPC;
	assert_int_equal(take_sample(), -ENOSPC);
	assert_int_equal(recorder_error(recorder), -ENOSPC);
	mappings_error = 0;
	usage_error = -EFBIG;
	pass_ms(1);
	assert_int_equal(take_sample(), -EFBIG);
	usage_error = 0;
	pass_ms(10);
	assert_int_equal(take_sample(), 0);
	assert_int_equal(recorder_error(recorder), 0);
	pass_ms(30);
	assert_int_equal(take_sample(), 0);
	end_error = -EIO;
	assert_int_equal(take_sample(), -EIO);
	close_and_replay(2);
}

static int store_note(void *context, const struct recorded_note *note)
{
	assert_int_equal(note->process.pid, 7);
	assert_string_equal(note->kind, NOTE_OPTION);
	assert_string_equal(note->text, "JAVA_TOOL_OPTIONS -Xmx64m");
	++*(int *)context;
	return 0;
}

/* Notes are written with the first sample, or with the next one if that one failed. */
static void notes_of_a_sample_that_fails_are_recorded_again(void **state)
{
	static const char variable[] = "JAVA_TOOL_OPTIONS=-Xmx64m";
	char path[] = "/a";
	struct cgroup_level level = { .path = path };
	struct cgroup cgroup;

	(void)state;
	cgroup_init(&cgroup);
	cgroup.levels = &level;
	cgroup.level_count = 1;
	for (int has_failed = 0; has_failed < 2; has_failed++) {
		struct recording_reader *reader;
		int count = 0;

		record(SHARE_PER_MILLE);
		recorder_set_notes(recorder, &made_fs);
		write_process(7, 'S', 100);
		made_proc_write(7, "cmdline", "java");
		tree_write_bytes(&made_tree, "7/environ", variable, sizeof(variable));
		for (int i = 0; i < 3; i++) {
			end_error = has_failed && i == 0 ? -ENOSPC : 0;
			recorder_begin(recorder);
			assert_int_equal(sampler_take(sampler, &targets, RECORDER_NEEDS,
						      &snapshot),
					 0);
			assert_int_equal(recorder_end(recorder, &snapshot, &cgroup),
					 end_error);
			pass_ms(1);
		}
		recorder_close(recorder);
		recorder = NULL;
		assert_int_equal(recording_reader_open(recordings_path, &reader), 0);
		assert_int_equal(
			recording_reader_for_each_note(reader, store_note, &count), 0);
		assert_int_equal(count, 1);
		recording_reader_close(reader);
		tree_delete(&recordings_tree, "recording");
	}
}

static void times_count_from_the_first_sample(void **state)
{
	const struct recorded_sample *samples;
	struct recording_reader *reader;
	size_t count;

	(void)state;
	record(SHARE_PER_MILLE);
	write_process(7, 'S', 100);
	assert_int_equal(take_sample(), 0);
	pass_ms(30);
	assert_int_equal(take_sample(), 0);
	recorder_close(recorder);
	recorder = NULL;
	assert_int_equal(recording_reader_open(recordings_path, &reader), 0);
	samples = recording_reader_samples(reader, &count);
	assert_int_equal(count, 2);
	assert_true(samples[0].moment.elapsed_ns == 0);
	assert_true(samples[1].moment.elapsed_ns == 30 * NS_PER_MS);
	recording_reader_close(reader);
}

static int count_event(void *context, const struct recorded_event *event)
{
	assert_string_equal(event->kind, "made");
	++*(int *)context;
	return 0;
}

static void events_are_recorded_during_and_between_samples(void **state)
{
	const struct recorded_event event = { 1000, "made", NULL, 7 };
	int count = 0;

	(void)state;
	record(SHARE_PER_MILLE);
	write_process(7, 'S', 100);
	assert_int_equal(take_sample(), 0);
	assert_int_equal(recorder_add_event(recorder, &event), 0);
	recorder_begin(recorder);
	assert_int_equal(recorder_add_event(recorder, &event), 0);
	assert_int_equal(sampler_take(sampler, &targets, RECORDER_NEEDS, &snapshot), 0);
	assert_int_equal(recorder_end(recorder, &snapshot, NULL), 0);
	close_and_replay(2);
	assert_int_equal(replay_for_each_event(replay, count_event, &count), 0);
	assert_int_equal(count, 2);
}

/* Mappings that the caller has just read are recorded without a second read. */
static void a_known_process_is_not_read_again(void **state)
{
	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct recorder_known known = { NULL, &mappings, NULL };
	struct usage usage;

	(void)state;
	record(SHARE_PER_MILLE);
	targets.pid_count = 0;
	write_process(7, 'S', 100);
	write_process(8, 'S', 100);
	write_process(9, 'Z', 100);
	usage_init(&usage);
	usage.process.pid = 7;
	usage.process.start_ticks = 100;
	usage.process.state = 'S';
	assert_int_equal(sampler_read_mappings(sampler, &usage, &mappings), 0);
	known.usage = &usage;
	smaps_count = 0;
	assert_int_equal(recorder_take(recorder, &targets, &known), 0);
	assert_int_equal(smaps_count, 1);
	/* another process with that pid is read */
	usage.process.start_ticks = 99;
	pass_ms(1000);
	assert_int_equal(recorder_take(recorder, &targets, &known), 0);
	assert_int_equal(smaps_count, 3);
	usage_release(&usage);
	mapping_list_release(&mappings);
	close_and_replay(2);
	assert_int_equal(recorded(0, 7)->source, SOURCE_SMAPS);
	assert_int_equal(recorded(0, 8)->source, SOURCE_SMAPS);
	assert_int_equal(snapshot.count, 2);
}

static void the_interval_follows_the_most_expensive_process(void **state)
{
	const struct recorder_known nothing = { NULL, NULL, NULL };

	(void)state;
	record(SHARE_PER_MILLE);
	pids[0].pid = 8;
	pids[1].pid = 7;
	targets.pid_count = 2;
	write_process(7, 'S', 100);
	write_process(8, 'S', 100);
	assert_int_equal(recorder_take(recorder, &targets, &nothing), 0);
	assert_true(recorder_min_interval_ns(recorder, 10) == 200 * NS_PER_MS);
	assert_true(recorder_min_interval_ns(recorder, 0) == 0);
	/* mappings are not due: a rollup costs 80 and 70 us */
	rollup_ns = 10 * NS_PER_US;
	pass_ms(1);
	assert_int_equal(recorder_take(recorder, &targets, &nothing), 0);
	assert_true(recorder_min_interval_ns(recorder, 10) == 8 * NS_PER_MS);
}

static void the_last_sample_of_ended_targets_is_empty(void **state)
{
	const struct recorder_known nothing = { NULL, NULL, NULL };

	(void)state;
	record(SHARE_PER_MILLE);
	write_process(7, 'S', 100);
	assert_int_equal(recorder_take(recorder, &targets, &nothing), 0);
	assert_false(recorder_has_ended(recorder));
	tree_delete(&made_tree, "7");
	pass_ms(5);
	assert_int_equal(recorder_take(recorder, &targets, &nothing), 0);
	assert_true(recorder_has_ended(recorder));
	close_and_replay(2);
	assert_int_equal(
		replay_read(replay, 1, &(struct targets){ .pid_count = 0 }, &snapshot),
		0);
	assert_int_equal(snapshot.count, 0);
}

static void only_a_recording_is_opened(void **state)
{
	static const struct recording_bounds none;

	(void)state;
	record(SHARE_PER_MILLE);
	recorder_close(recorder);
	recorder = NULL;
	tree_write(&recordings_tree, "recording", "not a recording\n");
	assert_int_equal(recorder_open(recordings_path, &none, SHARE_PER_MILLE, sampler,
				       &recorder),
			 -EEXIST);
	assert_null(recorder);
}

#define test(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(mappings_are_read_as_often_as_the_share_allows),
		test(without_a_share_mappings_are_read_once),
		test(a_new_process_with_a_reused_pid_has_its_own_turn),
		test(only_samples_that_were_begun_are_recorded),
		test(a_sample_that_fails_is_left_out_and_the_next_one_is_kept),
		test(notes_of_a_sample_that_fails_are_recorded_again),
		test(times_count_from_the_first_sample),
		test(events_are_recorded_during_and_between_samples),
		test(a_known_process_is_not_read_again),
		test(the_interval_follows_the_most_expensive_process),
		test(the_last_sample_of_ended_targets_is_empty),
		test(only_a_recording_is_opened),
	};

	return cmocka_run_group_tests_name("recorder", tests, NULL, NULL);
}
