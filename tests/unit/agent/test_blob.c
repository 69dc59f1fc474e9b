/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "agent/helper/abi.h"

#include <errno.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/blob.h"
#include "../support/unit.h"

#define WAITS 6000 /* waits of 10 ms each: only a hang takes this long */

/*
 * The helper as it runs in another process: a copy of the blob,
 * a control page and a thread.
 */
struct inside {
	void *code;
	size_t code_bytes;
	struct agent_page *page;
	pthread_t thread;
};

static void start(struct inside *in, const struct agent_functions *functions,
		  uint32_t idle_ms)
{
	size_t bytes;
	const void *blob = agent_blob(&bytes);
	struct agent_blob_head *head;

	if (!blob)
		skip();
	in->code_bytes = bytes;
	in->code = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	in->page = mmap(NULL, AGENT_PAGE_BYTES, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(in->code, MAP_FAILED);
	assert_ptr_not_equal(in->page, MAP_FAILED);
	head = memcpy(in->code, blob, bytes);
	head->functions = *functions;
	assert_int_equal(mprotect(in->code, bytes, PROT_READ | PROT_EXEC), 0);
	in->page->idle_ms = idle_ms;
	in->page->state = AGENT_STARTING;
	assert_int_equal(pthread_create(&in->thread, NULL,
					(void *(*)(void *))((uintptr_t)in->code +
							    head->entry_offset),
					in->page),
			 0);
}

static void finish(struct inside *in)
{
	pthread_join(in->thread, NULL);
	munmap(in->code, in->code_bytes);
	munmap(in->page, AGENT_PAGE_BYTES);
}

static void await_state(const struct inside *in, uint32_t state)
{
	for (int i = 0; __atomic_load_n(&in->page->state, __ATOMIC_SEQ_CST) != state;
	     i++) {
		assert_true(i < WAITS);
		usleep(10000);
	}
}

static int32_t ask(const struct inside *in, uint32_t command)
{
	struct agent_page *page = in->page;
	uint32_t seq = page->request_seq + 1;

	page->command = command;
	__atomic_store_n(&page->request_seq, seq, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &page->request_seq, FUTEX_WAKE, 1, NULL);
	for (int i = 0; __atomic_load_n(&page->reply_seq, __ATOMIC_SEQ_CST) != seq; i++) {
		assert_true(i < WAITS);
		usleep(10000);
	}
	return page->error;
}

static const struct agent_functions no_functions;

static void the_blob_head_describes_the_blob(void **state)
{
	size_t bytes;
	const struct agent_blob_head *head = agent_blob(&bytes);

	(void)state;
	if (!head)
		skip();
	assert_int_equal(head->magic, AGENT_MAGIC);
	assert_int_equal(head->version, AGENT_VERSION);
	assert_int_equal(head->size_bytes, bytes);
	assert_in_range(head->entry_offset, sizeof(*head), bytes - 1);
	assert_memory_equal(&head->functions, &no_functions, sizeof(no_functions));
}

static void a_copied_helper_answers_and_exits_on_request(void **state)
{
	struct inside in;

	(void)state;
	start(&in, &no_functions, AGENT_IDLE_MS);
	await_state(&in, AGENT_READY);
	assert_int_equal(in.page->commands, 1 << AGENT_PING | 1 << AGENT_EXIT);
	assert_int_equal(ask(&in, AGENT_PING), 0);
	assert_int_equal(ask(&in, AGENT_EXIT), 0);
	await_state(&in, AGENT_LEAVING);
	assert_int_equal(in.page->beat, 2);
	finish(&in);
}

static void commands_without_a_function_are_refused(void **state)
{
	struct inside in;

	(void)state;
	start(&in, &no_functions, AGENT_IDLE_MS);
	for (uint32_t c = AGENT_MALLINFO2; c <= AGENT_COMMAND_COUNT_; c++)
		assert_int_equal(ask(&in, c), -ENOSYS);
	assert_int_equal(ask(&in, UINT32_MAX), -ENOSYS);
	ask(&in, AGENT_EXIT);
	finish(&in);
}

static void an_idle_helper_exits(void **state)
{
	struct inside in;

	(void)state;
	start(&in, &no_functions, 20);
	await_state(&in, AGENT_LEAVING);
	finish(&in);
}

static struct mallinfo2 given = { 1, 2, 3, 4, 5, 6, 7, 8, 9, SIZE_MAX };

static struct mallinfo2 give_mallinfo2(void)
{
	return given;
}

static void all_fields_of_mallinfo2_are_returned(void **state)
{
	struct agent_functions functions = { { [AGENT_FN_MALLINFO2] =
						       (uintptr_t)give_mallinfo2 } };
	struct inside in;

	(void)state;
	start(&in, &functions, AGENT_IDLE_MS);
	assert_int_equal(ask(&in, AGENT_MALLINFO2), 0);
	assert_int_equal(in.page->known, (1 << 10) - 1);
	assert_memory_equal(in.page->values, &given, sizeof(given));
	ask(&in, AGENT_EXIT);
	finish(&in);
}

static struct agent_page *scribbled;

static void write_much(void (*write)(const char *, void *), void *arg)
{
	static char line[101];

	memset(line, 'x', sizeof(line) - 1);
	for (size_t n = 0; n < 2 * AGENT_TEXT_BYTES; n += sizeof(line) - 1) {
		if (scribbled)
			scribbled->text_bytes = UINT32_MAX - 8;
		write(line, arg);
	}
}

static void a_text_never_exceeds_the_page_even_if_the_page_is_overwritten(void **state)
{
	struct agent_functions functions = { { [AGENT_FN_MI_STATS_PRINT_OUT] =
						       (uintptr_t)write_much } };
	struct inside in;

	(void)state;
	start(&in, &functions, AGENT_IDLE_MS);
	assert_int_equal(ask(&in, AGENT_MIMALLOC_TEXT), 0);
	assert_int_equal(in.page->text_bytes, AGENT_TEXT_BYTES);
	assert_int_equal(((char *)in.page)[AGENT_PAGE_BYTES - 1], 'x');
	scribbled = in.page;
	assert_int_equal(ask(&in, AGENT_MIMALLOC_TEXT), 0);
	scribbled = NULL;
	ask(&in, AGENT_EXIT);
	finish(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_blob_head_describes_the_blob),
		cmocka_unit_test(a_copied_helper_answers_and_exits_on_request),
		cmocka_unit_test(commands_without_a_function_are_refused),
		cmocka_unit_test(an_idle_helper_exits),
		cmocka_unit_test(all_fields_of_mallinfo2_are_returned),
		cmocka_unit_test(
			a_text_never_exceeds_the_page_even_if_the_page_is_overwritten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
