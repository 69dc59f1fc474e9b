/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/hooks_switch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "tracee/ptrace/trace.h"
#include "../../support/unit.h"

#define PLACES 8
#define ORIGINAL UINT64_C(0x1234567890)
#define HOOK_AT 2048 /* offset of the hook from the head */

/* The target is a fork of this process and has its own copies at the same addresses. */
static uint64_t places_there[PLACES];
static uint64_t other_there = ORIGINAL;
static uint64_t hooks_there[HOOKS_MODULES_OFFSET / sizeof(uint64_t)];

/* Overwrite the target's copy of the records, as the target itself may do at any time. */
static void spoil(void *context, const char *step)
{
	const struct hooks_record wrong[PLACES] = { { (uintptr_t)&other_there, 1 } };
	const uint32_t count = UINT32_MAX / 2;
	pid_t pid = *(const pid_t *)context;

	(void)step;
	(void)trace_write_memory(pid, (uintptr_t)hooks_there + HOOKS_RECORDS_OFFSET,
				 wrong, sizeof(wrong));
	(void)trace_write_memory(
		pid, (uintptr_t)hooks_there + offsetof(struct hooks_head, record_count),
		&count, sizeof(count));
}

static pid_t start_target(void)
{
	pid_t pid;

	for (int i = 0; i < PLACES; i++)
		places_there[i] = ORIGINAL;
	((struct hooks_head *)(void *)hooks_there)->magic = HOOKS_MAGIC;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

static void check_places(pid_t pid, uint64_t expected)
{
	uint64_t now[PLACES];

	assert_int_equal(
		trace_read_memory(pid, (uintptr_t)places_there, now, sizeof(now)), 0);
	for (int i = 0; i < PLACES; i++)
		assert_int_equal(now[i], expected);
}

static void a_process_that_overwrites_shared_records_harms_only_itself(void **state)
{
	struct hooks_record *records = calloc(HOOKS_RECORD_MAX, sizeof(*records));
	struct hooks_head *head = calloc(1, sizeof(*head));
	pid_t pid = start_target();
	const struct probe_request request = {
		.pid = pid, .limit_ns = 60 * NS_PER_S, .step = spoil, .context = &pid
	};
	struct hooks_switch s = { .request = &request,
				  .base_addr = (uintptr_t)hooks_there,
				  .code_bytes = sizeof(hooks_there),
				  .records = records };
	struct hook_places places = HOOK_PLACES_INIT;
	struct hook_place items[PLACES];
	bool is_inside = true;
	char path[32];
	uint64_t other;
	size_t count = 0;

	(void)state;
	assert_non_null(records);
	assert_non_null(head);
	head->offsets[HOOK_malloc] = HOOK_AT;
	places.items = items;
	places.count = PLACES;
	places.originals[HOOK_malloc] = ORIGINAL;
	for (int i = 0; i < PLACES; i++)
		items[i] = (struct hook_place){ .addr = (uintptr_t)&places_there[i],
						.found = ORIGINAL,
						.hook = HOOK_malloc,
						.is_for_calls = true };
	snprintf(path, sizeof(path), "/proc/%d", request.pid);
	s.process_fd = open(path, O_RDONLY | O_DIRECTORY);
	assert_true(s.process_fd >= 0);
	snprintf(path, sizeof(path), "/proc/%d/mem", request.pid);
	s.mem_fd = open(path, O_RDWR);
	assert_true(s.mem_fd >= 0);
	assert_int_equal(hooks_switch_on(&s, head, &places, &count), 0);
	assert_int_equal(count, PLACES);
	assert_int_equal(s.record_count, PLACES);
	check_places(request.pid, (uintptr_t)hooks_there + HOOK_AT);
	spoil(&pid, "off");
	assert_int_equal(hooks_switch_off(&s, &is_inside), 0);
	assert_false(is_inside);
	check_places(request.pid, ORIGINAL);
	assert_int_equal(
		trace_read_memory(pid, (uintptr_t)&other_there, &other, sizeof(other)),
		0);
	assert_int_equal(other, ORIGINAL);
	s.record_count = HOOKS_RECORD_MAX - PLACES + 1;
	assert_int_equal(hooks_switch_on(&s, head, &places, &count), -E2BIG);
	check_places(request.pid, ORIGINAL);
	kill(request.pid, SIGKILL);
	waitpid(request.pid, NULL, 0);
	close(s.process_fd);
	close(s.mem_fd);
	free(records);
	free(head);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_process_that_overwrites_shared_records_harms_only_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
