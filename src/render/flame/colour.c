/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/flame/colour.h"

#include "base/units.h"

const struct flame_colour flame_kind_colours[FLAME_KIND_COUNT_][2] = {
	[FLAME_OTHER] = { { 232, 108, 56 }, { 250, 208, 92 } },
	[FLAME_PROGRAM] = { { 240, 132, 60 }, { 252, 192, 88 } },
	[FLAME_LIBRARY] = { { 104, 188, 140 }, { 164, 220, 156 } },
	[FLAME_RUNTIME] = { { 140, 172, 224 }, { 172, 204, 236 } },
	[FLAME_NAMELESS] = { { 176, 180, 186 }, { 200, 204, 208 } },
};

const struct flame_colour flame_change_colours[FLAME_CHANGE_COUNT_] = {
	[FLAME_SAME] = { 206, 209, 214 },
	[FLAME_MORE] = { 240, 96, 84 },
	[FLAME_LESS] = { 92, 148, 240 },
};

/* Interpolate between two values. `part` is the position between them in thousandths. */
static uint8_t between(uint8_t from, uint8_t to, unsigned int part)
{
	return (uint8_t)((from * (1000 - part) + to * part + 500) / 1000);
}

static struct flame_colour mix(struct flame_colour from, struct flame_colour to,
			       unsigned int part)
{
	return (struct flame_colour){ between(from.red, to.red, part),
				      between(from.green, to.green, part),
				      between(from.blue, to.blue, part) };
}

struct flame_colour flame_colour_of_name(enum flame_kind kind, const char *name)
{
	uint32_t hash = UINT32_C(0x811c9dc5);

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT32_C(0x01000193);
	return mix(flame_kind_colours[kind][0], flame_kind_colours[kind][1],
		   (hash ^ hash >> 16) % 1001);
}

struct flame_colour flame_colour_of_change(uint64_t before, uint64_t after)
{
	bool is_more = after > before;
	uint64_t larger = is_more ? after : before;
	uint64_t change = is_more ? after - before : before - after;

	return mix(flame_change_colours[FLAME_SAME],
		   flame_change_colours[is_more ? FLAME_MORE : FLAME_LESS],
		   units_per_mille(change, larger));
}
