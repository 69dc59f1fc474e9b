/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sparse images: lists of pages, copies of only some pages, and the detection of reads of
 * pages that were not copied. The target is this process.
 */
#include "config.h"

#include "tracee/memory/lazy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../support/unit.h"
#include "tracee/memory/peek.h"

#define PAGES 256
#define PAGE IMAGE_PAGE_BYTES
#define MAPPED_BYTES (PAGES * PAGE + LAZY_BLOCK_BYTES)

struct memory {
	/* contains the pages, which begin at a multiple of LAZY_BLOCK_BYTES */
	void *mapping;
	uint8_t *bytes;
	uint64_t addr;
	struct peek_range range;
	struct peek peek;
	struct page_list wanted, found;
	struct image image;
	uint64_t cpu_ns;
};

/* Map pages; all except every fifth have been written, with the page's number. */
static int set_up(void **state)
{
	static struct memory m;

	m = (struct memory){ .image = IMAGE_INIT };
	m.mapping = mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m.mapping == MAP_FAILED)
		return -1;
	m.bytes = (uint8_t *)m.mapping + LAZY_BLOCK_BYTES -
		  (uintptr_t)m.mapping % LAZY_BLOCK_BYTES;
	madvise(m.bytes, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		if (i % 5 != 4)
			memset(m.bytes + i * PAGE, (int)(i % 100 + 1), PAGE);
	m.addr = (uintptr_t)m.bytes;
	m.range = (struct peek_range){ .start_addr = m.addr,
				       .end_addr = m.addr + PAGES * PAGE };
	m.peek = (struct peek){
		.pid = getpid(),
		.pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC),
		.mem_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC),
	};
	*state = &m;
	return image_make_watchable(&m.image) < 0 || m.peek.pagemap_fd < 0 ||
			       m.peek.mem_fd < 0
		       ? -1
		       : 0;
}

static int tear_down(void **state)
{
	struct memory *m = *state;

	image_release(&m->image);
	page_list_release(&m->wanted);
	page_list_release(&m->found);
	close(m->peek.pagemap_fd);
	close(m->peek.mem_fd);
	return munmap(m->mapping, MAPPED_BYTES);
}

static void add_pages(struct memory *m, size_t first, size_t end)
{
	page_list_add(&m->wanted, m->addr + first * PAGE, m->addr + end * PAGE);
}

/* Copy the listed pages to a sparse image, or all pages to a dense image. */
static void copy(struct memory *m)
{
	struct image packed = IMAGE_INIT;

	assert_int_equal(peek_find(&m->peek, &m->range, 1, &m->image), 0);
	if (m->image.is_sparse) {
		page_list_sort(&m->wanted);
		assert_int_equal(page_list_select(&m->wanted, &m->image, &packed), 0);
		assert_int_equal(peek_copy(&m->peek, &m->range, 1, &packed), 0);
		assert_int_equal(image_merge(&m->image, &packed), 0);
		image_release(&packed);
	} else {
		assert_int_equal(peek_copy(&m->peek, &m->range, 1, &m->image), 0);
	}
	assert_int_equal(m->image.length_bytes, (PAGES - PAGES / 5) * PAGE);
}

/* Begin to watch the image, or skip the test if userfaultfd(2) is not available. */
static struct lazy *watch_until(struct memory *m, int mem_fd, uint64_t page_max,
				bool ends_if_dense)
{
	struct lazy *lazy = NULL;
	int r = lazy_start(&m->image, mem_fd, page_max, ends_if_dense, &lazy);

	if (r == -EPERM || r == -ENOSYS || r == -EINVAL)
		skip();
	assert_int_equal(r, 0);
	return lazy;
}

static struct lazy *watch(struct memory *m, int mem_fd, uint64_t page_max)
{
	return watch_until(m, mem_fd, page_max, false);
}

static uint8_t read_page(struct memory *m, size_t page)
{
	const uint8_t *at = image_at(&m->image, m->addr + page * PAGE, PAGE);

	assert_non_null(at);
	return at[page];
}

static bool is_found(const struct memory *m, size_t page)
{
	uint64_t addr = m->addr + page * PAGE;

	for (size_t i = 0; i < m->found.count; i++)
		if (addr >= m->found.items[i].start_addr &&
		    addr < m->found.items[i].end_addr)
			return true;
	return false;
}

static void lists_of_pages_are_sorted_and_merged(void **state)
{
	struct page_list list = PAGE_LIST_INIT;

	(void)state;
	page_list_sort(&list);
	assert_int_equal(page_list_bytes(&list), 0);
	page_list_add(&list, 0x5000, 0x6000);
	page_list_add(&list, 0x1000, 0x3000);
	page_list_add(&list, 0x2000, 0x3000);
	page_list_add(&list, 0x3000, 0x4000);
	page_list_sort(&list);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.items[0].start_addr, 0x1000);
	assert_int_equal(list.items[0].end_addr, 0x4000);
	assert_int_equal(list.items[1].start_addr, 0x5000);
	assert_int_equal(page_list_bytes(&list), 0x4000);
	page_list_release(&list);
}

static void only_the_listed_pages_are_copied(void **state)
{
	struct memory *m = *state;

	add_pages(m, 200, 1000); /* up to beyond the memory */
	add_pages(m, 0, 2);
	add_pages(m, 3, 7); /* page 4 is not resident */
	copy(m);
	assert_int_equal(m->image.copied_bytes, (2 + 3 + 56 - 11) * PAGE);
	for (size_t i = 0; i < PAGES; i++) {
		bool is_copied = i < 2 || (i >= 3 && i < 7) || i >= 200;

		if (i % 5 != 4)
			assert_int_equal(read_page(m, i), is_copied ? i % 100 + 1 : 0);
	}
}

static void an_empty_list_copies_nothing(void **state)
{
	struct memory *m = *state;

	copy(m);
	assert_int_equal(m->image.copied_bytes, 0);
}

static void pages_are_read_when_they_are_first_used(void **state)
{
	struct memory *m = *state;
	struct lazy *lazy;

	copy(m);
	lazy = watch(m, m->peek.mem_fd, PAGES);
	for (size_t i = 0; i < PAGES; i += 20)
		assert_int_equal(read_page(m, i), i % 100 + 1);
	assert_true(lazy_stop(lazy, &m->found, NULL, &m->cpu_ns));
	page_list_sort(&m->found);
	if (page_list_bytes(&m->found) > (PAGES / 20 + 1) * PAGE)
		skip(); /* before Linux 5.19 */
	for (size_t i = 0; i < PAGES; i++)
		assert_true(is_found(m, i) == (i % 20 == 0));
	assert_true(m->cpu_ns > 0);
}

/*
 * The list contains one page of each block that was read. A page of another block must
 * not be read with it, because the list would not show that the page was used.
 */
static void a_block_that_is_not_read_from_its_start_ends_at_its_end(void **state)
{
	struct memory *m = *state;
	const size_t last = 31, next = 32; /* both are in the run of pages 30 to 33 */
	struct lazy *lazy;

	copy(m);
	lazy = watch(m, m->peek.mem_fd, PAGES);
	assert_int_equal(read_page(m, last), last + 1);
	assert_int_equal(read_page(m, next), next + 1);
	assert_true(lazy_stop(lazy, NULL, &m->found, &m->cpu_ns));
	assert_true(is_found(m, last) && is_found(m, next));
}

/* Make all pages resident, so that they are one run. */
static void write_all(struct memory *m)
{
	for (size_t i = 4; i < PAGES; i += 5)
		memset(m->bytes + i * PAGE, (int)(i % 100 + 1), PAGE);
}

/* Copy no page, and read every eighth page. */
static void read_every_eighth(struct memory *m)
{
	struct lazy *lazy;

	image_make_watchable(&m->image);
	assert_int_equal(peek_find(&m->peek, &m->range, 1, &m->image), 0);
	assert_int_equal(image_reserve(&m->image, PAGES * PAGE), 0);
	lazy = watch(m, m->peek.mem_fd, PAGES);
	for (size_t i = 0; i < PAGES; i += 8)
		assert_int_equal(read_page(m, i), i % 100 + 1);
	assert_true(lazy_stop(lazy, &m->wanted, &m->found, &m->cpu_ns));
}

static void sequential_reads_need_few_faults(void **state)
{
	struct memory *m = *state;

	write_all(m);
	read_every_eighth(m);
	/* blocks of 16, 32, 64 and 128 pages, and the rest */
	assert_true(m->found.count <= 5);
}

static void the_accessed_pages_are_listed_though_others_are_read(void **state)
{
	struct memory *m = *state;

	write_all(m);
	read_every_eighth(m);
	page_list_sort(&m->wanted);
	if (m->wanted.count == 1)
		skip(); /* before Linux 5.19 */
	assert_int_equal(m->wanted.count, PAGES / 8);
	for (size_t i = 0; i < PAGES / 8; i++) {
		assert_int_equal(m->wanted.items[i].start_addr, m->addr + 8 * i * PAGE);
		assert_int_equal(m->wanted.items[i].end_addr,
				 m->addr + (8 * i + 1) * PAGE);
	}
}

/* A walker may have checked the contents of a page, so the page must not change. */
static void a_page_that_is_present_does_not_change(void **state)
{
	struct memory *m = *state;
	struct lazy *lazy;

	write_all(m);
	assert_int_equal(peek_find(&m->peek, &m->range, 1, &m->image), 0);
	assert_int_equal(image_reserve(&m->image, PAGES * PAGE), 0);
	lazy = watch(m, m->peek.mem_fd, PAGES);
	assert_int_equal(read_page(m, 16), 17);
	memset(m->bytes, 255, PAGES * PAGE);
	assert_int_equal(read_page(m, 0), 255);
	assert_int_equal(read_page(m, 16), 17);
	assert_int_equal(read_page(m, 15), 255);
	assert_int_equal(read_page(m, 17), 18); /* read together with page 16 */
	assert_true(lazy_stop(lazy, NULL, &m->found, &m->cpu_ns));
}

static void a_limit_on_the_size_of_files_is_respected(void **state)
{
	struct memory *m = *state;
	struct rlimit before, limit;
	struct lazy *lazy;

	if (!lazy_is_possible())
		skip();
	assert_int_equal(image_reserve(&m->image, PAGES * PAGE), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = PAGE;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(lazy_start(&m->image, -1, PAGES, false, &lazy), -EPERM);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
}

/* Most pages that are read are also accessed, so nothing is gained. */
static void dense_accesses_end_the_watch(void **state)
{
	struct memory *m = *state;
	struct lazy *lazy;
	size_t zeros = 0;

	write_all(m);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(image_make_watchable(&m->image), 0);
		assert_false(image_is_cut(&m->image));
		assert_int_equal(peek_find(&m->peek, &m->range, 1, &m->image), 0);
		assert_int_equal(image_reserve(&m->image, PAGES * PAGE), 0);
		lazy = watch_until(m, m->peek.mem_fd, PAGES, i == 0);
		zeros = 0;
		for (size_t k = 0; k < PAGES; k += 2)
			zeros += read_page(m, k) == 0;
		assert_true(lazy_stop(lazy, NULL, &m->found, &m->cpu_ns) == (i == 1));
		assert_true(image_is_cut(&m->image) == (i == 0));
		/* an eighth or more is read before the check */
		if (i == 0)
			assert_in_range(zeros, PAGES / 4, PAGES / 2 - PAGES / 16);
		else
			assert_int_equal(zeros, 0);
	}
}

/* Pages of a file in memory would be allocated when they are read. */
static void absent_pages_take_no_memory_after_the_end(void **state)
{
	struct memory *m = *state;
	struct lazy *lazy;
	struct stat st;

	write_all(m);
	assert_int_equal(peek_find(&m->peek, &m->range, 1, &m->image), 0);
	assert_int_equal(image_reserve(&m->image, PAGES * PAGE), 0);
	lazy = watch(m, m->peek.mem_fd, 1);
	assert_int_equal(read_page(m, 0), 1);
	for (size_t i = 16; i < PAGES; i++)
		assert_int_equal(read_page(m, i), 0);
	assert_int_equal(read_page(m, 0), 1);
	assert_false(lazy_stop(lazy, NULL, &m->found, &m->cpu_ns));
	assert_int_equal(fstat(m->image.fd, &st), 0);
	assert_true((uint64_t)st.st_blocks * 512 <= LAZY_BLOCK_BYTES);
}

static void an_unreadable_page_does_not_hide_the_next(void **state)
{
	struct memory *m = *state;
	struct lazy *lazy;

	copy(m);
	assert_int_equal(munmap(m->bytes + 10 * PAGE, PAGE), 0);
	lazy = watch(m, m->peek.mem_fd, PAGES);
	assert_int_equal(read_page(m, 11), 12);
	assert_true(lazy_stop(lazy, NULL, &m->found, &m->cpu_ns));
}

static void a_read_of_a_page_that_was_not_copied_is_noticed(void **state)
{
	struct memory *m = *state;
	struct lazy *lazy;

	add_pages(m, 10, 20);
	copy(m);
	lazy = watch(m, -1, PAGES);
	assert_int_equal(read_page(m, 11), 12);
	assert_int_equal(read_page(m, 18), 19);
	assert_true(lazy_stop(lazy, NULL, &m->found, &m->cpu_ns));
	assert_int_equal(m->found.count, 0);

	lazy = watch(m, -1, PAGES);
	assert_int_equal(read_page(m, 11), 12);
	assert_int_equal(read_page(m, 21), 0);
	assert_true(lazy_stop(lazy, NULL, &m->found, &m->cpu_ns));
	assert_int_equal(m->found.count, 1);
	assert_true(is_found(m, 21));
}

static void pages_beyond_the_maximum_are_zeros(void **state)
{
	struct memory *m = *state;
	struct lazy *lazy;

	copy(m);
	/* the other pages of the block are read too, but a run has four pages */
	lazy = watch(m, m->peek.mem_fd, 2 * 4);
	for (size_t i = 0; i < 200; i += 20)
		assert_int_equal(read_page(m, i), i < 40 ? i % 100 + 1 : 0);
	assert_false(lazy_stop(lazy, NULL, &m->found, &m->cpu_ns));
	assert_int_equal(m->found.count, 2);
}

static void a_page_that_has_vanished_is_zeros(void **state)
{
	struct memory *m = *state;
	struct lazy *lazy;

	copy(m);
	assert_int_equal(munmap(m->bytes + 10 * PAGE, PAGE), 0);
	lazy = watch(m, m->peek.mem_fd, PAGES);
	assert_int_equal(read_page(m, 10), 0);
	assert_int_equal(read_page(m, 11), 12);
	assert_true(lazy_stop(lazy, NULL, &m->found, &m->cpu_ns));
}

static void sparse_and_complete_copies_may_alternate(void **state)
{
	struct memory *m = *state;

	copy(m);
	image_release(&m->image);
	copy(m);
	assert_int_equal(m->image.copied_bytes, m->image.length_bytes);
	for (size_t i = 0; i < PAGES; i++)
		if (i % 5 != 4)
			assert_int_equal(read_page(m, i), i % 100 + 1);
	assert_int_equal(image_make_watchable(&m->image), 0);
	copy(m);
	assert_int_equal(read_page(m, 0), 0);
	image_make_sparse(&m->image);
	copy(m);
	assert_int_equal(read_page(m, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		cmocka_unit_test(lists_of_pages_are_sorted_and_merged),
		TEST(only_the_listed_pages_are_copied),
		TEST(an_empty_list_copies_nothing),
		TEST(pages_are_read_when_they_are_first_used),
		TEST(a_block_that_is_not_read_from_its_start_ends_at_its_end),
		TEST(sequential_reads_need_few_faults),
		TEST(the_accessed_pages_are_listed_though_others_are_read),
		TEST(a_page_that_is_present_does_not_change),
		TEST(dense_accesses_end_the_watch),
		TEST(absent_pages_take_no_memory_after_the_end),
		TEST(an_unreadable_page_does_not_hide_the_next),
		TEST(a_limit_on_the_size_of_files_is_respected),
		TEST(a_read_of_a_page_that_was_not_copied_is_noticed),
		TEST(pages_beyond_the_maximum_are_zeros),
		TEST(a_page_that_has_vanished_is_zeros),
		TEST(sparse_and_complete_copies_may_alternate),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
