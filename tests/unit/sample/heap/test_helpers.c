/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/helpers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "probe/helper/probe.h"
#include "../../support/unit.h"

/*
 * Stands in for processes with a helper: returns the configured
 * results, and records the requests.
 */
struct probe {
	int pid;
};

static struct {
	int open_result, ask_result, close_result;
	unsigned int open_count, ask_count, close_count;
	unsigned int stops;
	bool may_inject;
	struct probe_question question;
	struct probe probe;
	char reason[64];
} stand_in;

int probe_open(const struct probe_request *request, struct probe **ret,
	       struct probe_cost *ret_cost, const char **ret_reason)
{
	stand_in.open_count++;
	stand_in.may_inject = request->may_inject;
	stand_in.probe.pid = request->pid;
	*ret_reason = "it has a seccomp filter";
	*ret_cost = (struct probe_cost){ .stops = stand_in.stops, .stopped_ns = 300 };
	if (stand_in.open_result == 0)
		*ret = &stand_in.probe;
	return stand_in.open_result;
}

int probe_ask(struct probe *probe, const struct probe_question *question,
	      struct allocator_stats *ret, const char **ret_reason)
{
	assert_ptr_equal(probe, &stand_in.probe);
	stand_in.question = *question;
	snprintf(stand_in.reason, sizeof(stand_in.reason), "refusal %u",
		 stand_in.ask_count++);
	*ret_reason = stand_in.reason;
	if (stand_in.ask_result == 0)
		*ret = (struct allocator_stats){
			.allocator = ALLOCATOR_GLIBC,
			.live_bytes = stand_in.ask_count,
			.taken_ns = clock_now_ns(),
		};
	return stand_in.ask_result;
}

int probe_close(struct probe *probe, struct probe_cost *ret_cost, const char **ret_reason)
{
	assert_ptr_equal(probe, &stand_in.probe);
	stand_in.close_count++;
	*ret_cost = (struct probe_cost){ 0 };
	*ret_reason = "8K of its memory";
	return stand_in.close_result;
}

static struct procfs fs = PROCFS_INIT;

/* Every process is this one: forget_ended() must find it alive. */
static struct process process_of(const char *comm)
{
	struct process p = { .pid = getpid(), .start_ticks = 7 };

	strcpy(p.comm, comm);
	return p;
}

static struct helpers *begin(void)
{
	memset(&stand_in, 0, sizeof(stand_in));
	stand_in.stops = 3;
	return helpers_new(&fs, false, false);
}

static void a_helper_is_opened_once_and_removed_at_the_end(void **state)
{
	struct process p = process_of("x");
	struct helpers *h = begin();
	struct helper_answer answer;

	(void)state;
	for (int i = 0; i < 3; i++) {
		helpers_open(h, &p, &answer);
		helpers_ask(h, &p, 12, &answer);
		assert_true(helper_answer_is_known(&answer));
		assert_int_equal(answer.stats.live_bytes, i + 1);
		assert_true(answer.was_injected);
		assert_int_equal(answer.stop_count, 3);
		assert_int_equal(answer.stopped_ns, 300);
		helper_answer_release(&answer);
	}
	assert_int_equal(stand_in.question.free_chunks, 12);
	assert_false(stand_in.question.allows_stall);
	assert_int_equal(stand_in.open_count, 1);
	assert_int_equal(stand_in.close_count, 0);
	helpers_free(h, NULL, NULL);
	assert_int_equal(stand_in.close_count, 1);
}

static void a_helper_is_injected_only_into_named_processes(void **state)
{
	struct target_pid pids[] = { { .pid = getpid() } };
	const char *names[] = { "y" };
	const struct targets by_pid = { .pids = pids, .pid_count = 1 };
	const struct targets by_name = { .names = names, .name_count = 1 };
	struct process x = process_of("x"), y = process_of("y");
	struct helpers *h = begin();
	struct helper_answer answer;

	(void)state;
	y.start_ticks = 8;
	helpers_open(h, &x, &answer);
	assert_false(stand_in.may_inject);
	helpers_allow(h, &by_name);
	helpers_open(h, &y, &answer);
	assert_true(stand_in.may_inject);
	x.start_ticks = 9;
	helpers_open(h, &x, &answer);
	assert_false(stand_in.may_inject);
	helpers_allow(h, &by_pid);
	x.start_ticks = 10;
	helpers_open(h, &x, &answer);
	assert_true(stand_in.may_inject);
	helpers_free(h, NULL, NULL);
}

static void a_failed_injection_is_reported_and_not_retried_immediately(void **state)
{
	const char *names[] = { "x" };
	struct process p = process_of("x");
	struct helpers *h = begin();
	struct helper_answer answer;

	(void)state;
	helpers_allow(h, &(struct targets){ .names = names, .name_count = 1 });
	stand_in.open_result = -EOPNOTSUPP;
	for (int i = 0; i < 3; i++) {
		helpers_open(h, &p, &answer);
		helpers_ask(h, &p, BYTES_UNKNOWN, &answer);
		assert_false(helper_answer_is_known(&answer));
		assert_int_equal(answer.error, -EOPNOTSUPP);
		assert_string_equal(answer.problem, "it has a seccomp filter");
		assert_false(answer.was_injected);
	}
	assert_int_equal(stand_in.open_count, 1);
	assert_int_equal(stand_in.ask_count, 0);
	helpers_free(h, NULL, NULL);
	assert_int_equal(stand_in.close_count, 0);
}

static void a_refused_stall_names_the_option_that_allows_it(void **state)
{
	struct process p = process_of("x");
	struct helpers *h = begin();
	struct helper_answer first, second;

	(void)state;
	stand_in.ask_result = -EFBIG;
	helpers_open(h, &p, &first);
	helpers_ask(h, &p, 1000000, &first);
	assert_int_equal(first.error, -EFBIG);
	assert_string_equal(first.problem, "refusal 0 (--allow-stall queries it anyway)");
	helpers_open(h, &p, &second);
	helpers_ask(h, &p, 1000000, &second);
	assert_int_equal(stand_in.ask_count, 2);
	/* a sample that is still on the screen refers to the first answer's text */
	assert_ptr_equal(first.problem, second.problem);
	helpers_free(h, NULL, NULL);
}

static void a_helper_that_was_just_queried_repeats_its_answer(void **state)
{
	struct process p = process_of("x");
	struct helpers *h = begin();
	struct helper_answer answer;

	(void)state;
	stand_in.ask_result = -EAGAIN;
	helpers_open(h, &p, &answer);
	helpers_ask(h, &p, BYTES_UNKNOWN, &answer);
	assert_int_equal(answer.error, -EAGAIN); /* no figures have arrived yet */
	stand_in.ask_result = 0;
	helpers_open(h, &p, &answer);
	helpers_ask(h, &p, BYTES_UNKNOWN, &answer);
	stand_in.ask_result = -EAGAIN;
	helpers_open(h, &p, &answer);
	helpers_ask(h, &p, BYTES_UNKNOWN, &answer);
	assert_true(helper_answer_is_known(&answer));
	assert_int_equal(answer.stats.live_bytes, 2);
	helpers_free(h, NULL, NULL);
}

static void a_helper_with_invalid_answers_is_closed(void **state)
{
	const char *names[] = { "x" };
	struct process p = process_of("x");
	struct helpers *h = begin();
	struct helper_answer answer;

	(void)state;
	helpers_allow(h, &(struct targets){ .names = names, .name_count = 1 });
	stand_in.ask_result = -EPROTO;
	helpers_open(h, &p, &answer);
	helpers_ask(h, &p, BYTES_UNKNOWN, &answer);
	assert_int_equal(answer.error, -EPROTO);
	assert_int_equal(stand_in.close_count, 1);
	helpers_open(h, &p, &answer);
	assert_int_equal(answer.error, -EPROTO);
	assert_int_equal(stand_in.open_count, 1);
	helpers_free(h, NULL, NULL);
	assert_int_equal(stand_in.close_count, 1);
}

static void note_left(void *context, int pid, const char *what)
{
	assert_int_equal(pid, getpid());
	assert_string_equal(what, "8K of its memory");
	++*(int *)context;
}

static void leftovers_are_reported_unless_the_process_has_ended(void **state)
{
	struct process p = process_of("x");
	struct helper_answer answer;
	struct helpers *h;
	int count = 0;

	(void)state;
	h = begin();
	stand_in.close_result = -EAGAIN;
	helpers_open(h, &p, &answer);
	helpers_free(h, note_left, &count);
	assert_int_equal(count, 1);
	h = begin();
	stand_in.close_result = -ESRCH;
	helpers_open(h, &p, &answer);
	helpers_free(h, note_left, &count);
	assert_int_equal(count, 1);
}

/* Set the limit on open files, and return the limit before. */
static rlim_t limit_files(rlim_t count)
{
	struct rlimit limit;
	rlim_t before;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	before = limit.rlim_cur;
	limit.rlim_cur = count;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return before;
}

static void a_lack_of_descriptors_is_reported(void **state)
{
	struct process p = process_of("x");
	rlim_t before = limit_files(0);
	struct helpers *h = begin();
	struct helper_answer answer;

	(void)state;
	limit_files(before);
	helpers_open(h, &p, &answer);
	assert_int_equal(answer.error, -EMFILE);
	assert_non_null(strstr(answer.problem, "cannot open more files"));
	helpers_ask(h, &p, BYTES_UNKNOWN, &answer);
	assert_int_equal(stand_in.open_count, 0);
	assert_int_equal(stand_in.ask_count, 0);
	helpers_free(h, NULL, NULL);
}

static void a_lack_of_descriptors_does_not_drop_helpers(void **state)
{
	struct process p = process_of("x"), q = process_of("y");
	struct helpers *h = begin();
	struct helper_answer answer;
	rlim_t before;

	(void)state;
	q.start_ticks = 8;
	helpers_open(h, &p, &answer);
	before = limit_files(0);
	helpers_open(h, &q, &answer);
	limit_files(before);
	assert_int_equal(stand_in.close_count, 0);
	helpers_free(h, NULL, NULL);
	assert_int_equal(stand_in.close_count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_helper_is_opened_once_and_removed_at_the_end),
		cmocka_unit_test(a_helper_is_injected_only_into_named_processes),
		cmocka_unit_test(
			a_failed_injection_is_reported_and_not_retried_immediately),
		cmocka_unit_test(a_refused_stall_names_the_option_that_allows_it),
		cmocka_unit_test(a_helper_that_was_just_queried_repeats_its_answer),
		cmocka_unit_test(a_helper_with_invalid_answers_is_closed),
		cmocka_unit_test(leftovers_are_reported_unless_the_process_has_ended),
		cmocka_unit_test(a_lack_of_descriptors_is_reported),
		cmocka_unit_test(a_lack_of_descriptors_does_not_drop_helpers),
	};
	int failed;

	if (procfs_open(&fs, "/proc") < 0)
		return 99;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	procfs_release(&fs);
	return failed;
}
