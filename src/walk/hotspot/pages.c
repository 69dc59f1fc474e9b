/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/hotspot/pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/*
 * Number of pages in the cache. A page can be in only one slot, which depends on its
 * address.
 */
#define PAGE_COUNT 512

/* Maximum number of pages to read, because corrupt tables may refer to any address. */
#define READS_MAX 4096

struct hotspot_pages {
	struct {
		uint64_t addr; /* address of the page; 0 if the slot is empty */
		bool is_read;
		uint8_t bytes[IMAGE_PAGE_BYTES];
	} * pages[PAGE_COUNT];
	unsigned int read_count;
};

void hotspot_free_pages(struct hotspot *h)
{
	for (size_t i = 0; h->pages && i < PAGE_COUNT; i++)
		free(h->pages->pages[i]);
	free(h->pages);
	h->pages = NULL;
}

/*
 * Return the contents of a page that is not in the image, or NULL if the page cannot be
 * read.
 */
static const uint8_t *read_page(struct hotspot *h, uint64_t addr)
{
	size_t place = addr / IMAGE_PAGE_BYTES % PAGE_COUNT;
	struct hotspot_pages *pages;

	if (!h->input->memory || addr == 0)
		return NULL;
	if (!h->pages)
		h->pages = xcalloc(1, sizeof(*h->pages));
	pages = h->pages;
	if (!pages->pages[place])
		pages->pages[place] = xcalloc(1, sizeof(*pages->pages[place]));
	if (pages->pages[place]->addr != addr) {
		if (pages->read_count == READS_MAX)
			return NULL;
		pages->read_count++;
		pages->pages[place]->addr = addr;
		pages->pages[place]->is_read = memory_read(h->input->memory, addr,
							   pages->pages[place]->bytes,
							   IMAGE_PAGE_BYTES);
	}
	return pages->pages[place]->is_read ? pages->pages[place]->bytes : NULL;
}

/*
 * Return the bytes at addr, and set *ret_length to the number of bytes from addr to the
 * end of the page. Return NULL if the page cannot be read.
 */
static const uint8_t *bytes_at(struct hotspot *h, uint64_t addr, size_t *ret_length)
{
	uint64_t offset = addr % IMAGE_PAGE_BYTES;
	const uint8_t *page;

	if (addr >= HOTSPOT_ADDR_MAX)
		return NULL;
	*ret_length = (size_t)(IMAGE_PAGE_BYTES - offset);
	page = image_at(h->image, addr - offset, IMAGE_PAGE_BYTES);
	if (!page)
		page = read_page(h, addr - offset);
	return page ? page + offset : NULL;
}

bool hotspot_page_read(struct hotspot *h, uint64_t addr, void *to, size_t length)
{
	uint8_t *out = to;

	while (length > 0) {
		size_t part;
		const uint8_t *at = bytes_at(h, addr, &part);

		if (!at)
			return false;
		part = part < length ? part : length;
		memcpy(out, at, part);
		out += part;
		addr += part;
		length -= part;
	}
	return true;
}

bool hotspot_page_text(struct hotspot *h, uint64_t addr, char to[HOTSPOT_TEXT_SIZE])
{
	size_t length = 0;

	while (length < HOTSPOT_TEXT_SIZE) {
		size_t part, rest = HOTSPOT_TEXT_SIZE - length;
		const uint8_t *at = bytes_at(h, addr + length, &part);

		if (!at)
			return false;
		part = part < rest ? part : rest;
		memcpy(to + length, at, part);
		if (memchr(to + length, '\0', part))
			return true;
		length += part;
	}
	return false;
}
