/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/landmarks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../support/unit.h"
#include "base/platform.h"
#include "probe/borrow/machine.h"
#include "proc/smaps/maps.h"

#ifndef __has_feature
#	define __has_feature(name) 0 /* gcc before version 14 */
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#	define IS_SANITIZED true
#else
#	define IS_SANITIZED false
#endif

struct seen {
	struct mapping_list mappings;
	struct landmarks marks;
};

/* The tests inspect this program itself: they know the addresses of its own functions. */
static int set_up(void **state)
{
	static struct seen seen;
	const char *reason = "";
	int fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (platform_unsupported_reason(PLATFORM_BORROW) || IS_SANITIZED)
		return 0;
	seen = (struct seen){ MAPPING_LIST_INIT, LANDMARKS_INIT };
	*state = &seen;
	if (proc_maps_read(fd, &seen.mappings) < 0 ||
	    landmarks_read(fd, &seen.mappings, &seen.marks, &reason) < 0) {
		print_error("%s\n", reason);
		return -1;
	}
	return close(fd);
}

static int tear_down(void **state)
{
	struct seen *seen = *state;

	if (seen) {
		landmarks_release(&seen->marks);
		mapping_list_release(&seen->mappings);
	}
	return 0;
}

static const struct landmarks *marks_of(void **state)
{
	struct seen *seen = *state;

	if (!seen)
		skip();
	return &seen->marks;
}

/* Return the address of libc's function. A sanitizer puts its own function before it. */
static uint64_t address_of(const char *name)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	uint64_t addr = (uintptr_t)dlsym(libc, name);

	dlclose(libc);
	return addr;
}

static void allocator_and_loader_code_is_known(void **state)
{
	static const char *const names[] = { "malloc",	    "free",	      "realloc",
					     "malloc_trim", "dlopen",	      "fork",
					     "setuid",	    "pthread_create", "mallopt",
					     "malloc_info", "calloc",	      "_Fork" };
	const struct landmarks *marks = marks_of(state);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (address_of(names[i]))
			assert_row(landmarks_hold(marks, address_of(names[i])), names[i]);
	assert_true(
		landmarks_hold(marks, (uintptr_t)dlsym(RTLD_DEFAULT, "__tls_get_addr")));
}

static void other_code_is_not_included(void **state)
{
	static const char *const names[] = { "poll", "read", "printf", "getenv",
					     "qsort" };
	const struct landmarks *marks = marks_of(state);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_row(!landmarks_hold(marks, address_of(names[i])), names[i]);
	assert_false(landmarks_hold(marks, 0));
	assert_false(landmarks_hold(marks, UINT64_MAX));
}

static void the_gate_addresses_contain_the_expected_code(void **state)
{
	const struct landmarks *marks = marks_of(state);
	const uint8_t *code;
	size_t length;

	code = machine_syscall_code(&length);
	assert_memory_equal((const void *)(uintptr_t)marks->syscall_addr, code, length);
	code = machine_sigreturn_code(&length);
	assert_memory_equal((const void *)(uintptr_t)marks->sigreturn_addr, code, length);
	assert_int_not_equal(marks->pthread_create_addr, 0);
	assert_true(landmarks_hold(marks, marks->pthread_create_addr));
}

static void the_allocators_statistics_functions_are_found(void **state)
{
	const struct landmarks *marks = marks_of(state);
	uint64_t addr = address_of("mallinfo2");

	if (!addr)
		skip();
	assert_true(marks->functions.addr[AGENT_FN_MALLINFO2] == addr ||
		    marks->functions.addr[AGENT_FN_MALLINFO2] ==
			    (uintptr_t)dlsym(RTLD_DEFAULT, "mallinfo2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allocator_and_loader_code_is_known),
		cmocka_unit_test(other_code_is_not_included),
		cmocka_unit_test(the_gate_addresses_contain_the_expected_code),
		cmocka_unit_test(the_allocators_statistics_functions_are_found),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
