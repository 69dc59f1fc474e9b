/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mark/path.h"

#include <errno.h>

#include "../../support/heap_image.h"
#include "../../support/unit.h"

#define LIVE_MAX 64

struct fixture {
	struct heap_image h;
	struct heap heap;
	struct block live[LIVE_MAX]; /* sorted by address */
	size_t count;
	uint64_t word; /* a register of the thread */
	struct root_list roots;
	struct path path;
};

static void set_up(struct fixture *f)
{
	struct block_place place = { 0 };
	struct block block;

	*f = (struct fixture){ 0 };
	heap_image_init(&f->h, &heap_kinds[4]);
	heap_image_walk(&f->h, &f->heap);
	while (blocks_next(&f->h.blocks, &place, &block))
		if (block.state == BLOCK_LIVE)
			f->live[f->count++] = block;
}

static void tear_down(struct fixture *f)
{
	path_release(&f->path);
	root_list_release(&f->roots);
	heap_release(&f->heap);
	heap_image_release(&f->h);
}

static int find(struct fixture *f, size_t live, struct mark_progress progress)
{
	struct mark_input input = {
		.blocks = &f->h.blocks,
		.roots = &f->roots,
		.words = &f->word,
		.word_count = 1,
		.progress = progress,
	};

	path_release(&f->path);
	root_list_release(&f->roots);
	roots_find(&f->h.blocks, &f->h.mappings, NULL, 0, &f->roots);
	return path_find(&input, f->live[live].addr, &f->path);
}

static const struct mark_progress silent = { NULL, NULL };

static void an_unreachable_block_has_no_path(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f);
	/* but nothing points to live[1] */
	heap_image_write(&f.h, f.live[1].addr, f.live[0].addr);
	assert_int_equal(find(&f, 0, silent), 0);
	assert_false(f.path.is_found);
	assert_int_equal(f.path.count, 0);
	tear_down(&f);
}

static void a_path_has_each_pointer_from_the_root(void **state)
{
	struct fixture f;
	uint64_t root;

	(void)state;
	set_up(&f);
	root = f.h.par_addr - 0x100;
	heap_image_write(&f.h, root, f.live[3].addr + 5);
	heap_image_write(&f.h, f.live[3].addr + 16, f.live[1].addr);
	heap_image_write(&f.h, f.live[1].addr + 8, f.live[2].addr);
	assert_int_equal(find(&f, 2, silent), 0);
	assert_true(f.path.is_found);
	assert_false(f.path.is_register);
	assert_int_equal(f.path.count, 3);
	assert_int_equal(f.path.steps[0].place_addr, root);
	assert_int_equal(f.path.steps[0].word, f.live[3].addr + 5);
	assert_int_equal(f.path.steps[0].block.addr, f.live[3].addr);
	assert_int_equal(f.path.steps[1].place_addr, f.live[3].addr + 16);
	assert_int_equal(f.path.steps[1].block.addr, f.live[1].addr);
	assert_int_equal(f.path.steps[2].place_addr, f.live[1].addr + 8);
	assert_int_equal(f.path.steps[2].block.addr, f.live[2].addr);
	tear_down(&f);
}

static void the_shorter_of_two_paths_is_found(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f);
	heap_image_write(&f.h, f.h.par_addr - 0x100, f.live[0].addr);
	heap_image_write(&f.h, f.live[0].addr, f.live[1].addr);
	heap_image_write(&f.h, f.live[1].addr, f.live[4].addr);
	heap_image_write(&f.h, f.live[0].addr + 8, f.live[4].addr);
	assert_int_equal(find(&f, 4, silent), 0);
	assert_int_equal(f.path.count, 2);
	tear_down(&f);
}

static void a_register_root_has_no_address(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f);
	f.word = f.live[2].addr;
	assert_int_equal(find(&f, 2, silent), 0);
	assert_true(f.path.is_found && f.path.is_register);
	assert_int_equal(f.path.count, 1);
	assert_int_equal(f.path.steps[0].place_addr, 0);
	assert_int_equal(f.path.steps[0].word, f.word);
	tear_down(&f);
}

static void a_search_through_a_ring_terminates(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f);
	heap_image_write(&f.h, f.h.par_addr - 0x100, f.live[0].addr);
	for (size_t i = 0; i < 4; i++)
		heap_image_write(&f.h, f.live[i].addr, f.live[(i + 1) % 4].addr);
	assert_int_equal(find(&f, 3, silent), 0);
	assert_int_equal(f.path.count, 4);
	assert_int_equal(find(&f, 5, silent), 0);
	assert_false(f.path.is_found);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unreachable_block_has_no_path),
		cmocka_unit_test(a_path_has_each_pointer_from_the_root),
		cmocka_unit_test(the_shorter_of_two_paths_is_found),
		cmocka_unit_test(a_register_root_has_no_address),
		cmocka_unit_test(a_search_through_a_ring_terminates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
