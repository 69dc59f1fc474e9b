/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/v8/walk.h"

#include <stdio.h>
#include <string.h>

#include "walk/blocks/data_area.h"

/*
 * node::Metadata::Versions begins with two C++ strings: the version of Node.js, and that
 * of V8, which contains NODE_MARK. A string consists of the address of its text, the
 * text's length, and 16 bytes for a short text.
 */
#define STRING_BYTES 32
#define SHORT_OFFSET 16
#define SHORT_MAX 15
#define TEXT_MAX 63
#define NODE_MARK "-node."

/* Copy the text of the string at addr. Return false if there is no such text. */
static bool read_string(struct image *image, uint64_t addr, char text[TEXT_MAX + 1])
{
	uint64_t text_addr, length;
	const uint8_t *at;

	if (!image_read(image, addr, &text_addr) ||
	    !image_read(image, addr + 8, &length) || length == 0 || length > TEXT_MAX ||
	    !(at = image_at(image, text_addr, length)))
		return false;
	memcpy(text, at, length);
	text[length] = '\0';
	return strlen(text) == length;
}

static bool read_version(struct image *image, uint64_t addr, char version[TEXT_MAX + 1])
{
	char of_v8[TEXT_MAX + 1];
	uint64_t text_addr;

	/* the text of a short C++ string is inside the string object */
	return image_read(image, addr, &text_addr) && text_addr == addr + SHORT_OFFSET &&
	       read_string(image, addr, version) && strlen(version) <= SHORT_MAX &&
	       strspn(version, "0123456789.") == strlen(version) &&
	       read_string(image, addr + STRING_BYTES, of_v8) &&
	       strstr(of_v8, NODE_MARK) != NULL;
}

void v8_read_version(struct v8 *v, char ret[HEAP_VERSION_SIZE])
{
	struct data_area area;
	size_t index = 0;

	while (data_area_next(v->input, &index, &area)) {
		uint64_t addr =
			image_next_resident(v->image, area.start_addr, area.end_addr);
		char version[TEXT_MAX + 1];

		for (; addr < area.end_addr;
		     addr = image_next_resident(v->image, addr + 8, area.end_addr)) {
			if (!read_version(v->image, addr, version))
				continue;
			snprintf(ret, HEAP_VERSION_SIZE, "v%.*s", SHORT_MAX, version);
			return;
		}
	}
}
