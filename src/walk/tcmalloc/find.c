/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/tcmalloc/walk.h"

#include <string.h>

/*
 * Limits on the base-2 logarithm of the page size for which tcmalloc can be configured.
 */
#define PAGE_SHIFT_MIN 12
#define PAGE_SHIFT_MAX 16

/*
 * Base-2 logarithm of the maximum span length in the array of list heads: 1 MiB
 * (kMaxPages). The array has two heads for each length.
 */
#define LONGEST_LOG2 20
#define ROW_HEADS_MAX (2u << (LONGEST_LOG2 - PAGE_SHIFT_MIN))

/* Number of address bits that the page map covers (kAddressBits). */
#define ADDRESS_BITS 48

/* Maximum share of list heads that may be inconsistent: 1/UNLINKED_SHARE. */
#define UNLINKED_SHARE 8

/*
 * Size of the members of PageHeap between the root of the page map and the array of list
 * heads: the page map's allocator function, and two std::set objects. Before version 2.7,
 * two list heads replace the sets.
 */
#define BEFORE_ROW_BYTES (8 + 2 * 48)

/*
 * Number of bytes of class_to_size_ to compare. In SizeMap, the tables
 * num_objects_to_move_, class_to_size_ and class_to_pages_ have one element per class.
 * The number of classes follows the tables; since version 2.11, there is another word
 * between them.
 */
#define TABLE_BEGIN_BYTES 16
#define BLOCK_BYTES_MAX UINT64_C(262144) /* maximum size of a small block (kMaxSize) */
#define CLASS_COUNT_MIN 40
/* maximum number of size classes (kClassSizesMax) before version 2.8 */
#define CLASS_MAX_BEFORE 96
#define BATCH_MAX 32768
#define SPAN_PAGES_MAX 255

/* Offsets in CentralFreeList, relative to size_class_. */
#define CENTRAL_EMPTY 8

/* Offsets in struct Span. */
#define SPAN_NEXT 16
#define SPAN_PREV 24

/*
 * Return true if the head of a list of spans may be at addr. Set *ret_is_linked to true
 * if the first and the last span of the list point back to the head. In a valid list,
 * these pointers may be missing if memstate stopped the process while tcmalloc was
 * changing the list, or if a span is swapped out.
 */
static bool is_head(struct image *image, uint64_t addr, bool *ret_is_linked)
{
	const uint8_t *at = image_at(image, addr, TCMALLOC_SPAN_BYTES);
	uint64_t words[4], back = 0, forth = 0;

	*ret_is_linked = false;
	if (!at)
		return false;
	memcpy(words, at, sizeof(words));
	/* a head is a span without pages, and an empty list points back to its head */
	if (words[0] != 0 || words[1] != 0 || words[2] == 0 || words[3] == 0)
		return false;
	*ret_is_linked =
		(words[2] == addr && words[3] == addr) ||
		(words[2] <= UINT64_MAX - SPAN_PREV &&
		 words[3] <= UINT64_MAX - SPAN_NEXT &&
		 image_read(image, words[2] + SPAN_PREV, &back) && back == addr &&
		 image_read(image, words[3] + SPAN_NEXT, &forth) && forth == addr);
	return true;
}

/*
 * Return true if the word at addr is swapped out, or equals `value`. Set *ret_is_absent
 * if the word is swapped out.
 */
static bool may_equal(struct tcmalloc *t, uint64_t addr, uint64_t value,
		      bool *ret_is_absent)
{
	uint64_t word;

	if (image_read(t->image, addr, &word))
		return word == value;
	if (!walk_is_swapped(t->input, addr))
		return false;
	*ret_is_absent = true;
	return true;
}

/*
 * Return true if the head at addr fails the check of is_head() only because the head, or
 * the first or last span of its list, is swapped out.
 */
static bool is_link_absent(struct tcmalloc *t, uint64_t addr)
{
	const uint8_t *at = image_at(t->image, addr, TCMALLOC_SPAN_BYTES);
	bool is_absent = false;
	uint64_t words[4];

	if (!at)
		return walk_is_part_swapped(t->input, addr, addr + TCMALLOC_SPAN_BYTES);
	memcpy(words, at, sizeof(words));
	return words[0] == 0 && words[1] == 0 && words[2] <= UINT64_MAX - SPAN_PREV &&
	       words[3] <= UINT64_MAX - SPAN_NEXT &&
	       may_equal(t, words[2] + SPAN_PREV, addr, &is_absent) &&
	       may_equal(t, words[3] + SPAN_NEXT, addr, &is_absent) && is_absent;
}

/*
 * Return how many of the list heads in [start, end) are inconsistent. Heads that fail the
 * check only because the head itself, or the first or last span of its list, is swapped
 * out are counted in t->absent_spans instead.
 */
static uint64_t count_unlinked(struct tcmalloc *t, uint64_t start, uint64_t end)
{
	uint64_t count = 0;
	bool is_linked;

	for (; start < end; start += TCMALLOC_SPAN_BYTES) {
		if (is_head(t->image, start, &is_linked) && is_linked)
			continue;
		if (is_link_absent(t, start))
			t->absent_spans++;
		else
			count++;
	}
	return count;
}

/*
 * Find the array of list heads that contains the head at addr. Its first and last heads
 * must be consistent. Return false if the array does not have the length of a page
 * heap's array.
 */
static bool read_row(struct tcmalloc *t, uint64_t addr)
{
	uint64_t max = (ROW_HEADS_MAX + 2) * TCMALLOC_SPAN_BYTES;
	uint64_t start = addr, end = addr, at;
	bool is_linked;

	if (!tcmalloc_spend(t, 2 * ROW_HEADS_MAX))
		return false;
	for (at = addr; at - addr <= max && is_head(t->image, at, &is_linked);
	     at += TCMALLOC_SPAN_BYTES)
		end = is_linked ? at + TCMALLOC_SPAN_BYTES : end;
	for (at = addr; addr - at <= max && is_head(t->image, at, &is_linked);
	     at -= TCMALLOC_SPAN_BYTES)
		start = is_linked ? at : start;
	for (unsigned int shift = PAGE_SHIFT_MIN; shift <= PAGE_SHIFT_MAX; shift++) {
		uint64_t heads = UINT64_C(2) << (LONGEST_LOG2 - shift), unlinked;

		/* before version 2.7, the array begins with two heads for longer spans */
		if (end - start != heads * TCMALLOC_SPAN_BYTES &&
		    end - start != (heads + 2) * TCMALLOC_SPAN_BYTES)
			continue;
		unlinked = count_unlinked(t, start, end);
		t->page_shift = shift;
		t->row_addr = end - heads * TCMALLOC_SPAN_BYTES;
		t->row_end_addr = end;
		t->broken_lists += unlinked;
		return unlinked <= heads / UNLINKED_SHARE;
	}
	return false;
}

/*
 * Read the size classes from the tables at addr, which have class_max elements each.
 * Return false if the tables are invalid.
 */
static bool read_classes(struct tcmalloc *t, uint64_t addr, unsigned int class_max)
{
	uint64_t bytes = UINT64_C(4) * class_max, counts[2];
	uint64_t pages_addr = (addr + bytes + 7) & ~UINT64_C(7);
	const uint8_t *sizes = image_at(t->image, addr - bytes, 2 * bytes);
	const uint8_t *pages = image_at(t->image, pages_addr, 2 * bytes + 16);
	bool has_ended = false;

	if (!sizes || !pages)
		return false;
	t->class_count = 1;
	for (unsigned int i = 1; i < class_max; i++) {
		struct tcmalloc_class *class = &t->classes[i];
		int32_t block_bytes, batch;
		uint64_t span_pages;

		memcpy(&batch, sizes + sizeof(batch) * i, sizeof(batch));
		memcpy(&block_bytes, sizes + bytes + sizeof(block_bytes) * i,
		       sizeof(block_bytes));
		memcpy(&span_pages, pages + sizeof(span_pages) * i, sizeof(span_pages));
		has_ended = has_ended || block_bytes == 0;
		if (has_ended && block_bytes == 0)
			continue;
		if (has_ended || block_bytes < 0 ||
		    (uint64_t)block_bytes <= class[-1].bytes || batch < 2 ||
		    batch > BATCH_MAX || span_pages == 0 || span_pages > SPAN_PAGES_MAX ||
		    span_pages << t->page_shift < (uint64_t)block_bytes)
			return false;
		*class = (struct tcmalloc_class){ (uint64_t)block_bytes, span_pages,
						  (uint64_t)batch, 0 };
		t->class_count = i + 1;
	}
	memcpy(counts, pages + 2 * bytes, sizeof(counts));
	t->class_max = class_max;
	return t->class_count >= CLASS_COUNT_MIN &&
	       t->classes[t->class_count - 1].bytes == BLOCK_BYTES_MAX &&
	       (counts[0] == t->class_count || counts[1] == t->class_count);
}

static bool test_class_table(struct tcmalloc *t, uint64_t addr, const uint8_t *at)
{
	/* the sizes of classes 0 to 3; class 0 is not used */
	static const int32_t sizes[4] = { 0, 8, 16, 32 };

	if (memcmp(at, sizes, sizeof(sizes)) != 0 || addr < 4 * TCMALLOC_CLASS_MAX)
		return false;
	return read_classes(t, addr, TCMALLOC_CLASS_MAX) ||
	       read_classes(t, addr, CLASS_MAX_BEFORE);
}

/* Return true if the central lists, one for each class, are at addr. */
static bool are_central_lists(struct tcmalloc *t, uint64_t addr)
{
	uint64_t unlinked = 0;

	for (unsigned int i = 0; i < t->class_count;
	     i++, addr += TCMALLOC_CENTRAL_BYTES) {
		uint64_t number, heads = addr + CENTRAL_EMPTY;

		if (!image_read(t->image, addr, &number) || number != i)
			return false;
		unlinked += count_unlinked(t, heads, heads + 2 * TCMALLOC_SPAN_BYTES);
	}
	if (unlinked > 2 * t->class_count / UNLINKED_SHARE)
		return false;
	t->broken_lists += unlinked;
	return true;
}

static bool test_central_lists(struct tcmalloc *t, uint64_t addr, const uint8_t *at)
{
	uint64_t words[3];

	memcpy(words, at, sizeof(words));
	/*
	 * the central list of class 1 begins with its class number, followed by a list
	 * head whose start and length are 0
	 */
	if (words[0] != 1 || words[1] != 0 || words[2] != 0 ||
	    addr < TCMALLOC_CENTRAL_BYTES ||
	    !are_central_lists(t, addr - TCMALLOC_CENTRAL_BYTES))
		return false;
	t->central_addr = addr - TCMALLOC_CENTRAL_BYTES;
	return true;
}

/* Compute the location of the page map, and read the page heap's own figures. */
static bool read_page_heap(struct tcmalloc *t)
{
	unsigned int page_bits = ADDRESS_BITS - t->page_shift;
	const uint8_t *at = image_at(t->image, t->row_end_addr, sizeof(t->stats));

	t->leaf_bits = (page_bits + 1) / 2;
	t->root_words = UINT64_C(1) << (page_bits - t->leaf_bits);
	if (!at || t->row_addr < BEFORE_ROW_BYTES + 8 * t->root_words)
		return false;
	t->root_addr = t->row_addr - BEFORE_ROW_BYTES - 8 * t->root_words;
	memcpy(&t->stats, at, sizeof(t->stats));
	return true;
}

/*
 * If the head of an empty list is at addr, try to read the array of list heads that
 * contains it, and the size classes.
 */
static bool test_row(struct tcmalloc *t, uint64_t addr, const uint8_t *at)
{
	uint64_t next;

	memcpy(&next, at + SPAN_NEXT, sizeof(next));
	if (next != addr)
		return false;
	t->broken_lists = t->absent_spans = 0;
	if (!read_row(t, addr)) {
		t->row_addr = 0;
		return false;
	}
	if (tcmalloc_scan(t, 4, TABLE_BEGIN_BYTES, test_class_table))
		return true;
	t->row_addr = 0;
	return false;
}

bool tcmalloc_scan(struct tcmalloc *t, unsigned int step, uint64_t length,
		   tcmalloc_test test)
{
	uint64_t addr = t->area.start_addr, limit = t->area.end_addr;

	while ((addr = image_next_resident(t->image, addr, limit)) < limit) {
		const struct image_run *run = image_run_at(t->image, addr);
		uint64_t end = run->end_addr < limit ? run->end_addr : limit;
		const uint8_t *at =
			t->image->bytes + run->offset_bytes + (addr - run->start_addr);

		for (; addr + length <= end; addr += step, at += step)
			if (test(t, addr, at))
				return true;
		addr = end;
	}
	return false;
}

const char *tcmalloc_find(struct tcmalloc *t)
{
	size_t index = 0;

	while (t->row_addr == 0 && data_area_next(t->input, &index, &t->area))
		tcmalloc_scan(t, 8, TCMALLOC_SPAN_BYTES, test_row);
	if (t->row_addr == 0)
		return "tcmalloc was not found";
	if (!read_page_heap(t) || !tcmalloc_scan(t, 8, 24, test_central_lists))
		return "the structures are not those of gperftools 2.6 to 2.18";
	return tcmalloc_find_caches(t);
}
