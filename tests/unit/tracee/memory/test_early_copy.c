/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/early_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../support/unit.h"
#include "tracee/memory/write_track.h"

#define PAGES 64
/* above vm.mmap_min_addr, and below all that the kernel chooses an address for */
#define UNUSED_ADDR UINT64_C(0x20000)
#define USER_MODE_ONLY 1

/* Two areas of this process, which are copied as if they were another process's. */
struct memory {
	uint8_t *areas[2];
	struct early_range ranges[2];
	struct peek_range found[2];
	struct peek peek;
	struct early_copy copy;
	struct image image, late;
};

static uint8_t *page(const struct memory *m, int area, size_t number)
{
	return m->areas[area] + number * IMAGE_PAGE_BYTES;
}

static int set_up(void **state)
{
	static struct memory memory;

	memory = (struct memory){ .copy = EARLY_COPY_INIT };
	for (int i = 0; i < 2; i++) {
		uint8_t *area = mmap(NULL, PAGES * IMAGE_PAGE_BYTES,
				     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				     -1, 0);
		uint64_t addr = (uintptr_t)area;

		if (area == MAP_FAILED)
			return -1;
		madvise(area, PAGES * IMAGE_PAGE_BYTES, MADV_NOHUGEPAGE);
		memory.areas[i] = area;
		memory.ranges[i] = (struct early_range){
			.start_addr = addr, .end_addr = addr + PAGES * IMAGE_PAGE_BYTES
		};
	}
	/* mmap(2) may have returned the higher address first */
	if (memory.areas[0] > memory.areas[1]) {
		struct early_range range = memory.ranges[0];
		uint8_t *area = memory.areas[0];

		memory.areas[0] = memory.areas[1];
		memory.areas[1] = area;
		memory.ranges[0] = memory.ranges[1];
		memory.ranges[1] = range;
	}
	for (int i = 0; i < 2; i++) {
		memory.found[i] =
			(struct peek_range){ .start_addr = memory.ranges[i].start_addr,
					     .end_addr = memory.ranges[i].end_addr };
		for (size_t k = 0; k < PAGES; k += 2)
			memset(page(&memory, i, k), (int)k + 1, IMAGE_PAGE_BYTES);
	}
	memory.peek = (struct peek){
		.pid = getpid(),
		.pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC),
		.mem_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC),
		.is_running = true,
	};
	*state = &memory;
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
	for (int i = 0; i < 2; i++)
		munmap(m->areas[i], PAGES * IMAGE_PAGE_BYTES);
	return 0;
}

static void begin(struct memory *m, size_t range_count)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY);
	struct write_tracker tracker;

	if (!write_track_is_supported()) {
		if (fd >= 0)
			close(fd);
		skip();
	}
	assert_int_equal(write_track_open(&tracker, fd), 0);
	assert_int_equal(early_copy_begin(&m->copy, &tracker, m->peek.pagemap_fd,
					  m->ranges, range_count),
			 0);
}

static uint64_t round_pages(struct memory *m)
{
	uint64_t pages;

	assert_int_equal(early_copy_round(&m->copy, &m->peek, UINT64_MAX, &pages), 0);
	return pages;
}

/* Copy the remainder, as in a pause. Return the number of pages, or -errno. */
static int64_t finish(struct memory *m)
{
	struct peek stopped = m->peek;
	int r;

	stopped.is_running = false;
	assert_int_equal(peek_find(&stopped, m->found, 2, &m->image), 0);
	assert_int_equal(
		early_copy_select(&m->copy, m->peek.pagemap_fd, &m->image, &m->late), 0);
	assert_int_equal(peek_copy(&stopped, m->found, 2, &m->late), 0);
	early_copy_end(&m->copy);
	r = early_copy_finish(&m->copy, &m->image, &m->late);
	return r < 0 ? r : (int64_t)(m->late.length_bytes / IMAGE_PAGE_BYTES);
}

static void check_image(struct memory *m)
{
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < PAGES; k++) {
			uint64_t addr = (uintptr_t)page(m, i, k);
			const uint8_t *copy = image_at(&m->image, addr, IMAGE_PAGE_BYTES);

			if (copy)
				assert_memory_equal(copy, page(m, i, k),
						    IMAGE_PAGE_BYTES);
			else
				assert_int_equal(k % 2, 1);
		}
}

static void only_written_pages_are_copied_again(void **state)
{
	struct memory *m = *state;

	begin(m, 2);
	assert_int_equal(round_pages(m), PAGES);
	assert_int_equal(round_pages(m), 0);
	*page(m, 1, 8) = 99;
	assert_int_equal(round_pages(m), 1);
	*page(m, 0, 4) = 98;
	*page(m, 0, 5) = 97; /* was absent */
	*page(m, 1, 8) = 96;
	assert_int_equal(finish(m), 3);
	assert_int_equal(m->image.length_bytes, (PAGES + 1) * IMAGE_PAGE_BYTES);
	assert_int_equal(m->image.copied_bytes, m->image.length_bytes);
	check_image(m);
}

static void memory_that_is_not_registered_is_copied_in_the_pause(void **state)
{
	struct memory *m = *state;

	begin(m, 1);
	assert_int_equal(round_pages(m), PAGES / 2);
	assert_int_equal(finish(m), PAGES / 2);
	check_image(m);
}

static void memory_that_is_mapped_anew_is_copied_in_the_pause(void **state)
{
	struct memory *m = *state;

	begin(m, 2);
	assert_int_equal(round_pages(m), PAGES);
	assert_ptr_equal(mmap(page(m, 0, 16), 16 * IMAGE_PAGE_BYTES,
			      PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 page(m, 0, 16));
	for (size_t k = 16; k < 32; k += 2)
		memset(page(m, 0, k), 77, IMAGE_PAGE_BYTES);
	assert_int_equal(round_pages(m), 0);
	assert_int_equal(finish(m), 8);
	check_image(m);
}

static void a_page_that_cannot_be_read_for_a_moment_is_copied_in_the_pause(void **state)
{
	struct memory *m = *state;

	begin(m, 2);
	mprotect(page(m, 0, 8), IMAGE_PAGE_BYTES, PROT_NONE);
	assert_int_equal(round_pages(m), PAGES);
	mprotect(page(m, 0, 8), IMAGE_PAGE_BYTES, PROT_READ | PROT_WRITE);
	assert_int_equal(finish(m), 1);
	check_image(m);
}

static void a_page_that_no_round_has_copied_is_an_error(void **state)
{
	struct memory *m = *state;
	struct page_list list = PAGE_LIST_INIT;

	begin(m, 2);
	/* protect one page without copying it, as a kernel with an error might */
	assert_int_equal(write_track_protect(m->peek.pagemap_fd, m->ranges[0].start_addr,
					     m->ranges[0].start_addr + IMAGE_PAGE_BYTES,
					     &list),
			 0);
	assert_int_equal(page_list_bytes(&list), IMAGE_PAGE_BYTES);
	page_list_release(&list);
	assert_int_equal(round_pages(m), PAGES - 1);
	assert_int_equal(finish(m), -ESTALE);
}

static void a_copy_that_needs_more_pages_than_allowed_ends(void **state)
{
	struct memory *m = *state;
	uint64_t pages;

	begin(m, 2);
	assert_int_equal(early_copy_round(&m->copy, &m->peek, PAGES / 4, &pages),
			 -ENOMEM);
}

static void a_range_that_is_no_longer_mapped_is_left_out(void **state)
{
	struct memory *m = *state;

	/* malloc() could map memory in a hole that munmap(2) leaves */
	m->ranges[0].start_addr = UNUSED_ADDR;
	m->ranges[0].end_addr = UNUSED_ADDR + PAGES * IMAGE_PAGE_BYTES;
	begin(m, 2);
	assert_int_equal(m->copy.range_count, 1);
	assert_int_equal(round_pages(m), PAGES / 2);
}

static void memory_that_is_already_tracked_is_refused(void **state)
{
	struct memory *m = *state;
	struct early_copy other = EARLY_COPY_INIT;
	struct write_tracker tracker;
	int fd;

	begin(m, 2);
	fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY);
	assert_int_equal(write_track_open(&tracker, fd), 0);
	assert_int_equal(
		early_copy_begin(&other, &tracker, m->peek.pagemap_fd, m->ranges, 2),
		-EBUSY);
	early_copy_release(&other);
	assert_int_equal(round_pages(m), PAGES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(only_written_pages_are_copied_again),
		TEST(memory_that_is_not_registered_is_copied_in_the_pause),
		TEST(memory_that_is_mapped_anew_is_copied_in_the_pause),
		TEST(a_page_that_cannot_be_read_for_a_moment_is_copied_in_the_pause),
		TEST(a_page_that_no_round_has_copied_is_an_error),
		TEST(a_copy_that_needs_more_pages_than_allowed_ends),
		TEST(a_range_that_is_no_longer_mapped_is_left_out),
		TEST(memory_that_is_already_tracked_is_refused),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
