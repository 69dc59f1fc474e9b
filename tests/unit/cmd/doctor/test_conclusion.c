/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../../support/unit.h"

#include <string.h>

#include "cmd/doctor/conclusion.h"

static const struct next_place place = { .options = " --procfs d" };

/* The answer to a check of this name, which is needed if it is smaps. */
struct answered {
	const char *name;
	enum answer answer;
	const char *fix;
};

static void answers_decide_sentence_and_command(void **state)
{
	static const struct {
		struct answered answers[3];
		int pid;
		const char *text, *next;
	} rows[] = {
		{ { { "smaps", ANSWER_YES, NULL }, { "heap", ANSWER_YES, NULL } },
		  7,
		  "Everything works: all 2 checks succeeded.",
		  "memstate --procfs d -p 7" },
		{ { { "smaps", ANSWER_YES, NULL }, { "heap", ANSWER_UNKNOWN, NULL } },
		  0,
		  "Nothing is missing: 1 of 2 checks succeeded; unknown: heap.",
		  "memstate --procfs d" },
		{ { { "smaps", ANSWER_YES, NULL },
		    { "swap", ANSWER_NO, NULL },
		    { "trace", ANSWER_PARTLY, NULL } },
		  0,
		  "Memory can be measured. 2 of 3 checks found a limit: swap, trace.",
		  "memstate --procfs d" },
		{ { { "smaps", ANSWER_YES, NULL },
		    { "all_processes", ANSWER_PARTLY, "be root" } },
		  0,
		  "Memory can be measured. 1 of 2 checks found a limit: all_processes. An arrow "
		  "marks what to do.",
		  "" },
		{ { { "smaps", ANSWER_NO, "be root" }, { "heap", ANSWER_NO, NULL } },
		  7,
		  "Memory cannot be read: the smaps check failed; be root.",
		  "" },
		{ { { "heap", ANSWER_YES, NULL }, { "smaps", ANSWER_NO, NULL } },
		  7,
		  "Memory cannot be read: the smaps check failed.",
		  "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct process process = { .pid = rows[i].pid, .state = 'S' };
		struct doctor_answers answers = { 0 };
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;

		for (size_t a = 0; a < 3 && rows[i].answers[a].name; a++) {
			const struct answered *one = &rows[i].answers[a];
			const struct check check = { .name = one->name,
						     .is_needed = one->name[1] == 'm' };
			const struct finding finding = { .answer = one->answer,
							 .fix = one->fix };

			doctor_answers_add(&answers, &check, &finding);
		}
		doctor_conclude(&c, &answers, rows[i].pid ? &process : NULL, &place);
		assert_string_equal(c.text.text, rows[i].text);
		assert_string_equal(strbuf_text(&c.next), rows[i].next);
		doctor_answers_release(&answers);
	}
}

static void heaps_that_cannot_be_read_are_named(void **state)
{
	static const struct {
		struct heap heaps[3];
		const char *sentence;
	} rows[] = {
		{ { { .allocator = ALLOCATOR_GLIBC, .quality = QUALITY_ESTIMATE } }, "" },
		{ { { .allocator = ALLOCATOR_MIMALLOC } },
		  " memstate cannot read its heap: mimalloc." },
		{ { { .allocator = ALLOCATOR_GLIBC, .quality = QUALITY_ESTIMATE },
		    { .allocator = ALLOCATOR_ERLANG },
		    { .allocator = ALLOCATOR_HOTSPOT } },
		  " memstate cannot read 2 of 3 heaps: Erlang allocators, Java heap." },
	};
	static const char first[] = "Everything works: all 4 checks succeeded.";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct process process = { .pid = 7, .state = 'S' };
		struct doctor_answers answers = { .check_count = 4, .yes_count = 4 };
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;

		for (size_t k = 0; k < 3 && rows[i].heaps[k].allocator; k++)
			doctor_answers_add_heap(&answers, &rows[i].heaps[k]);
		doctor_conclude(&c, &answers, &process, &place);
		assert_memory_equal(c.text.text, first, strlen(first));
		assert_string_equal(c.text.text + strlen(first), rows[i].sentence);
		doctor_answers_release(&answers);
	}
}

static void a_kernel_thread_has_nothing_to_measure(void **state)
{
	const struct process process = { .pid = 2, .is_kernel_thread = true };
	const struct doctor_answers answers = { .check_count = 6, .yes_count = 4 };
	_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;

	(void)state;
	doctor_conclude(&c, &answers, &process, &place);
	assert_string_equal(c.text.text,
			    "A kernel thread, which has no memory of its own.");
	assert_int_equal(c.next.length, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_decide_sentence_and_command),
		cmocka_unit_test(heaps_that_cannot_be_read_are_named),
		cmocka_unit_test(a_kernel_thread_has_nothing_to_measure),
	};

	return cmocka_run_group_tests_name("doctor_conclusion", tests, NULL, NULL);
}
