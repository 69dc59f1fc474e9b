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

/*
 * Find the resident pages and copy them. While the kernel migrates a page, the page
 * counts as swapped, so wait until no page is being migrated.
 */
static int find_and_copy(struct memory *memory)
{
	int r;

	for (int tries = 0; tries < 1000; tries++) {
		r = peek_find(&memory->peek, &memory->range, 1, &memory->image);
		if (r != 0 || memory->range.swapped_bytes == 0)
			break;
		image_clear(&memory->image);
		usleep(1000);
	}
	return r ? r : peek_copy(&memory->peek, &memory->range, 1, &memory->image);
}

static void check_copy(struct memory *memory)
{
	assert_int_equal(find_and_copy(memory), 0);
	assert_int_equal(memory->image.length_bytes, (PAGES + 2) / 3 * IMAGE_PAGE_BYTES);
	assert_int_equal(memory->range.resident_bytes, memory->image.length_bytes);
	assert_int_equal(memory->range.swapped_bytes, 0);
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
	assert_int_equal(find_and_copy(memory), 0);
	assert_non_null(
		image_at(&memory->image, memory->range.start_addr, IMAGE_PAGE_BYTES));
}

/*
 * Map memory in which every 100th page is untouched and every other page contains its
 * number.
 */
static uint64_t *map_numbered_pages(size_t pages)
{
	size_t words = IMAGE_PAGE_BYTES / sizeof(uint64_t);
	uint64_t *map = mmap(NULL, pages * IMAGE_PAGE_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(map, MAP_FAILED);
	madvise(map, pages * IMAGE_PAGE_BYTES, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		if (i % 100 != 99)
			map[i * words] = map[(i + 1) * words - 1] = i + 1;
	return map;
}

static void check_numbered_pages(const struct memory *memory, const uint64_t *map,
				 size_t pages)
{
	size_t words = IMAGE_PAGE_BYTES / sizeof(uint64_t);

	for (size_t i = 0; i < pages; i++) {
		uint64_t addr = (uintptr_t)&map[i * words];
		size_t run = image_find_run(&memory->image, addr);
		const struct image_run *at = &memory->image.runs[run];
		const uint64_t *copy;

		if (i % 100 == 99) {
			assert_true(run == memory->image.run_count ||
				    at->start_addr > addr);
			continue;
		}
		copy = (const uint64_t *)(memory->image.bytes + at->offset_bytes +
					  (addr - at->start_addr));
		assert_int_equal(copy[0], i + 1);
		assert_int_equal(copy[words - 1], i + 1);
	}
}

static void several_threads_copy_all_pages(void **state)
{
	static const unsigned int counts[] = { 0, 1, 2, 3, PEEK_THREADS_MAX, 100 };
	const size_t pages = 68000; /* more than 4 * 64 MiB */
	struct memory *memory = *state;
	uint64_t *map = map_numbered_pages(pages);

	memory->range.start_addr = (uintptr_t)map;
	memory->range.end_addr = memory->range.start_addr + pages * IMAGE_PAGE_BYTES;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		memory->peek.thread_count = counts[i];
		image_release(&memory->image);
		assert_int_equal(find_and_copy(memory), 0);
		assert_int_equal(memory->image.copied_bytes,
				 (pages - pages / 100) * IMAGE_PAGE_BYTES);
		check_numbered_pages(memory, map, pages);
	}
	/* a thread that cannot read its part makes the whole copy fail */
	assert_int_equal(mprotect(map + 60000 * IMAGE_PAGE_BYTES / sizeof(*map),
				  IMAGE_PAGE_BYTES, PROT_NONE),
			 0);
	memory->peek.thread_count = PEEK_THREADS_MAX;
	image_clear(&memory->image);
	assert_int_equal(find_and_copy(memory), -ESTALE);
	munmap(map, pages * IMAGE_PAGE_BYTES);
}

static void the_copy_ends_at_its_deadline(void **state)
{
	struct memory *memory = *state;

	memory->peek.deadline_ns = 1;
	assert_int_equal(find_and_copy(memory), -ETIMEDOUT);
	image_clear(&memory->image);
	memory->peek.no_scan = true;
	assert_int_equal(find_and_copy(memory), -ETIMEDOUT);
	/* the deadline may also be reached after the pages were found */
	memory->peek.deadline_ns = 0;
	image_clear(&memory->image);
	assert_int_equal(peek_find(&memory->peek, &memory->range, 1, &memory->image), 0);
	memory->peek.deadline_ns = 1;
	assert_int_equal(peek_copy(&memory->peek, &memory->range, 1, &memory->image),
			 -ETIMEDOUT);
}

static void unreadable_memory_is_an_error(void **state)
{
	struct memory *memory = *state;

	assert_int_equal(mprotect(memory->bytes, PAGES * IMAGE_PAGE_BYTES, PROT_NONE), 0);
	assert_int_equal(find_and_copy(memory), -ESTALE);
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
	assert_int_equal(find_and_copy(memory), 0);
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

/* Two threads search memory of which only a few pages are resident. */
static void several_threads_find_the_same_pages(void **state)
{
	enum {
		RANGES = 3
	};
	const uint64_t length = UINT64_C(200) << 20;
	struct memory *memory = *state;
	struct peek_range one[RANGES], two[RANGES];
	struct image by_one = IMAGE_INIT, by_two = IMAGE_INIT;
	uint8_t *bytes = mmap(NULL, RANGES * length, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(bytes, MAP_FAILED);
	madvise(bytes, RANGES * length, MADV_NOHUGEPAGE);
	/* the pages around the middle, where the second thread begins, are resident */
	for (uint64_t at = 0; at < RANGES * length; at += length / 64)
		memset(bytes + at, 1, 3 * IMAGE_PAGE_BYTES);
	memset(bytes + length * RANGES / 2 - 2 * IMAGE_PAGE_BYTES, 1,
	       4 * IMAGE_PAGE_BYTES);
	for (uint64_t i = 0; i < RANGES; i++)
		one[i] = two[i] = (struct peek_range){
			.start_addr = (uintptr_t)bytes + i * length,
			.end_addr = (uintptr_t)bytes + (i + 1) * length,
		};
	memory->peek.thread_count = 1;
	assert_int_equal(peek_find(&memory->peek, one, RANGES, &by_one), 0);
	memory->peek.thread_count = 2;
	assert_int_equal(peek_find(&memory->peek, two, RANGES, &by_two), 0);
	assert_int_equal(by_one.run_count, by_two.run_count);
	assert_int_equal(by_one.length_bytes, by_two.length_bytes);
	assert_memory_equal(by_one.runs, by_two.runs,
			    by_one.run_count * sizeof(*by_one.runs));
	for (size_t i = 0; i < RANGES; i++)
		assert_int_equal(one[i].resident_bytes, two[i].resident_bytes);
	assert_true(by_one.run_count >= 64);
	image_release(&by_one);
	image_release(&by_two);
	munmap(bytes, RANGES * length);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(only_written_pages_are_copied),
		TEST(without_pagemap_scan_the_copy_is_the_same),
		TEST(a_page_that_was_written_with_zeros_is_copied),
		TEST(several_threads_copy_all_pages),
		TEST(several_threads_find_the_same_pages),
		TEST(the_copy_ends_at_its_deadline),
		TEST(unreadable_memory_is_an_error),
		TEST(vanished_pages_of_a_running_target_are_zeros),
		TEST(pages_shared_since_a_fork_stay_shared),
		TEST(runs_are_ordered_page_aligned_and_merged),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
