/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of changed pages also contains pages that current kernels do not have: before
 * Linux 6.13, except for corrected stable kernels, mremap(2) moved protected pages with
 * their protection to memory that is not registered. A replaced ioctl(2) stands in for
 * the kernel.
 */
#include "config.h"

#include "tracee/memory/write_track.h"

#include <errno.h>
#include <stdlib.h>

#include "../../support/unit.h"
#include "tracee/memory/page_scan.h"

#define START UINT64_C(0x7f0000000000)

static const uint64_t pages[] = {
	[0] = SCAN_PRESENT | SCAN_WPALLOWED,		    /* not written */
	[1] = SCAN_PRESENT | SCAN_WPALLOWED | SCAN_WRITTEN, /* written */
	[2] = SCAN_PRESENT,		   /* moved together with its protection */
	[3] = SCAN_PRESENT | SCAN_WRITTEN, /* in memory that was mapped meanwhile */
	[4] = 0,			   /* not resident */
	[5] = SCAN_PRESENT | SCAN_WPALLOWED,
};
#define END (START + ARRAY_SIZE(pages) * IMAGE_PAGE_BYTES)

static int scan_error; /* error of the second scan, or 0 */
static int scan_count;

int __wrap_ioctl(int fd, unsigned long request, struct scan_arg *arg);
int __wrap_ioctl(int fd, unsigned long request, struct scan_arg *arg)
{
	struct scan_region *regions = (struct scan_region *)(uintptr_t)arg->vec;
	int count = 0;

	(void)fd;
	assert_true(request == SCAN_IOCTL);
	assert_int_equal(arg->category_anyof_mask, 0);
	if (++scan_count == 2 && scan_error) {
		errno = scan_error;
		return -1;
	}
	for (uint64_t at = arg->start; at < arg->end; at += IMAGE_PAGE_BYTES) {
		uint64_t page = pages[(at - START) / IMAGE_PAGE_BYTES];

		if (((page ^ arg->category_inverted) & arg->category_mask) ==
		    arg->category_mask)
			regions[count++] =
				(struct scan_region){ at, at + IMAGE_PAGE_BYTES, page };
	}
	arg->walk_end = arg->end;
	return count;
}

static void pages_that_may_have_changed_unnoticed_are_listed(void **state)
{
	struct page_list list = PAGE_LIST_INIT;

	(void)state;
	scan_count = scan_error = 0;
	assert_int_equal(write_track_find(-1, START, END, &list), 0);
	page_list_sort(&list);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.items[0].start_addr, START + 1 * IMAGE_PAGE_BYTES);
	assert_int_equal(list.items[0].end_addr, START + 4 * IMAGE_PAGE_BYTES);
	page_list_release(&list);
}

static void an_incomplete_list_is_an_error(void **state)
{
	struct page_list list = PAGE_LIST_INIT;

	(void)state;
	scan_count = 0;
	scan_error = EPERM;
	assert_int_equal(write_track_find(-1, START, END, &list), -EPERM);
	page_list_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_that_may_have_changed_unnoticed_are_listed),
		cmocka_unit_test(an_incomplete_list_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
