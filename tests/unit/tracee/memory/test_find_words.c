/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/find_words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "../../support/unit.h"

#define PAGE UINT64_C(4096)
#define PAGES 1024

static const uint64_t wanted[] = { UINT64_C(0x7f1234567000), UINT64_C(0x7f1234567890),
				   UINT64_C(0x7f12345678a0) };

static struct find_words make_search(void)
{
	return (struct find_words){
		.process_fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.mem_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC),
		.wanted = wanted,
		.wanted_count = 3,
		.deadline_ns = clock_now_ns() + 100 * NS_PER_S,
		.found_max = 100,
	};
}

static void end_search(struct find_words *f)
{
	close(f->process_fd);
	close(f->mem_fd);
	free(f->found);
}

/* Map memory whose last page is followed by memory that cannot be read. */
static uint64_t *map(int flags, int fd)
{
	uint8_t *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | flags,
			  fd, 0);

	assert_true(p != MAP_FAILED);
	madvise(p, PAGES * PAGE, MADV_NOHUGEPAGE);
	assert_return_code(mprotect(p + (PAGES - 1) * PAGE, PAGE, PROT_NONE), 0);
	return (uint64_t *)(void *)p;
}

static int search(struct find_words *f, const uint64_t *from, uint64_t bytes)
{
	const struct address_range range = { (uintptr_t)from, (uintptr_t)from + bytes };

	return find_words(f, &range, 1);
}

static void finds_words_in_every_written_page(void **state)
{
	struct find_words f = make_search();
	uint64_t *words = map(MAP_ANONYMOUS, -1);
	const size_t places[] = {
		0, 511, 512, 3 * 512 + 7, 255 * 512 + 511, 256 * 512, 1022 * 512 + 511
	};

	(void)state;
	for (size_t i = 0; i < 7; i++)
		words[places[i]] = wanted[i % 3];
	words[100] = wanted[0] + 1;
	words[101] = wanted[2] + 8;
	memcpy((uint8_t *)&words[102] + 4, &wanted[1], sizeof(wanted[1]));
	assert_int_equal(search(&f, words, (PAGES - 1) * PAGE), 0);
	assert_int_equal(f.count, 7);
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(f.found[i].addr, (uintptr_t)&words[places[i]]);
		assert_int_equal(f.found[i].word, wanted[i % 3]);
	}
	assert_int_equal(f.unread_bytes, 0);
	munmap(words, PAGES * PAGE);
	end_search(&f);
}

static void respects_the_limits_of_the_range(void **state)
{
	struct find_words f = make_search();
	uint64_t *words = map(MAP_ANONYMOUS, -1);

	(void)state;
	for (size_t i = 0; i < 1024; i++)
		words[i] = wanted[0];
	assert_int_equal(search(&f, words + 10, 20 * sizeof(*words)), 0);
	assert_int_equal(f.count, 20);
	assert_int_equal(f.found[0].addr, (uintptr_t)(words + 10));
	assert_int_equal(search(&f, (uint64_t *)(void *)((uint8_t *)words + 1), 16), 0);
	/* the words at 8 and 16 begin in the range, but the second one ends beyond it */
	assert_int_equal(f.count, 21);
	assert_int_equal(f.found[20].addr, (uintptr_t)(words + 1));
	assert_int_equal(f.unread_bytes, 0);
	munmap(words, PAGES * PAGE);
	end_search(&f);
}

static void stops_at_too_many_words(void **state)
{
	struct find_words f = make_search();
	uint64_t *words = map(MAP_ANONYMOUS, -1);

	(void)state;
	for (size_t i = 0; i < 101; i++)
		words[i * 500] = wanted[0];
	assert_int_equal(search(&f, words, (PAGES - 1) * PAGE), -E2BIG);
	assert_int_equal(f.count, 100);
	munmap(words, PAGES * PAGE);
	end_search(&f);
}

static void counts_what_it_does_not_read(void **state)
{
	struct find_words f = make_search();
	uint64_t *words = map(MAP_ANONYMOUS, -1);

	(void)state;
	words[0] = wanted[0];
	f.deadline_ns = 1;
	assert_int_equal(search(&f, words, (PAGES - 1) * PAGE), 0);
	assert_int_equal(f.count, 0);
	assert_int_equal(f.unread_bytes, (PAGES - 1) * PAGE);
	munmap(words, PAGES * PAGE);
	end_search(&f);
}

/* Absent pages, and pages that are only in the file, contain no copy and are not read. */
static void reads_only_written_pages(void **state)
{
	char path[] = "/tmp/find-words-XXXXXX";
	struct find_words f = make_search();
	unsigned char is_resident[PAGES];
	int fd = mkstemp(path);
	uint64_t *words, *of_file;

	(void)state;
	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(pwrite(fd, wanted, sizeof(wanted), 0), sizeof(wanted));
	assert_int_equal(pwrite(fd, wanted, sizeof(wanted), (PAGES - 2) * PAGE),
			 sizeof(wanted));
	assert_return_code(ftruncate(fd, PAGES * PAGE), 0);
	of_file = map(0, fd);
	assert_int_equal(of_file[0], wanted[0]);
	of_file[(PAGES - 2) * 512] = wanted[2];
	words = map(MAP_ANONYMOUS, -1);
	words[5 * 512] = wanted[1];
	assert_int_equal(search(&f, of_file, (PAGES - 1) * PAGE), 0);
	assert_int_equal(f.count, 3); /* the words of the page that was written */
	assert_int_equal(f.found[0].word, wanted[2]);
	assert_int_equal(f.read_bytes, PAGE);
	assert_int_equal(search(&f, words, (PAGES - 1) * PAGE), 0);
	assert_int_equal(f.count, 4);
	assert_int_equal(f.read_bytes, 2 * PAGE);
	assert_return_code(mincore(words, (PAGES - 1) * PAGE, is_resident), 0);
	for (size_t i = 0; i < PAGES - 1; i++)
		assert_int_equal(is_resident[i] & 1, i == 5);
	munmap(words, PAGES * PAGE);
	munmap(of_file, PAGES * PAGE);
	close(fd);
	end_search(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_words_in_every_written_page),
		cmocka_unit_test(respects_the_limits_of_the_range),
		cmocka_unit_test(stops_at_too_many_words),
		cmocka_unit_test(counts_what_it_does_not_read),
		cmocka_unit_test(reads_only_written_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
