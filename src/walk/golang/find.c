/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/golang/walk.h"

#include <string.h>

/* The layouts of Go 1.18 to 1.21, and of Go 1.22 to 1.26. */
static const struct golang_layout layouts[] = {
	{ .free_index = 48, .count = 56, .alloc_bits = 72, .is_short = false },
	{ .free_index = 48, .count = 50, .alloc_bits = 64, .is_short = true },
};

#define LIST_MIN UINT64_C(8)
#define LIST_MAX (UINT64_C(1) << 26)

/*
 * Limits for recognizing the list of spans: the number of spans to examine, the minimum
 * number of valid spans, and the minimum number of valid spans for each invalid span.
 */
#define SAMPLE 64
#define SOUND_MIN 4
#define UNSOUND_SHARE 8

/*
 * Return how many of the first spans in the list are in use and valid. Return 0 if the
 * list contains more than one invalid span per UNSOUND_SHARE valid spans. A few may be
 * invalid if Go was changing them when memstate stopped the process.
 */
static unsigned int count_sound(struct golang *g, uint64_t list, uint64_t count,
				const struct golang_layout *layout)
{
	unsigned int sound = 0, unsound = 0;

	for (uint64_t i = 0; i < SAMPLE && i < count; i++) {
		struct golang_span span;
		uint64_t addr;

		if (!image_read(g->image, list + 8 * i, &addr) || addr == 0 ||
		    addr % 8 != 0)
			return 0;
		/*
		 * the runtime allocates 64 structs mspan in advance for each P (logical
		 * processor); until they are used, their memory is untouched
		 */
		if (!golang_read_span(g->image, addr, layout, &span))
			continue;
		if (span.state == GOLANG_DEAD)
			continue;
		if (span.end_addr == 0 || span.state > GOLANG_MANUAL ||
		    (span.state == GOLANG_IN_USE && !golang_is_sound(&span)))
			unsound++;
		else
			sound += span.state == GOLANG_IN_USE;
	}
	return unsound * UNSOUND_SHARE <= sound ? sound : 0;
}

/* Return true if mheap_.allspans, which is a slice, is at addr. */
static bool try_slice(struct golang *g, uint64_t addr)
{
	uint64_t list, count, capacity;
	unsigned int best = 0;

	if (!image_read(g->image, addr + 8, &count) || count < LIST_MIN ||
	    count > LIST_MAX || !image_read(g->image, addr + 16, &capacity) ||
	    capacity < count || capacity > LIST_MAX ||
	    !image_read(g->image, addr, &list) || list % 8 != 0 || list == 0 ||
	    list >> WALK_ADDR_BITS != 0)
		return false;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		unsigned int sound = count_sound(g, list, count, &layouts[i]);

		if (sound < SOUND_MIN || sound <= best)
			continue;
		best = sound;
		g->layout = &layouts[i];
	}
	if (best == 0)
		return false;
	g->list_addr = list;
	g->list_count = count;
	return true;
}

const char *golang_find(struct golang *g)
{
	size_t index = 0;

	while (data_area_next(g->input, &index, &g->area)) {
		uint64_t end = g->area.end_addr;
		uint64_t addr = image_next_resident(g->image, g->area.start_addr, end);

		for (; addr < end; addr = image_next_resident(g->image, addr + 8, end))
			if (try_slice(g, addr))
				return NULL;
	}
	return "the heap of Go was not found";
}
