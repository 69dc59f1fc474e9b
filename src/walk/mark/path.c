/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mark/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/*
 * Flag bit in the elements of `places`. If it is set, the word with the pointer is in a
 * register, and the other bits are the number of the register instead of an address.
 */
#define PLACE_REGISTER (UINT64_C(1) << 63)

#define NO_VISIT UINT32_MAX
#define VISITS_MAX ((size_t)UINT32_MAX - 1)

#define PROGRESS_STEP_BYTES (UINT64_C(4) << 20)

/*
 * A breadth-first search. Visits are numbered in the order in which their blocks were
 * found. For each visit, `places` contains the address of the word that points to the
 * block, and `parents` contains the visit of the block with that word.
 */
struct search {
	const struct mark_input *input;
	struct image *image;
	struct block_index index;
	uint64_t *seen;
	uint64_t *places;
	uint32_t *parents;
	size_t count, place_capacity, parent_capacity;
	uint64_t wanted_bit;
	size_t found; /* visit in which the block was found, or NO_VISIT */
	uint64_t done_bytes, reported_bytes;
	bool is_stopped;
};

static void visit_word(struct search *s, uint64_t word, uint64_t place, uint32_t parent)
{
	struct block_ref ref;

	if (!block_index_may_hold(&s->index, word) ||
	    !block_index_find(&s->index, word, &ref) || bit_is_set(s->seen, ref.bit) ||
	    s->count >= VISITS_MAX)
		return;
	bit_set(s->seen, ref.bit);
	s->places =
		xgrow(s->places, &s->place_capacity, s->count + 1, sizeof(*s->places));
	s->parents =
		xgrow(s->parents, &s->parent_capacity, s->count + 1, sizeof(*s->parents));
	s->places[s->count] = place;
	s->parents[s->count] = parent;
	if (ref.bit == s->wanted_bit)
		s->found = s->count;
	s->count++;
}

static void report_progress(struct search *s, uint64_t bytes)
{
	const struct mark_progress *progress = &s->input->progress;

	s->done_bytes += bytes;
	if (!progress->report || s->done_bytes - s->reported_bytes < PROGRESS_STEP_BYTES)
		return;
	s->reported_bytes = s->done_bytes;
	s->is_stopped = progress->report(progress->context, s->done_bytes,
					 s->image->length_bytes);
}

static bool is_over(const struct search *s)
{
	return s->is_stopped || s->found != NO_VISIT;
}

static void scan(struct search *s, uint64_t start, uint64_t end, uint32_t parent)
{
	uint64_t addr = (start + 7) & ~UINT64_C(7);

	while (addr < end && !is_over(s)) {
		const struct image_run *run;
		uint64_t stop;

		addr = image_next_resident(s->image, addr, end);
		if (addr >= end)
			return;
		run = image_run_at(s->image, addr);
		stop = run->end_addr < end ? run->end_addr : end;
		if (stop - addr > PROGRESS_STEP_BYTES)
			stop = addr + PROGRESS_STEP_BYTES;
		report_progress(s, stop - addr);
		for (; addr + sizeof(uint64_t) <= stop && s->found == NO_VISIT;
		     addr += sizeof(uint64_t)) {
			uint64_t word;

			memcpy(&word,
			       s->image->bytes + run->offset_bytes +
				       (addr - run->start_addr),
			       sizeof(word));
			visit_word(s, word, addr, parent);
		}
		if (addr < stop && stop - addr < sizeof(uint64_t))
			addr = stop;
	}
}

static uint64_t word_at(const struct search *s, uint64_t place)
{
	uint64_t word = 0;

	if (place & PLACE_REGISTER)
		return s->input->words[place & ~PLACE_REGISTER];
	image_read(s->image, place, &word);
	return word;
}

/* Return the block that the breadth-first search found in the given visit. */
static struct block_ref block_of(const struct search *s, size_t visit)
{
	struct block_ref ref = { 0 };

	block_index_find(&s->index, word_at(s, s->places[visit]), &ref);
	return ref;
}

static void search(struct search *s)
{
	const struct mark_input *input = s->input;

	for (size_t i = 0; i < input->word_count && !is_over(s); i++)
		visit_word(s, input->words[i], PLACE_REGISTER | i, NO_VISIT);
	for (size_t i = 0; i < input->roots->count && !is_over(s); i++)
		scan(s, input->roots->items[i].start_addr,
		     input->roots->items[i].end_addr, NO_VISIT);
	for (size_t i = 0; i < s->count && !is_over(s); i++) {
		struct block_ref ref = block_of(s, i);

		scan(s, ref.addr, ref.addr + block_index_bytes(&s->index, &ref),
		     (uint32_t)i);
	}
}

static void take_path(const struct search *s, struct path *ret)
{
	size_t at = s->found, count = 0;

	for (size_t visit = at; visit != NO_VISIT; visit = s->parents[visit])
		count++;
	ret->is_found = true;
	ret->count = count;
	ret->steps = xcalloc(count, sizeof(*ret->steps));
	for (; count > 0; at = s->parents[at]) {
		struct path_step *step = &ret->steps[--count];

		step->place_addr = s->places[at] & ~PLACE_REGISTER;
		step->word = word_at(s, s->places[at]);
		ret->is_register = s->places[at] & PLACE_REGISTER;
		blocks_find(s->input->blocks, step->word, &step->block);
	}
}

int path_find(const struct mark_input *input, uint64_t addr, struct path *ret)
{
	const struct blocks *blocks = input->blocks;
	size_t words = (size_t)(blocks->bit_count / 64 + 1);
	struct search s = { .input = input, .image = blocks->image, .found = NO_VISIT };
	struct block_ref wanted;

	*ret = (struct path){ 0 };
	block_index_init(&s.index, blocks);
	if (block_index_find(&s.index, addr, &wanted)) {
		s.wanted_bit = wanted.bit;
		s.seen = xmalloc(words * sizeof(*s.seen));
		memcpy(s.seen, blocks->not_live, words * sizeof(*s.seen));
		search(&s);
		if (s.found != NO_VISIT)
			take_path(&s, ret);
	}
	block_index_release(&s.index);
	free(s.seen);
	free(s.places);
	free(s.parents);
	return s.is_stopped && !ret->is_found ? -ECANCELED : 0;
}

void path_release(struct path *path)
{
	free(path->steps);
	*path = (struct path){ 0 };
}
