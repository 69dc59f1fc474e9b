/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/peek.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../support/unit.h"

#define PAGES 64

struct memory {
	uint8_t *bytes;
	struct peek_range range;
	struct peek peek;
	struct image image;
};

/* Map three kinds of pages in turn: written, only read (the zero page), untouched. */
static int set_up(void **state)
{
	static struct memory memory;
	volatile uint8_t *at;

	memory.bytes = mmap(NULL, PAGES * IMAGE_PAGE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory.bytes == MAP_FAILED)
		return -1;
	madvise(memory.bytes, PAGES * IMAGE_PAGE_BYTES, MADV_NOHUGEPAGE);
	at = memory.bytes;
	for (size_t i = 0; i < PAGES; i++) {
		if (i % 3 == 0)
			at[i * IMAGE_PAGE_BYTES + i] = (uint8_t)(i + 1);
		else if (i % 3 == 1)
			(void)at[i * IMAGE_PAGE_BYTES];
	}
	memory.range.start_addr = (uintptr_t)memory.bytes;
	memory.range.end_addr = memory.range.start_addr + PAGES * IMAGE_PAGE_BYTES;
	memory.peek = (struct peek){
		.pid = getpid(),
		.pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC),
		.mem_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC),
	};
	memory.image = (struct image)IMAGE_INIT;
	*state = &memory;
	memory.range.is_shared = false;
	return memory.peek.pagemap_fd < 0 || memory.peek.mem_fd < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	struct memory *memory = *state;

	image_release(&memory->image);
	close(memory->peek.pagemap_fd);
	close(memory->peek.mem_fd);
	return munmap(memory->bytes, PAGES * IMAGE_PAGE_BYTES);
}

static void check_copy(struct memory *memory)
{
	assert_int_equal(peek_copy(&memory->peek, &memory->range, 1, &memory->image), 0);
	assert_int_equal(memory->image.length_bytes, (PAGES + 2) / 3 * IMAGE_PAGE_BYTES);
	for (size_t i = 0; i < PAGES; i++) {
		uint64_t addr = memory->range.start_addr + i * IMAGE_PAGE_BYTES;
		const uint8_t *copy = image_at(&memory->image, addr, IMAGE_PAGE_BYTES);

		if (i % 3 == 0) {
			assert_non_null(copy);
			assert_int_equal(copy[i], i + 1);
			assert_memory_equal(copy, memory->bytes + i * IMAGE_PAGE_BYTES,
					    IMAGE_PAGE_BYTES);
		} else {
			assert_null(copy);
		}
	}
}

static void only_written_pages_are_copied(void **state)
{
	check_copy(*state);
}

static void without_pagemap_scan_the_copy_is_the_same(void **state)
{
	struct memory *memory = *state;

	memory->peek.no_scan = true;
	check_copy(memory);
}

static void a_page_that_was_written_with_zeros_is_copied(void **state)
{
	struct memory *memory = *state;

	memory->bytes[0] = 0;
	memory->peek.no_scan = true;
	assert_int_equal(peek_copy(&memory->peek, &memory->range, 1, &memory->image), 0);
	assert_non_null(
		image_at(&memory->image, memory->range.start_addr, IMAGE_PAGE_BYTES));
}

static void the_copy_ends_at_its_deadline(void **state)
{
	struct memory *memory = *state;

	memory->peek.deadline_ns = 1;
	assert_int_equal(peek_copy(&memory->peek, &memory->range, 1, &memory->image),
			 -ETIMEDOUT);
	image_clear(&memory->image);
	memory->peek.no_scan = true;
	assert_int_equal(peek_copy(&memory->peek, &memory->range, 1, &memory->image),
			 -ETIMEDOUT);
}

static void unreadable_memory_is_an_error(void **state)
{
	struct memory *memory = *state;

	assert_int_equal(mprotect(memory->bytes, PAGES * IMAGE_PAGE_BYTES, PROT_NONE), 0);
	assert_int_equal(peek_copy(&memory->peek, &memory->range, 1, &memory->image),
			 -ESTALE);
	mprotect(memory->bytes, PAGES * IMAGE_PAGE_BYTES, PROT_READ | PROT_WRITE);
}

static void vanished_pages_of_a_running_target_are_zeros(void **state)
{
	struct memory *memory = *state;
	const uint8_t *copy;

	/*
	 * Pages 30 and 33 become unreadable without the copy's
	 * knowledge; page 36 remains.
	 */
	assert_int_equal(mprotect(memory->bytes + 30 * IMAGE_PAGE_BYTES,
				  4 * IMAGE_PAGE_BYTES, PROT_NONE),
			 0);
	memory->peek.is_running = true;
	assert_int_equal(peek_copy(&memory->peek, &memory->range, 1, &memory->image), 0);
	mprotect(memory->bytes, PAGES * IMAGE_PAGE_BYTES, PROT_READ | PROT_WRITE);
	assert_int_equal(memory->image.length_bytes, (PAGES + 2) / 3 * IMAGE_PAGE_BYTES);
	for (size_t i = 0; i < PAGES; i += 3) {
		copy = image_at(&memory->image,
				memory->range.start_addr + i * IMAGE_PAGE_BYTES,
				IMAGE_PAGE_BYTES);
		assert_non_null(copy);
		assert_int_equal(copy[i], i == 30 || i == 33 ? 0 : i + 1);
	}
}

/* Count the resident pages that only this process maps (bit 56 of the pagemap entry). */
static size_t count_exclusive(const struct memory *memory)
{
	uint64_t entries[PAGES];
	size_t count = 0;

	assert_int_equal(pread(memory->peek.pagemap_fd, entries, sizeof(entries),
			       (off_t)(memory->range.start_addr / IMAGE_PAGE_BYTES * 8)),
			 sizeof(entries));
	for (size_t i = 0; i < PAGES; i++)
		count += entries[i] >> 63 & entries[i] >> 56 & 1;
	return count;
}

static void pages_shared_since_a_fork_stay_shared(void **state)
{
	struct memory *memory = *state;
	pid_t child;

	assert_int_equal(count_exclusive(memory), (PAGES + 2) / 3);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(count_exclusive(memory), 0);
	memory->range.is_shared = true;
	check_copy(memory);
	image_clear(&memory->image);
	memory->peek.no_scan = true;
	check_copy(memory);
	assert_int_equal(count_exclusive(memory), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void runs_are_ordered_page_aligned_and_merged(void **state)
{
	struct memory *memory = *state;
	struct image *image = &memory->image;
	uint64_t word;

	assert_int_equal(image_reserve(image, 4 * IMAGE_PAGE_BYTES), 0);
	assert_int_equal(image_add_run(image, 0x1000, 0x2000), 0);
	assert_int_equal(image_add_run(image, 0x2000, 0x3000), 0);
	assert_int_equal(image_add_run(image, 0x5000, 0x6000), 0);
	assert_int_equal(image->run_count, 2);
	assert_int_equal(image_add_run(image, 0x5000, 0x6000), -EINVAL);
	assert_int_equal(image_add_run(image, 0x6010, 0x7000), -EINVAL);
	assert_int_equal(image_add_run(image, 0x7000, 0x7000), -EINVAL);
	assert_ptr_equal(image_at(image, 0x1ff8, 16), image->bytes + 0xff8);
	assert_ptr_equal(image_at(image, 0x5ff8, 8), image->bytes + 0x2ff8);
	assert_null(image_at(image, 0x5ff8, 9));
	assert_null(image_at(image, 0x2ff8, 16));
	assert_null(image_at(image, 0xfff, 1));
	assert_null(image_at(image, 0x1000, UINT64_MAX));
	assert_false(image_read(image, UINT64_MAX - 3, &word));
	assert_int_equal(image_resident_bytes(image, 0x1800, 0x5800), 0x2000);
	image_clear(image);
	assert_null(image_at(image, 0x1000, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(only_written_pages_are_copied),
		TEST(without_pagemap_scan_the_copy_is_the_same),
		TEST(a_page_that_was_written_with_zeros_is_copied),
		TEST(the_copy_ends_at_its_deadline),
		TEST(unreadable_memory_is_an_error),
		TEST(vanished_pages_of_a_running_target_are_zeros),
		TEST(pages_shared_since_a_fork_stay_shared),
		TEST(runs_are_ordered_page_aligned_and_merged),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
