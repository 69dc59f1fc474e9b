/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The result of a mark must not depend on the number of threads. It is compared with a
 * plain search over the same graph, which shares no code with the mark.
 */
#include "config.h"

#include "walk/mark/workers.h"

#include <errno.h>
#include <stdlib.h>

#include "../../support/unit.h"
#include "base/xalloc.h"

#define BLOCK_BYTES UINT64_C(64)
#define LINKS 4
#define BLOCKS_MAX 60000
#define HEAP_ADDR UINT64_C(0x7f0000000000)
#define ROOT_ADDR UINT64_C(0x560000000000)
#define ROOT_PAGES 64
#define ROOT_WORDS (ROOT_PAGES * IMAGE_PAGE_BYTES / 8)

static const unsigned int thread_counts[] = { 1, 2, 5, MARK_THREADS_MAX };

/* A graph of blocks: links[i] are the numbers of the blocks to which block i points. */
struct graph {
	uint32_t count;
	uint32_t (*links)[LINKS]; /* number of a block + 1, or 0 */
	uint32_t *roots;
	size_t root_count;
	uint64_t random;
	/* the expected result */
	bool *is_reached;
	uint32_t *stack;
	uint64_t reached_count;
};

struct fixture {
	struct graph g;
	struct image image;
	struct blocks blocks;
	struct root_list roots;
	struct root_range range;
	struct mark_progress progress;
};

static uint32_t next_random(struct graph *g, uint32_t limit)
{
	g->random = g->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(g->random >> 33) % limit;
}

/* Search from a block, and return how many blocks are new. */
static uint64_t reach(struct graph *g, bool *seen, uint32_t from)
{
	uint64_t found = 0;
	size_t depth = 0;

	if (seen[from])
		return 0;
	seen[from] = true;
	g->stack[depth++] = from;
	while (depth > 0) {
		uint32_t i = g->stack[--depth];

		found++;
		for (size_t k = 0; k < LINKS; k++) {
			uint32_t to = g->links[i][k];

			if (to == 0 || seen[to - 1])
				continue;
			seen[to - 1] = true;
			g->stack[depth++] = to - 1;
		}
	}
	return found;
}

static uint64_t *word_at(struct fixture *f, uint64_t addr)
{
	return (uint64_t *)(void *)(uintptr_t)image_at(&f->image, addr, 8);
}

static uint64_t block_addr(uint32_t number)
{
	return HEAP_ADDR + number * BLOCK_BYTES;
}

static void set_up(struct fixture *f, uint32_t count, uint64_t seed)
{
	uint64_t heap_bytes = (count * BLOCK_BYTES + IMAGE_PAGE_BYTES - 1) &
			      ~(IMAGE_PAGE_BYTES - 1);

	*f = (struct fixture){ .g = { .count = count, .random = seed } };
	f->g.links = xcalloc(count, sizeof(*f->g.links));
	f->g.roots = xcalloc(ROOT_WORDS, sizeof(*f->g.roots));
	f->g.is_reached = xcalloc(count, sizeof(*f->g.is_reached));
	f->g.stack = xcalloc(count, sizeof(*f->g.stack));
	f->image = (struct image)IMAGE_INIT;
	assert_int_equal(image_add_run(&f->image, ROOT_ADDR, ROOT_ADDR + ROOT_WORDS * 8),
			 0);
	assert_int_equal(image_add_run(&f->image, HEAP_ADDR, HEAP_ADDR + heap_bytes), 0);
	assert_int_equal(image_reserve(&f->image, f->image.length_bytes), 0);
	memset(f->image.bytes, 0, f->image.length_bytes);
	blocks_init(&f->blocks, &f->image, count);
	*blocks_add_extent(&f->blocks) = (struct extent){
		.start_addr = HEAP_ADDR,
		.end_addr = block_addr(count),
		.unit_bytes = BLOCK_BYTES,
		.kind = EXTENT_UNITS,
	};
	blocks_sort(&f->blocks);
	f->range = (struct root_range){ ROOT_ADDR, ROOT_ADDR + ROOT_WORDS * 8 };
	f->roots = (struct root_list){ &f->range, 1, 1, ROOT_WORDS * 8 };
}

static void tear_down(struct fixture *f)
{
	blocks_release(&f->blocks);
	image_release(&f->image);
	free(f->g.links);
	free(f->g.roots);
	free(f->g.is_reached);
	free(f->g.stack);
}

/* Write the graph to the image, and find what is reachable. */
static void write_graph(struct fixture *f)
{
	struct graph *g = &f->g;

	for (uint32_t i = 0; i < g->count; i++)
		for (size_t k = 0; k < LINKS; k++)
			if (g->links[i][k])
				*word_at(f, block_addr(i) + k * 16) =
					block_addr(g->links[i][k] - 1) + k;
	for (size_t i = 0; i < g->root_count; i++) {
		size_t place = i * (ROOT_WORDS / g->root_count);

		*word_at(f, ROOT_ADDR + place * 8) = block_addr(g->roots[i]);
		g->reached_count += reach(g, g->is_reached, g->roots[i]);
	}
}

/* Check the leaks by a plain search: in ascending order for leaders, then descending. */
static void check_leaks(struct fixture *f, struct mark *mark)
{
	struct graph *g = &f->g;
	bool *seen = xcalloc(g->count, sizeof(*seen));
	uint32_t *leaders = xcalloc(g->count, sizeof(*leaders));
	size_t leader_count = 0;
	struct leak leak;

	memcpy(seen, g->is_reached, g->count);
	for (uint32_t i = 0; i < g->count; i++)
		if (reach(g, seen, i) > 0)
			leaders[leader_count++] = i;
	memcpy(seen, g->is_reached, g->count);
	while (leader_count > 0) {
		uint32_t i = leaders[--leader_count];
		uint64_t found = reach(g, seen, i);

		if (found == 0)
			continue;
		assert_int_equal(mark_next_leak(mark, &leak), 1);
		assert_int_equal(leak.addr, block_addr(i));
		assert_int_equal(leak.indirect.count, found - 1);
		assert_int_equal(leak.indirect.bytes, (found - 1) * BLOCK_BYTES);
	}
	assert_int_equal(mark_next_leak(mark, &leak), 0);
	free(leaders);
	free(seen);
}

static void check_mark(struct fixture *f)
{
	struct graph *g = &f->g;

	write_graph(f);
	for (size_t t = 0; t < sizeof(thread_counts) / sizeof(thread_counts[0]); t++) {
		struct mark_input input = {
			.blocks = &f->blocks,
			.roots = &f->roots,
			.thread_count = thread_counts[t],
		};
		struct mark mark;

		assert_int_equal(mark_run(&input, &mark), 0);
		assert_int_equal(mark.live.count, g->count);
		assert_int_equal(mark.reachable.count, g->reached_count);
		assert_int_equal(mark.reachable.bytes, g->reached_count * BLOCK_BYTES);
		for (uint32_t i = 0; i < g->count; i++)
			assert_int_equal(bit_is_set(mark.reached, i), g->is_reached[i]);
		check_leaks(f, &mark);
		/* the roots, each reached block once, and each leaked block twice more */
		assert_int_equal(mark.scanned_bytes,
				 f->roots.bytes + g->reached_count * BLOCK_BYTES +
					 2 * (g->count - g->reached_count) * BLOCK_BYTES);
		mark_release(&mark);
	}
}

/* Graphs of which about half is reachable, up to graphs with many unreachable rings. */
static void random_graphs_have_the_same_result_with_any_number_of_threads(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct fixture f;
		struct graph *g = &f.g;

		set_up(&f, (uint32_t)(BLOCKS_MAX / seed), seed);
		for (uint32_t i = 0; i < g->count; i++)
			for (size_t k = 0; k < LINKS; k++)
				if (next_random(g, 100) < 20 + 3 * seed)
					g->links[i][k] = 1 + next_random(g, g->count);
		g->root_count = 100 * seed;
		for (size_t i = 0; i < g->root_count; i++)
			g->roots[i] = next_random(g, g->count);
		check_mark(&f);
		tear_down(&f);
	}
}

static void make_list(struct fixture *f)
{
	struct graph *g = &f->g;
	uint32_t *order = xcalloc(g->count, sizeof(*order));

	for (uint32_t i = 0; i < g->count; i++)
		order[i] = i;
	for (uint32_t i = g->count - 1; i > 0; i--) {
		uint32_t k = next_random(g, i + 1), number = order[i];

		order[i] = order[k];
		order[k] = number;
	}
	for (uint32_t i = 0; i + 1 < g->count; i++)
		g->links[order[i]][1] = order[i + 1] + 1;
	g->roots[0] = order[g->count / 3];
	g->root_count = 1;
	free(order);
}

static void a_list_has_the_same_result_with_any_number_of_threads(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, BLOCKS_MAX, 7);
	make_list(&f);
	check_mark(&f);
	tear_down(&f);
}

/*
 * Each block points to the next four, so the stack of one thread overflows, and the rest
 * waits in a bit table.
 */
static void a_full_stack_loses_no_block_with_any_number_of_threads(void **state)
{
	struct fixture f;
	struct graph *g = &f.g;

	(void)state;
	set_up(&f, BLOCKS_MAX, 8);
	g->root_count = ROOT_WORDS;
	for (size_t i = 0; i < g->root_count; i++)
		g->roots[i] = next_random(g, g->count / 2);
	for (uint32_t i = 0; i < g->count; i++)
		for (size_t k = 0; k < LINKS; k++)
			g->links[i][k] = 1 + (i * LINKS + (uint32_t)k) % g->count;
	check_mark(&f);
	tear_down(&f);
}

struct telling {
	uint64_t last_bytes, calls, stop_at;
};

static bool note_progress(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
	struct telling *t = context;

	assert_true(done_bytes >= t->last_bytes && done_bytes <= total_bytes);
	t->last_bytes = done_bytes;
	return ++t->calls == t->stop_at;
}

static void progress_of_all_threads_is_reported_and_can_cancel_them(void **state)
{
	struct telling telling = { 0, 0, 0 };
	struct mark_input input = { .thread_count = 5 };
	struct fixture f;
	struct mark mark;

	(void)state;
	set_up(&f, BLOCKS_MAX, 9);
	make_list(&f);
	write_graph(&f);
	input.blocks = &f.blocks;
	input.roots = &f.roots;
	input.progress = (struct mark_progress){ note_progress, &telling };
	assert_int_equal(mark_run(&input, &mark), 0);
	assert_true(telling.last_bytes >= f.roots.bytes);
	mark_release(&mark);
	telling = (struct telling){ 0, 0, 1 };
	assert_int_equal(mark_run(&input, &mark), -ECANCELED);
	assert_int_equal(telling.calls, 1);
	mark_release(&mark);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			random_graphs_have_the_same_result_with_any_number_of_threads),
		cmocka_unit_test(a_list_has_the_same_result_with_any_number_of_threads),
		cmocka_unit_test(a_full_stack_loses_no_block_with_any_number_of_threads),
		cmocka_unit_test(progress_of_all_threads_is_reported_and_can_cancel_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
