/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/soft_dirty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../support/unit.h"
#include "model/image.h"

#define PRESENT (UINT64_C(1) << 63)
#define SOFT_DIRTY (UINT64_C(1) << 55)

#define PAGES 8
#define START_ADDR (16 * IMAGE_PAGE_BYTES)
#define FIRST_PAGE 3

/* A tracker whose clear_refs and pagemap are ordinary files. */
struct fake {
	struct write_tracker tracker;
	struct tracked_part part;
	struct page_list list;
};

static int make_file(void)
{
	int fd = memfd_create("soft_dirty", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* Set the pagemap entry of a page of the part. */
static void set_entry(const struct fake *f, unsigned int page, uint64_t entry)
{
	off_t at = (off_t)((START_ADDR / IMAGE_PAGE_BYTES + page) * sizeof(entry));

	assert_int_equal(pwrite(f->part.pagemap_fd, &entry, sizeof(entry), at),
			 sizeof(entry));
}

static int set_up(void **state)
{
	static struct fake fake;
	struct fake *f = &fake;

	*f = (struct fake){
		.part = { .pagemap_fd = make_file(),
			  .start_addr = START_ADDR,
			  .end_addr = START_ADDR + PAGES * IMAGE_PAGE_BYTES,
			  .first_page = FIRST_PAGE },
		.list = PAGE_LIST_INIT,
	};
	for (unsigned int i = 0; i < PAGES; i++)
		set_entry(f, i, PRESENT | (100 + i));
	assert_int_equal(soft_dirty_open(&f->tracker, make_file()), 0);
	assert_int_equal(f->tracker.kind->begin(&f->tracker, FIRST_PAGE + PAGES), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fake *f = *state;

	page_list_release(&f->list);
	free(f->tracker.frames);
	close(f->tracker.fd);
	close(f->part.pagemap_fd);
	return 0;
}

static void list(struct fake *f)
{
	assert_int_equal(f->tracker.kind->list(&f->tracker, &f->part, &f->list), 0);
}

static uint64_t check(struct fake *f)
{
	uint64_t pages = 0;

	assert_int_equal(f->tracker.kind->check(&f->tracker, &f->part, &pages), 0);
	return pages;
}

/* Return the pages to be copied in the pause, one bit for each page of the part. */
static unsigned int find(struct fake *f)
{
	struct page_list found = PAGE_LIST_INIT;
	unsigned int bits = 0;

	assert_int_equal(f->tracker.kind->find(&f->tracker, &f->part, &found), 0);
	for (size_t i = 0; i < found.count; i++)
		for (uint64_t addr = found.items[i].start_addr;
		     addr < found.items[i].end_addr; addr += IMAGE_PAGE_BYTES)
			bits |= 1U << (addr - START_ADDR) / IMAGE_PAGE_BYTES;
	page_list_release(&found);
	return bits;
}

static void the_bits_are_cleared_once(void **state)
{
	struct fake *f = *state;
	char text[4] = { 0 };

	assert_int_equal(pread(f->tracker.fd, text, sizeof(text), 0), 1);
	assert_string_equal(text, "4");
}

static void resident_pages_are_listed_as_ranges(void **state)
{
	struct fake *f = *state;

	set_entry(f, 5, 0);
	list(f);
	assert_int_equal(f->list.count, 2);
	assert_int_equal(f->list.items[0].start_addr, START_ADDR);
	assert_int_equal(f->list.items[0].end_addr, START_ADDR + 5 * IMAGE_PAGE_BYTES);
	assert_int_equal(f->list.items[1].start_addr, START_ADDR + 6 * IMAGE_PAGE_BYTES);
	assert_int_equal(f->list.items[1].end_addr, START_ADDR + 8 * IMAGE_PAGE_BYTES);
}

static void an_unwritten_page_is_not_found(void **state)
{
	struct fake *f = *state;

	list(f);
	assert_int_equal(check(f), 0);
	assert_int_equal(find(f), 0);
}

static void a_written_page_is_found(void **state)
{
	struct fake *f = *state;

	list(f);
	assert_int_equal(check(f), 0);
	set_entry(f, 2, PRESENT | SOFT_DIRTY | 102);
	assert_int_equal(find(f), 1U << 2);
	assert_int_equal(check(f), 1);
}

static void a_page_that_was_not_listed_is_found(void **state)
{
	struct fake *f = *state;

	set_entry(f, 4, 0);
	list(f);
	set_entry(f, 4, PRESENT | 104);
	assert_int_equal(find(f), 1U << 4);
}

static void an_absent_page_is_found(void **state)
{
	struct fake *f = *state;

	list(f);
	set_entry(f, 1, 0);
	assert_int_equal(find(f), 1U << 1);
}

/* as after mremap(2), which moves page tables without setting bits */
static void another_page_at_the_same_address_is_found(void **state)
{
	struct fake *f = *state;

	list(f);
	set_entry(f, 3, PRESENT | 999);
	assert_int_equal(find(f), 1U << 3);
}

static void a_page_that_was_elsewhere_for_a_moment_is_found(void **state)
{
	struct fake *f = *state;

	list(f);
	set_entry(f, 3, PRESENT | 999);
	assert_int_equal(check(f), 1);
	set_entry(f, 3, PRESENT | 103);
	assert_int_equal(find(f), 1U << 3);
}

/* an ordinary user sees 0 instead of the numbers of page frames */
static void a_page_without_a_frame_number_is_found(void **state)
{
	struct fake *f = *state;

	set_entry(f, 6, PRESENT);
	list(f);
	assert_int_equal(find(f), 1U << 6);
}

static void bits_that_another_program_clears_are_noticed(void **state)
{
	struct fake *f = *state;
	struct page_list found = PAGE_LIST_INIT;
	uint64_t pages = 0;

	list(f);
	set_entry(f, 2, PRESENT | SOFT_DIRTY | 102);
	assert_int_equal(check(f), 1);
	set_entry(f, 2, PRESENT | 102);
	assert_int_equal(f->tracker.kind->check(&f->tracker, &f->part, &pages), -ESTALE);
	assert_int_equal(f->tracker.kind->find(&f->tracker, &f->part, &found), -ESTALE);
	page_list_release(&found);
}

static void a_second_tracker_is_refused(void **state)
{
	struct fake *f = *state;
	struct write_tracker other;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->tracker.fd);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(soft_dirty_open(&other, fd), -EBUSY);
	close(fd);
}

/*
 * The kernel sets the bit of a written page of a new mapping, so the result of the check
 * is known without clearing anything.
 */
static void support_is_what_a_new_mapping_shows(void **state)
{
	volatile uint8_t *page = mmap(NULL, IMAGE_PAGE_BYTES, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry = 0;
	int r;

	(void)state;
	assert_true(page != MAP_FAILED);
	*page = 1;
	assert_int_equal(pread(pagemap_fd, &entry, sizeof(entry),
			       (off_t)((uintptr_t)page / IMAGE_PAGE_BYTES * 8)),
			 sizeof(entry));
	r = soft_dirty_check_support();
	assert_int_equal(r != -EOPNOTSUPP, (entry & SOFT_DIRTY) != 0);
	munmap((void *)page, IMAGE_PAGE_BYTES);
	close(pagemap_fd);
}

#define WITH_FAKE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FAKE(the_bits_are_cleared_once),
		WITH_FAKE(resident_pages_are_listed_as_ranges),
		WITH_FAKE(an_unwritten_page_is_not_found),
		WITH_FAKE(a_written_page_is_found),
		WITH_FAKE(a_page_that_was_not_listed_is_found),
		WITH_FAKE(an_absent_page_is_found),
		WITH_FAKE(another_page_at_the_same_address_is_found),
		WITH_FAKE(a_page_that_was_elsewhere_for_a_moment_is_found),
		WITH_FAKE(a_page_without_a_frame_number_is_found),
		WITH_FAKE(bits_that_another_program_clears_are_noticed),
		WITH_FAKE(a_second_tracker_is_refused),
		cmocka_unit_test(support_is_what_a_new_mapping_shows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
