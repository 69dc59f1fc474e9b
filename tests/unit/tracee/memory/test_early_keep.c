/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/early_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../support/unit.h"
#include "tracee/memory/write_track.h"

#define PAGES 64
#define BYTES (PAGES * IMAGE_PAGE_BYTES)
#define USER_MODE_ONLY 1

/* An area of this process, which is copied as if it were another process's. */
struct memory {
	uint8_t *area;
	struct early_range range;
	struct peek_range found;
	struct peek peek;
	struct early_copy copy;
	struct image image, late;
};

static uint8_t *page(const struct memory *m, size_t number)
{
	return m->area + number * IMAGE_PAGE_BYTES;
}

static int set_up(void **state)
{
	static struct memory m;
	uint64_t addr;

	m = (struct memory){ .copy = EARLY_COPY_INIT };
	m.area = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (m.area == MAP_FAILED)
		return -1;
	madvise(m.area, BYTES, MADV_NOHUGEPAGE);
	for (size_t k = 0; k < PAGES; k += 2)
		memset(page(&m, k), (int)k + 1, IMAGE_PAGE_BYTES);
	addr = (uintptr_t)m.area;
	m.range = (struct early_range){ .start_addr = addr, .end_addr = addr + BYTES };
	m.found = (struct peek_range){ .start_addr = addr, .end_addr = addr + BYTES };
	m.peek = (struct peek){
		.pid = getpid(),
		.pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC),
		.mem_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC),
		.is_running = true,
	};
	*state = &m;
	return 0;
}

static int tear_down(void **state)
{
	struct memory *m = *state;

	early_copy_release(&m->copy);
	image_release(&m->image);
	image_release(&m->late);
	close(m->peek.pagemap_fd);
	close(m->peek.mem_fd);
	munmap(m->area, BYTES);
	return 0;
}

static uint64_t round_pages(struct memory *m)
{
	uint64_t pages;

	assert_int_equal(early_copy_round(&m->copy, &m->peek, UINT64_MAX, &pages), 0);
	return pages;
}

/* Copy the remainder, as in a pause, and compare. Return the number of late pages. */
static uint64_t finish(struct memory *m)
{
	struct peek stopped = m->peek;

	stopped.is_running = false;
	assert_int_equal(peek_find(&stopped, &m->found, 1, &m->image), 0);
	assert_int_equal(
		early_copy_select(&m->copy, m->peek.pagemap_fd, &m->image, &m->late), 0);
	assert_int_equal(peek_copy(&stopped, &m->found, 1, &m->late), 0);
	assert_int_equal(early_copy_finish(&m->copy, &m->image, &m->late), 0);
	for (size_t k = 0; k < PAGES; k++) {
		uint64_t addr = (uintptr_t)page(m, k);
		const uint8_t *copy = image_at(&m->image, addr, IMAGE_PAGE_BYTES);

		if (copy)
			assert_memory_equal(copy, page(m, k), IMAGE_PAGE_BYTES);
	}
	return m->late.length_bytes / IMAGE_PAGE_BYTES;
}

/* Make a copy that may be kept. */
static void begin(struct memory *m)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY);
	struct page_list list = PAGE_LIST_INIT;
	struct write_tracker tracker;

	if (!write_track_is_supported()) {
		if (fd >= 0)
			close(fd);
		skip();
	}
	page_list_add(&list, m->range.start_addr, m->range.end_addr);
	assert_true(copy_layout_make(&m->copy.layout, &list, UINT64_C(1) << 30));
	page_list_release(&list);
	assert_int_equal(write_track_open(&tracker, fd), 0);
	assert_int_equal(
		early_copy_begin(&m->copy, &tracker, m->peek.pagemap_fd, &m->range, 1),
		0);
	assert_int_equal(round_pages(m), PAGES / 2);
	assert_int_equal(finish(m), 0);
}

/* Begin a further copy. */
static void renew(struct memory *m, bool is_tracked)
{
	early_keep_return(&m->copy, &m->image);
	m->range.is_tracked = is_tracked;
	assert_int_equal(early_keep_renew(&m->copy, m->peek.pagemap_fd, &m->range, 1), 0);
}

static void a_further_copy_has_only_what_was_written_since(void **state)
{
	struct memory *m = *state;

	begin(m);
	renew(m, true);
	assert_int_equal(round_pages(m), 0);
	assert_int_equal(finish(m), 0);
	assert_int_equal(m->image.copied_bytes, BYTES / 2);
	*page(m, 8) = 99;
	*page(m, 9) = 98; /* was absent */
	renew(m, true);
	*page(m, 10) = 97;
	assert_int_equal(round_pages(m), 3);
	*page(m, 12) = 96;
	assert_int_equal(finish(m), 1);
	/* this page is not protected, because it was copied in the pause */
	renew(m, true);
	assert_int_equal(round_pages(m), 1);
	assert_int_equal(finish(m), 0);
	assert_int_equal(m->image.copied_bytes, BYTES / 2 + IMAGE_PAGE_BYTES);
}

static void pages_that_were_released_take_no_memory_and_may_come_back(void **state)
{
	struct memory *m = *state;

	begin(m);
	assert_int_equal(m->copy.copied_pages, PAGES / 2);
	madvise(page(m, 0), 16 * IMAGE_PAGE_BYTES, MADV_DONTNEED);
	renew(m, true);
	assert_int_equal(round_pages(m), 0);
	assert_int_equal(finish(m), 0);
	assert_int_equal(m->image.copied_bytes, BYTES / 2 - 8 * IMAGE_PAGE_BYTES);
	assert_int_equal(m->copy.copied_pages, PAGES / 2 - 8);
	assert_null(image_at(&m->image, (uintptr_t)page(m, 0), 1));
	*page(m, 2) = 55;
	renew(m, true);
	*page(m, 4) = 56;
	assert_int_equal(round_pages(m), 2);
	assert_int_equal(finish(m), 0);
}

static void memory_that_was_mapped_anew_is_copied_again(void **state)
{
	struct memory *m = *state;

	begin(m);
	assert_ptr_equal(mmap(page(m, 16), 16 * IMAGE_PAGE_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 page(m, 16));
	memset(page(m, 16), 77, 16 * IMAGE_PAGE_BYTES);
	renew(m, true);
	assert_int_equal(round_pages(m), 16);
	assert_int_equal(finish(m), 0);
}

static void memory_mapped_after_the_renewal_is_copied_in_the_pause(void **state)
{
	struct memory *m = *state;

	begin(m);
	renew(m, true);
	assert_ptr_equal(mmap(page(m, 16), 16 * IMAGE_PAGE_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 page(m, 16));
	memset(page(m, 16), 78, 16 * IMAGE_PAGE_BYTES);
	assert_int_equal(round_pages(m), 0);
	assert_int_equal(finish(m), 16);
}

static void protected_pages_of_memory_that_was_not_tracked_are_never_trusted(void **state)
{
	struct memory *m = *state;

	begin(m);
	/* their protection may be a remnant, as before Linux 6.13 */
	renew(m, false);
	assert_int_equal(round_pages(m), 0);
	assert_int_equal(finish(m), PAGES / 2);
	renew(m, true);
	assert_int_equal(round_pages(m), 0);
	assert_int_equal(finish(m), PAGES / 2);
}

static void a_page_that_a_round_cannot_read_is_copied_later(void **state)
{
	struct memory *m = *state;

	begin(m);
	*page(m, 8) = 44;
	renew(m, true);
	mprotect(page(m, 8), IMAGE_PAGE_BYTES, PROT_NONE);
	assert_int_equal(round_pages(m), 1);
	mprotect(page(m, 8), IMAGE_PAGE_BYTES, PROT_READ | PROT_WRITE);
	assert_int_equal(finish(m), 1);
	renew(m, true);
	assert_int_equal(round_pages(m), 0);
	assert_int_equal(finish(m), 0);
}

static void a_page_that_the_copy_lacks_is_copied_in_the_pause(void **state)
{
	struct memory *m = *state;
	struct page_list list = PAGE_LIST_INIT;

	begin(m);
	*page(m, 1) = 33;
	renew(m, true);
	/* protect a page without copying it, as a kernel with an error might */
	assert_int_equal(write_track_protect(m->peek.pagemap_fd, m->range.start_addr,
					     m->range.end_addr, &list),
			 0);
	assert_int_equal(page_list_bytes(&list), IMAGE_PAGE_BYTES);
	page_list_release(&list);
	assert_int_equal(round_pages(m), 0);
	assert_int_equal(finish(m), 1);
}

static void a_page_that_is_copied_neither_early_nor_late_is_an_error(void **state)
{
	struct memory *m = *state;

	begin(m);
	renew(m, true);
	*page(m, 1) = 33;
	assert_int_equal(peek_find(&m->peek, &m->found, 1, &m->image), 0);
	assert_int_equal(
		early_copy_select(&m->copy, m->peek.pagemap_fd, &m->image, &m->late), 0);
	assert_int_equal(m->late.length_bytes, IMAGE_PAGE_BYTES);
	image_clear(&m->late);
	assert_int_equal(early_copy_finish(&m->copy, &m->image, &m->late), -ESTALE);
}

static void a_range_outside_of_the_layout_cannot_be_continued(void **state)
{
	struct memory *m = *state;
	struct early_range range;

	begin(m);
	range = (struct early_range){ .start_addr = UINT64_C(0x20000),
				      .end_addr = UINT64_C(0x30000) };
	early_keep_return(&m->copy, &m->image);
	assert_int_equal(early_keep_renew(&m->copy, m->peek.pagemap_fd, &range, 1),
			 -ESTALE);
}

static void memory_that_another_descriptor_tracks_cannot_be_continued(void **state)
{
	struct memory *m = *state;
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY);
	struct write_tracker other;

	begin(m);
	assert_ptr_equal(mmap(m->area, BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 m->area);
	memset(m->area, 1, BYTES);
	assert_int_equal(write_track_open(&other, fd), 0);
	assert_int_equal(write_track_register(fd, m->range.start_addr, m->range.end_addr),
			 0);
	early_keep_return(&m->copy, &m->image);
	m->range.is_tracked = true;
	assert_int_equal(early_keep_renew(&m->copy, m->peek.pagemap_fd, &m->range, 1),
			 -EBUSY);
	close(fd);
}

/* The image's own memory would be lost, and the copy would get it later. */
static void an_image_with_memory_cannot_take_the_copy(void **state)
{
	struct early_copy copy = EARLY_COPY_INIT;
	struct image image = IMAGE_INIT, late = IMAGE_INIT;

	(void)state;
	assert_int_equal(image_reserve(&image, IMAGE_PAGE_BYTES), 0);
	assert_int_equal(early_keep_finish(&copy, &image, &late), -EINVAL);
	image_release(&image);
	assert_int_equal(image_make_watchable(&image), 0);
	assert_int_equal(early_keep_finish(&copy, &image, &late), -EINVAL);
	image_release(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(a_further_copy_has_only_what_was_written_since),
		TEST(pages_that_were_released_take_no_memory_and_may_come_back),
		TEST(memory_that_was_mapped_anew_is_copied_again),
		TEST(memory_mapped_after_the_renewal_is_copied_in_the_pause),
		TEST(protected_pages_of_memory_that_was_not_tracked_are_never_trusted),
		TEST(a_page_that_a_round_cannot_read_is_copied_later),
		TEST(a_page_that_the_copy_lacks_is_copied_in_the_pause),
		TEST(a_page_that_is_copied_neither_early_nor_late_is_an_error),
		TEST(a_range_outside_of_the_layout_cannot_be_continued),
		TEST(memory_that_another_descriptor_tracks_cannot_be_continued),
		cmocka_unit_test(an_image_with_memory_cannot_take_the_copy),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
