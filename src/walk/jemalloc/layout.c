/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/jemalloc/walk.h"

#include <stdlib.h>

#include "base/xalloc.h"

/*
 * Lower bound on the size class number that jemalloc stores in free extents. The stored
 * number is the count of size classes: 232, or 235 with a quantum of 8.
 */
#define NO_CLASS 232

/*
 * Number of extents to sample in order to determine jemalloc's version and configuration.
 */
#define SAMPLE_MAX 4096

static const struct jemalloc_layout layouts[] = {
	/*
	 * jemalloc 5.3: an extent has the flags `pai` and `guarded`, and one of six
	 * states
	 */
	{ 17, 3, 20, 28, true },
	/* jemalloc 5.1 and 5.2: an extent has the flag `dumpable` */
	{ 16, 2, 18, 26, false },
	{ 15, 2, 17, 25, false }, /* jemalloc 5.0 */
};

struct sample {
	struct jemalloc_entry entry;
	struct jemalloc_raw raw;
};

struct samples {
	struct jemalloc *j;
	struct sample *items;
	size_t count, capacity;
};

/*
 * Compute the size classes. quantum_shift, the base-2 logarithm of the quantum, is 3 or
 * 4. If it is 4, one class is smaller than the quantum. Above 4 * quantum, there are four
 * classes for each power of two.
 */
static void make_classes(struct jemalloc *j, unsigned int quantum_shift)
{
	uint64_t base = UINT64_C(1) << quantum_shift;
	uint64_t step = base;

	j->class_count = 0;
	j->small_count = 0;
	if (quantum_shift > 3)
		j->class_bytes[j->class_count++] = base / 2;
	for (unsigned int i = 1; i <= 4; i++)
		j->class_bytes[j->class_count++] = i * step;
	for (base *= 4; base < UINT64_C(1) << 63; base *= 2)
		for (unsigned int i = 1;
		     i <= 4 && base / 4 * i + base < UINT64_C(1) << 63; i++)
			j->class_bytes[j->class_count++] = base + base / 4 * i;
	while (j->class_bytes[j->small_count] < JEMALLOC_LARGE_MIN_BYTES)
		j->small_count++;
}

static unsigned int class_of(const struct jemalloc *j, const struct jemalloc_raw *raw)
{
	return (unsigned int)(raw->bits >> j->layout->class_shift & 0xff);
}

enum jemalloc_state jemalloc_state_of(const struct jemalloc *j,
				      const struct jemalloc_raw *raw)
{
	const struct jemalloc_layout *layout = j->layout;

	return (enum jemalloc_state)(raw->bits >> layout->state_shift &
				     ((1U << layout->state_bits) - 1));
}

bool jemalloc_is_in_huge_cache(const struct jemalloc *j, const struct jemalloc_raw *raw)
{
	return j->layout->has_leaf_state && jemalloc_is_of_huge_page(raw) &&
	       jemalloc_state_of(j, raw) == JEMALLOC_ACTIVE &&
	       class_of(j, raw) >= NO_CLASS;
}

/*
 * Return true if the radix tree's entry is consistent with the extent. For an active
 * extent, both must have the same size class and slab flag. Since jemalloc 5.3, they must
 * also have the same state.
 */
bool jemalloc_entry_fits(const struct jemalloc *j, const struct jemalloc_entry *entry,
			 const struct jemalloc_raw *raw)
{
	enum jemalloc_state state = jemalloc_state_of(j, raw);
	unsigned int class, leaf_state = state;
	bool is_slab;

	if (j->tree->element_bytes == 8) {
		class = (unsigned int)(entry->words[0] >> 48);
		is_slab = entry->words[0] & 1;
		if (j->layout->has_leaf_state)
			leaf_state = entry->words[0] >> 2 & 7;
	} else if (j->layout->has_leaf_state) {
		class = (uint32_t)entry->words[1] >> 5;
		is_slab = entry->words[1] & 1;
		leaf_state = entry->words[1] >> 2 & 7;
	} else {
		class = (uint32_t)entry->words[1];
		is_slab = entry->words[1] >> 32 & 1;
	}
	if (leaf_state != state)
		return false;
	return state != JEMALLOC_ACTIVE ||
	       (class == class_of(j, raw) && is_slab == jemalloc_is_slab(raw));
}

/*
 * In a valid bitmap, the number of set bits is the slab's free count, and no bits after
 * the last block are set in the last word. The words after the bitmap may contain any
 * data.
 */
bool jemalloc_is_bitmap_valid(const struct jemalloc *j, const struct jemalloc_raw *raw,
			      const struct jemalloc_extent *extent)
{
	unsigned int count = extent->block_count, sum = 0;

	if (!extent->is_slab)
		return true;
	for (unsigned int first = 0; first < count; first += 64) {
		uint64_t word = raw->free_bits[first / 64];

		sum += (unsigned int)__builtin_popcountll(word);
		if (count - first < 64 && word >> (count - first) != 0)
			return false;
	}
	return sum == (raw->bits >> j->layout->free_shift & 0x3ff);
}

static bool read_slab(const struct jemalloc *j, const struct jemalloc_raw *raw,
		      struct jemalloc_extent *ret)
{
	uint64_t size = jemalloc_size_of(raw), count;

	if (ret->class >= j->small_count || raw->addr != jemalloc_start_of(raw))
		return false;
	ret->block_bytes = j->class_bytes[ret->class];
	count = size / ret->block_bytes;
	if (count == 0 || count > JEMALLOC_SLAB_BLOCKS_MAX)
		return false;
	ret->block_count = (uint16_t)count;
	return true;
}

bool jemalloc_read_blocks(const struct jemalloc *j, const struct jemalloc_raw *raw,
			  struct jemalloc_extent *ret)
{
	unsigned int class = class_of(j, raw);
	uint64_t size = jemalloc_size_of(raw);

	if (class >= j->class_count)
		return false;
	ret->class = (uint8_t) class;
	ret->is_slab = jemalloc_is_slab(raw);
	ret->first_addr = raw->addr;
	if (ret->is_slab)
		return read_slab(j, raw, ret);
	ret->block_count = 1;
	/* a small block that the heap profiler samples has its own extent */
	ret->block_bytes = class < j->small_count ? j->class_bytes[class]
						  : size - j->pad_bytes;
	if (size < j->pad_bytes || ret->block_bytes > j->class_bytes[class] ||
	    (class > 0 && ret->block_bytes <= j->class_bytes[class - 1]))
		return false;
	return raw->addr - jemalloc_start_of(raw) + ret->block_bytes <= size;
}

static uint64_t collect(void *context, const struct jemalloc_entry *entry)
{
	struct samples *s = context;
	struct jemalloc_raw raw;

	if (!jemalloc_read_raw(s->j, entry->extent_addr, &raw) ||
	    jemalloc_start_of(&raw) != entry->page_addr ||
	    !jemalloc_is_anonymous(s->j, entry->page_addr,
				   entry->page_addr + jemalloc_size_of(&raw)))
		return entry->page_addr + IMAGE_PAGE_BYTES;
	s->items = xgrow(s->items, &s->capacity, s->count + 1, sizeof(*s->items));
	s->items[s->count++] = (struct sample){ *entry, raw };
	return s->count < SAMPLE_MAX ? entry->page_addr + jemalloc_size_of(&raw) : 0;
}

static size_t count_fits(const struct samples *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct sample *sample = &s->items[i];

		count += jemalloc_is_in_huge_cache(s->j, &sample->raw) ||
			 jemalloc_entry_fits(s->j, &sample->entry, &sample->raw);
	}
	return count;
}

/*
 * Return true if the extent has the usual form. A slab usually has the smallest number of
 * pages that its blocks fill without a remainder. A small block is usually in a slab, not
 * in its own extent.
 */
static bool is_usual(const struct jemalloc *j, const struct jemalloc_raw *raw,
		     const struct jemalloc_extent *extent)
{
	uint64_t two = extent->block_bytes & -extent->block_bytes;
	uint64_t pages = extent->block_bytes / two *
			 (two > IMAGE_PAGE_BYTES ? two : IMAGE_PAGE_BYTES);

	return extent->is_slab ? jemalloc_size_of(raw) == pages
			       : extent->class >= j->small_count;
}

/*
 * Counts of sampled extents: active extents, active extents with valid blocks, and valid
 * extents for which is_usual() returns true. The last two counts depend on the size
 * classes and the padding that the search is trying.
 */
struct validity {
	size_t active_count, valid_count, usual_count;
};

static void count_valid(const struct samples *s, struct validity *ret)
{
	*ret = (struct validity){ 0, 0, 0 };
	for (size_t i = 0; i < s->count; i++) {
		const struct jemalloc_raw *raw = &s->items[i].raw;
		struct jemalloc_extent extent;

		if (jemalloc_state_of(s->j, raw) != JEMALLOC_ACTIVE ||
		    jemalloc_is_in_huge_cache(s->j, raw))
			continue;
		ret->active_count++;
		if (!jemalloc_read_blocks(s->j, raw, &extent) ||
		    !jemalloc_is_bitmap_valid(s->j, raw, &extent))
			continue;
		ret->valid_count++;
		ret->usual_count += is_usual(s->j, raw, &extent);
	}
}

static bool choose_layout(const struct samples *s)
{
	const struct jemalloc_layout *best = NULL;
	size_t best_count = 0;

	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		size_t count;

		s->j->layout = &layouts[i];
		count = count_fits(s);
		if (count > best_count) {
			best_count = count;
			best = &layouts[i];
		}
	}
	s->j->layout = best;
	return best && jemalloc_is_majority(s->j, best_count, s->count);
}

/*
 * Determine the quantum and the padding. A large extent has one page more than its block
 * requires, unless opt.cache_oblivious is false.
 */
static bool choose_sizes(const struct samples *s)
{
	static const struct {
		unsigned int quantum_shift;
		uint64_t pad_bytes;
	} choices[] = {
		{ 4, IMAGE_PAGE_BYTES }, { 3, IMAGE_PAGE_BYTES }, { 4, 0 }, { 3, 0 }
	};
	struct validity found, max = { 0, 0, 0 };
	size_t best = 0;

	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		make_classes(s->j, choices[i].quantum_shift);
		s->j->pad_bytes = choices[i].pad_bytes;
		count_valid(s, &found);
		if (found.valid_count + found.usual_count >
		    max.valid_count + max.usual_count) {
			max = found;
			best = i;
		}
	}
	make_classes(s->j, choices[best].quantum_shift);
	s->j->pad_bytes = choices[best].pad_bytes;
	return max.valid_count > 0 &&
	       jemalloc_is_majority(s->j, max.valid_count, max.active_count);
}

const char *jemalloc_find_layout(struct jemalloc *j)
{
	struct samples s = { .j = j };
	const char *problem = NULL;

	if (!jemalloc_for_each_entry(j, collect, &s))
		problem = "jemalloc's page map is corrupted";
	else if (!choose_layout(&s))
		problem = "jemalloc's structures do not belong to a supported version";
	else if (!choose_sizes(&s))
		problem = "jemalloc's size classes are unknown";
	free(s.items);
	return problem;
}
