/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tests check the pages that a survey finds, and when the survey is stable. They use
 * this process as the target. A walk reads the pages that the test lists.
 */
#include "config.h"

#include "sample/heap/survey.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/units.h"
#include "proc/cgroup/room.h"
#include "sample/heap/moment.h"
#include "tracee/memory/lazy.h"
#include "../../support/unit.h"

#define PAGES 1024
#define PAGE IMAGE_PAGE_BYTES
#define BYTES (PAGES * PAGE)
/* A page is copied together with its block of 64 KiB. */
#define BLOCK_PAGES 16
/* Pages that were missing in a copy are listed in larger blocks. */
#define MISSING_BLOCK_PAGES 256
#define PAUSE_NS 7
#define WALKS_MAX 4

/* Pages that a walk reads: `count` of them, beginning with `first`. */
struct reads {
	size_t first, count;
};

static struct {
	uint8_t *target;
	struct heap_reader reader;
	struct reads walks[WALKS_MAX][2];
	size_t block_page; /* page of the only block of the heap; 0: no block */
	size_t walk_count;
	unsigned int sum;    /* so that the compiler keeps the reads */
	bool may_read_zeros; /* after the maximum number of pages */
	bool has_wrong_byte;
	struct mapping_list mappings;
	size_t moment_count;
	int moment_error;
	uint64_t room_bytes;
} t;

int __wrap_heap_moment_take(struct heap_reader *reader, const struct usage *u,
			    const struct mapping_list *mappings, struct heap_moment **ret,
			    uint64_t *ret_pause_ns);
void __wrap_walk_heap(const struct walk_input *input, struct heap *ret,
		      struct blocks *ret_blocks);
struct room __wrap_proc_room_read(const struct procfs *fs);

struct room __wrap_proc_room_read(const struct procfs *fs)
{
	(void)fs;
	return (struct room){ t.room_bytes, "" };
}

static void copy_listed(struct heap_reader *reader)
{
	const struct page_list *list = &reader->pages;

	for (size_t i = 0; i < PAGES; i++)
		for (size_t k = 0; k < list->count; k++) {
			uint64_t addr = (uintptr_t)t.target + i * PAGE;

			if (addr >= list->items[k].start_addr &&
			    addr < list->items[k].end_addr)
				memcpy(reader->image.bytes + i * PAGE,
				       t.target + i * PAGE, PAGE);
		}
}

int __wrap_heap_moment_take(struct heap_reader *reader, const struct usage *u,
			    const struct mapping_list *mappings, struct heap_moment **ret,
			    uint64_t *ret_pause_ns)
{
	struct heap_moment *moment;

	(void)u;
	(void)mappings;
	assert_true(reader->is_running);
	assert_true(reader->image.is_sparse);
	*ret = NULL;
	*ret_pause_ns = PAUSE_NS;
	t.moment_count++;
	if (t.moment_error)
		return t.moment_error;
	moment = calloc(1, sizeof(*moment));
	assert_non_null(moment);
	moment->pagemap_fd = -1;
	moment->process_fd = -1;
	moment->mem_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	assert_true(moment->mem_fd >= 0);
	usage_init(&moment->usage);
	assert_int_equal(image_reserve(&reader->image, BYTES), 0);
	assert_int_equal(image_add_run(&reader->image, (uintptr_t)t.target,
				       (uintptr_t)t.target + BYTES),
			 0);
	copy_listed(reader);
	for (size_t i = 0; i < t.mappings.count; i++)
		mapping_list_add(&moment->mappings, &t.mappings.items[i]);
	*ret = moment;
	return 0;
}

static void add_block(struct image *image, struct blocks *blocks)
{
	struct extent *extent;

	blocks_init(blocks, image, 64);
	extent = blocks_add_extent(blocks);
	extent->kind = EXTENT_UNITS;
	extent->start_addr = (uintptr_t)t.target + t.block_page * PAGE;
	extent->end_addr = extent->start_addr + PAGE;
	extent->unit_bytes = PAGE;
}

void __wrap_walk_heap(const struct walk_input *input, struct heap *ret,
		      struct blocks *ret_blocks)
{
	const struct reads *reads = t.walks[t.walk_count];

	if (t.block_page)
		add_block(input->image, ret_blocks);
	assert_true(t.walk_count < WALKS_MAX);
	assert_false(input->is_running);
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < reads[i].count; k++) {
			size_t page = reads[i].first + k;
			const uint8_t *at = image_at(
				input->image, (uintptr_t)t.target + page * PAGE, PAGE);

			assert_non_null(at);
			if (*at != page % 251 && !(t.may_read_zeros && *at == 0))
				t.has_wrong_byte = true;
			t.sum += *at;
		}
	t.walk_count++;
	heap_init(ret);
	ret->allocator = ALLOCATOR_GLIBC;
	ret->quality = QUALITY_EXACT;
}

/* The mapping does not begin where an arena would. */
static void add_mapping(const char *name)
{
	struct mapping m = { .start_addr = (uintptr_t)t.target - PAGE,
			     .end_addr = (uintptr_t)t.target + BYTES,
			     .flags = MAPPING_READ | MAPPING_WRITE,
			     .name = name,
			     .name_length = (uint32_t)strlen(name) };

	m.counters.bytes[SMAPS_RSS] = m.counters.bytes[SMAPS_ANONYMOUS] = BYTES;
	mapping_list_add(&t.mappings, &m);
}

static int set_up(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.room_bytes = BYTES_UNKNOWN;
	/* aligned like a block, so that the test knows the blocks of its pages */
	t.target = aligned_alloc(MISSING_BLOCK_PAGES * PAGE, BYTES);
	if (!t.target)
		return -1;
	for (size_t i = 0; i < PAGES; i++)
		memset(t.target + i * PAGE, (int)(i % 251), PAGE);
	add_mapping("");
	heap_reader_init(&t.reader, NULL, NULL, NS_PER_S);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	heap_reader_release(&t.reader);
	mapping_list_release(&t.mappings);
	free(t.target);
	return 0;
}

static void skip_without_userfaultfd(void)
{
	struct image image = IMAGE_INIT;
	struct lazy *lazy;
	uint64_t cpu_ns = 0;
	int r;

	if (!lazy_is_possible())
		skip();
	assert_int_equal(image_make_watchable(&image), 0);
	assert_int_equal(image_reserve(&image, PAGE), 0);
	r = lazy_start(&image, -1, 1, false, &lazy);
	if (r == 0)
		lazy_stop(lazy, NULL, NULL, &cpu_ns);
	image_release(&image);
	if (r == -EPERM || r == -ENOSYS || r == -EINVAL)
		skip();
	assert_int_equal(r, 0);
}

static int survey(struct survey *ret)
{
	struct usage u;
	uint64_t stopped_ns = 100;
	int r;

	usage_init(&u);
	*ret = (struct survey){ 0 };
	t.moment_count = 0;
	r = heap_survey(&t.reader, &u, &t.mappings, ret, &stopped_ns);
	assert_int_equal(stopped_ns, 100 + (uint64_t)t.moment_count * PAUSE_NS);
	assert_false(t.reader.is_running);
	assert_false(t.has_wrong_byte);
	return r;
}

/* Check that the list has exactly the blocks with these numbers. */
static void check_blocks_of(size_t block_pages, const size_t *blocks, size_t count)
{
	const struct page_list *list = &t.reader.pages;
	uint64_t block_bytes = block_pages * PAGE;

	assert_int_equal(page_list_bytes(list), count * block_bytes);
	for (size_t i = 0; i < count; i++) {
		uint64_t addr = (uintptr_t)t.target + blocks[i] * block_bytes;
		size_t k = 0;

		while (k < list->count && list->items[k].end_addr <= addr)
			k++;
		assert_true(k < list->count);
		assert_true(list->items[k].start_addr <= addr);
		assert_true(list->items[k].end_addr >= addr + block_bytes);
	}
}

static void check_blocks(const size_t *blocks, size_t count)
{
	check_blocks_of(BLOCK_PAGES, blocks, count);
}

static void two_equal_walks_are_stable(void **state)
{
	struct survey got;

	(void)state;
	skip_without_userfaultfd();
	for (size_t i = 0; i < WALKS_MAX; i++) {
		t.walks[i][0] = (struct reads){ 3, 1 };
		t.walks[i][1] = (struct reads){ 100, 2 };
	}
	assert_int_equal(survey(&got), 0);
	assert_int_equal(t.walk_count, 2);
	assert_true(got.is_stable);
	check_blocks((size_t[]){ 0, 6 }, 2);
	assert_int_equal(got.bytes, 2 * BLOCK_PAGES * PAGE);
}

static void other_pages_of_the_same_block_are_stable(void **state)
{
	struct survey got;

	(void)state;
	skip_without_userfaultfd();
	t.walks[0][0] = (struct reads){ 3, 1 };
	t.walks[1][0] = (struct reads){ 5, 4 };
	assert_int_equal(survey(&got), 0);
	assert_int_equal(t.walk_count, 2);
	assert_true(got.is_stable);
	check_blocks((size_t[]){ 0 }, 1);
}

static void a_third_walk_may_settle_the_list(void **state)
{
	struct survey got;

	(void)state;
	skip_without_userfaultfd();
	t.walks[0][0] = (struct reads){ 3, 1 };
	t.walks[1][0] = (struct reads){ 100, 1 };
	t.walks[2][0] = (struct reads){ 3, 1 };
	assert_int_equal(survey(&got), 0);
	assert_int_equal(t.walk_count, 3);
	assert_true(got.is_stable);
	check_blocks((size_t[]){ 0, 6 }, 2);
}

static void new_pages_in_each_walk_are_not_stable(void **state)
{
	struct survey got;

	(void)state;
	skip_without_userfaultfd();
	t.walks[0][0] = (struct reads){ 3, 1 };
	t.walks[1][0] = (struct reads){ 100, 1 };
	t.walks[2][0] = (struct reads){ 200, 1 };
	assert_int_equal(survey(&got), 0);
	assert_int_equal(t.walk_count, 3);
	assert_false(got.is_stable);
	check_blocks((size_t[]){ 0, 6, 12 }, 3);
}

/* Let the target be a large arena of malloc. */
static void make_arena(void)
{
	mapping_list_release(&t.mappings);
	add_mapping("[heap]");
}

static bool is_listed(size_t page)
{
	const struct page_list *list = &t.reader.pages;
	uint64_t addr = (uintptr_t)t.target + page * PAGE;

	for (size_t i = 0; i < list->count; i++)
		if (addr >= list->items[i].start_addr && addr < list->items[i].end_addr)
			return true;
	return false;
}

static void only_the_read_pages_of_a_large_arena_are_listed(void **state)
{
	struct survey got;

	(void)state;
	skip_without_userfaultfd();
	make_arena();
	for (size_t i = 0; i < WALKS_MAX; i++) {
		t.walks[i][0] = (struct reads){ 3, 1 };
		t.walks[i][1] = (struct reads){ 400, 2 };
	}
	assert_int_equal(survey(&got), 0);
	/* one of the running process, one of a copy of the listed pages */
	assert_int_equal(t.walk_count, 2);
	assert_int_equal(t.moment_count, 2);
	assert_true(got.is_stable);
	if (is_listed(4))
		skip(); /* before Linux 5.19 */
	/* an arena may grow at its end */
	for (size_t i = 0; i < PAGES; i++)
		assert_true(is_listed(i) == (i == 3 || (i >= 400 && i < 402 + 256)));
}

static void a_list_that_lacks_pages_is_tried_twice(void **state)
{
	struct survey got;

	(void)state;
	skip_without_userfaultfd();
	make_arena();
	t.walks[0][0] = t.walks[1][0] = t.walks[2][0] = (struct reads){ 3, 1 };
	t.walks[1][1] = t.walks[2][1] = (struct reads){ 700, 1 };
	assert_int_equal(survey(&got), 0);
	assert_int_equal(t.walk_count, 3);
	assert_true(got.is_stable);
	assert_true(is_listed(3) && is_listed(700));
	/* the last walk lacks a page, too */
	t.walk_count = 0;
	t.walks[2][0].first = 900;
	assert_int_equal(survey(&got), 0);
	assert_int_equal(t.walk_count, 3);
	assert_false(got.is_stable);
}

static void a_walk_of_too_many_pages_is_refused(void **state)
{
	struct survey got;

	(void)state;
	skip_without_userfaultfd();
	t.walks[0][0] = (struct reads){ 0, PAGES };
	t.may_read_zeros = true;
	assert_int_equal(survey(&got), -ENODATA);
	assert_int_equal(t.walk_count, 1);
	/* there is no memory for a quarter of the pages twice, and for tables */
	t.room_bytes = BYTES / 2;
	assert_int_equal(survey(&got), -ENOMEM);
	assert_int_equal(t.moment_count, 0);
	assert_int_equal(t.walk_count, 1);
}

static void only_errors_of_the_pause_are_final(void **state)
{
	const int finals[] = { -EBUSY, -EPERM, -ESRCH, -ETIMEDOUT, -ETIME, -ENOMEM };
	const int others[] = { -ESTALE, -EIO };
	struct survey got;

	(void)state;
	skip_without_userfaultfd();
	for (size_t i = 0; i < sizeof(finals) / sizeof(finals[0]); i++) {
		t.moment_error = finals[i];
		assert_int_equal(survey(&got), finals[i]);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		t.moment_error = others[i];
		assert_int_equal(survey(&got), -ENODATA);
	}
	assert_int_equal(t.walk_count, 0);
}

/* Make a sparse image in which only one page, the 101st, was copied. */
static void copy_page_100(void)
{
	struct heap_moment *moment;
	uint64_t pause_ns;

	assert_int_equal(image_make_watchable(&t.reader.image), 0);
	t.reader.is_running = true;
	assert_int_equal(heap_moment_take(&t.reader, NULL, NULL, &moment, &pause_ns), 0);
	t.reader.is_running = false;
	heap_moment_free(moment);
	memset(t.reader.image.bytes + 100 * PAGE, 100, PAGE);
}

static void a_page_that_was_not_copied_is_noticed(void **state)
{
	struct walk_input input = { .image = &t.reader.image };
	struct heap heap;
	int mem_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

	(void)state;
	skip_without_userfaultfd();
	assert_true(mem_fd >= 0);
	heap_init(&heap);

	/* the walk needs only what was copied */
	copy_page_100();
	t.walks[0][0] = (struct reads){ 100, 1 };
	assert_int_equal(heap_survey_walk(&t.reader, &input, mem_fd, &heap), 0);
	assert_int_equal(t.reader.pages.count, 0);

	/* the neighbour is missing: it is found, and listed with its block */
	copy_page_100();
	t.walks[1][0] = (struct reads){ 100, 2 };
	assert_int_equal(heap_survey_walk(&t.reader, &input, mem_fd, &heap), -ENODATA);
	check_blocks_of(MISSING_BLOCK_PAGES, (size_t[]){ 0 }, 1);

	/* so is a page that follows many others */
	copy_page_100();
	t.walks[2][0] = (struct reads){ 100, 1 };
	t.walks[2][1] = (struct reads){ PAGES - 2, 1 };
	assert_int_equal(heap_survey_walk(&t.reader, &input, mem_fd, &heap), -ENODATA);
	check_blocks_of(MISSING_BLOCK_PAGES,
			(size_t[]){ 0, PAGES / MISSING_BLOCK_PAGES - 1 }, 2);

	assert_false(t.has_wrong_byte);
	heap_release(&heap);
	close(mem_fd);
}

/* The types of blocks are in their first words, which the walk itself does not read. */
static void what_the_details_need_is_listed(void **state)
{
	struct survey got;

	(void)state;
	skip_without_userfaultfd();
	t.block_page = 200;
	for (size_t i = 0; i < WALKS_MAX; i++)
		t.walks[i][0] = (struct reads){ 3, 1 };
	t.reader.use = HEAP_USE_FIGURES;
	assert_int_equal(survey(&got), 0);
	check_blocks((size_t[]){ 0 }, 1);
	t.walk_count = 0;
	t.reader.use = HEAP_USE_DETAIL;
	assert_int_equal(survey(&got), 0);
	check_blocks((size_t[]){ 0, 12 }, 2);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(two_equal_walks_are_stable),
		TEST(other_pages_of_the_same_block_are_stable),
		TEST(a_third_walk_may_settle_the_list),
		TEST(new_pages_in_each_walk_are_not_stable),
		TEST(only_the_read_pages_of_a_large_arena_are_listed),
		TEST(a_list_that_lacks_pages_is_tried_twice),
		TEST(a_walk_of_too_many_pages_is_refused),
		TEST(only_errors_of_the_pause_are_final),
		TEST(a_page_that_was_not_copied_is_noticed),
		TEST(what_the_details_need_is_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
