/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/protected_write.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracee/ptrace/trace.h"
#include "../../support/unit.h"

#define PAGE_BYTES 4096

/*
 * The kernel may let only a tracer write. A read-only descriptor must not
 * be used for writing either.
 */
static void read_only_code_can_be_written(void **state)
{
	static const int flags[] = { O_RDWR, O_RDONLY };
	uint8_t *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[32];
	pid_t pid;

	(void)state;
	assert_ptr_not_equal(page, MAP_FAILED);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		struct protected_target target = { .pid = pid };
		uint8_t wanted[64] = { 0 }, found[64];

		snprintf(path, sizeof(path), "/proc/%d", pid);
		target.process_fd = open(path, O_RDONLY | O_DIRECTORY);
		snprintf(path, sizeof(path), "/proc/%d/mem", pid);
		target.mem_fd = open(path, flags[i]);
		assert_true(target.process_fd >= 0 && target.mem_fd >= 0);
		/* neither starts nor ends at a word boundary */
		memset(wanted + 3, 7 + (int)i, 42);
		assert_int_equal(
			protected_write(&target, (uintptr_t)page + 3, wanted + 3, 42), 0);
		assert_int_equal(
			trace_read_memory(pid, (uintptr_t)page, found, sizeof(found)), 0);
		assert_memory_equal(found, wanted, sizeof(found));
		close(target.process_fd);
		close(target.mem_fd);
	}
	assert_int_equal(page[3], 0); /* the test's own page is a separate copy */
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(page, PAGE_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_only_code_can_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
