/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/blocks/content.h"

#include "base/search.h"

#define LOOKED_AT_BYTES UINT64_C(256)
#define TEXT_MIN_BYTES 4

const char *const content_names[CONTENT_COUNT_] = {
	[CONTENT_ABSENT] = "absent", [CONTENT_ZEROS] = "zeros",
	[CONTENT_TEXT] = "text",     [CONTENT_POINTERS] = "pointers",
	[CONTENT_MIXED] = "mixed",
};

static bool is_text(uint8_t c)
{
	return (c >= ' ' && c <= '~') || (c >= '\t' && c <= '\r');
}

/*
 * Return the number of text characters before the first zero byte, or 0 if any byte
 * before it is not text.
 */
static uint64_t text_length(const uint8_t *at, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++)
		if (!is_text(at[i]))
			return at[i] == 0 ? i : 0;
	return bytes;
}

static bool is_mapped(const struct mapping_list *mappings, uint64_t addr)
{
	size_t low = SEARCH_FIRST(mappings->count, i, mappings->items[i].end_addr > addr);

	return low < mappings->count && mappings->items[low].start_addr <= addr;
}

/*
 * Return true if the block begins with an address inside a mapping. The block is then not
 * text, although all bytes of the address may be printable.
 */
static bool begins_with_pointer(const uint8_t *at, uint64_t length,
				const struct mapping_list *mappings)
{
	uint64_t word;

	if (length < sizeof(word))
		return false;
	memcpy(&word, at, sizeof(word));
	return is_mapped(mappings, word);
}

enum content content_of(struct image *image, const struct mapping_list *mappings,
			uint64_t addr, uint64_t bytes)
{
	const struct image_run *run = image_run_at(image, addr);
	uint64_t length = bytes < LOOKED_AT_BYTES ? bytes : LOOKED_AT_BYTES;
	uint64_t word_count = 0, pointer_count = 0;
	const uint8_t *at;

	if (!run)
		return CONTENT_ABSENT;
	if (length > run->end_addr - addr)
		length = run->end_addr - addr;
	at = image->bytes + run->offset_bytes + (addr - run->start_addr);
	if (text_length(at, length) >= TEXT_MIN_BYTES &&
	    !begins_with_pointer(at, length, mappings))
		return CONTENT_TEXT;
	for (uint64_t i = 0; i + sizeof(uint64_t) <= length; i += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, at + i, sizeof(word));
		word_count += word != 0;
		pointer_count += word != 0 && is_mapped(mappings, word);
	}
	if (word_count == 0)
		return CONTENT_ZEROS;
	return 2 * pointer_count >= word_count ? CONTENT_POINTERS : CONTENT_MIXED;
}
