/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/symbols/symbols.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/demangle.h"
#include "base/search.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "model/image.h"
#include "proc/system/foreign_file.h"
#include "tracee/elf/symbols.h"
#include "tracee/memory/mapped_file.h"

/*
 * A mapped file: its mappings in order, and the zero-initialised memory (.bss) after
 * them.
 */
struct object {
	uint64_t start_addr, end_addr;
	/*
	 * index of the first mapping; number of mappings from the first to the last,
	 * including those in gaps and .bss
	 */
	size_t first_mapping, mapping_count;
	bool is_read;
	/* address in the process minus the address in the file */
	uint64_t bias;
	/* symbols of the file; empty if the file could not be read */
	struct elf_symbols elf;
};

struct symbols {
	int process_fd;
	const struct mapping_list *mappings;
	struct object *objects; /* mapped files, sorted by address */
	size_t count, capacity;
};

static bool is_same_file(const struct mapping *a, const struct mapping *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor;
}

/*
 * Return true if mapping m belongs to the object. `last` is the last of the
 * object's mappings found so far that map its file.
 */
static bool belongs_to_object(const struct object *object, const struct mapping *last,
			      const struct mapping *m)
{
	if (m->inode == 0) /* m may be the .bss memory after the file's last mapping */
		return m->start_addr == object->end_addr && m->name_length == 0 &&
		       last->flags & MAPPING_WRITE;
	return is_same_file(last, m) && m->file_offset_bytes >= last->file_offset_bytes;
}

static void find_objects(struct symbols *symbols)
{
	const struct mapping *last = NULL;
	struct object *object = NULL;

	for (size_t i = 0; i < symbols->mappings->count; i++) {
		const struct mapping *m = &symbols->mappings->items[i];

		if (object && belongs_to_object(object, last, m)) {
			object->end_addr = m->end_addr;
			object->mapping_count = i + 1 - object->first_mapping;
		} else if (m->inode != 0) {
			symbols->objects = xgrow(symbols->objects, &symbols->capacity,
						 symbols->count + 1, sizeof(*object));
			object = &symbols->objects[symbols->count++];
			*object = (struct object){
				.start_addr = m->start_addr,
				.end_addr = m->end_addr,
				.first_mapping = i,
				.mapping_count = 1,
			};
		}
		if (m->inode != 0)
			last = m;
	}
}

struct symbols *symbols_new(int process_fd, const struct mapping_list *mappings)
{
	struct symbols *symbols;

	if (!elf_symbols_can_be_read())
		return NULL;
	symbols = xcalloc(1, sizeof(*symbols));
	symbols->process_fd = process_fd;
	symbols->mappings = mappings;
	find_objects(symbols);
	return symbols;
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->count; i++)
		elf_symbols_release(&symbols->objects[i].elf);
	free(symbols->objects);
	free(symbols);
}

static uint64_t page_down(uint64_t value)
{
	return value & ~(IMAGE_PAGE_BYTES - 1);
}

/* Return true if m maps part of the segment when the file is loaded at `bias`. */
static bool is_of_segment(const struct mapping *m, const struct elf_segment *segment,
			  uint64_t bias)
{
	uint64_t first = page_down(segment->offset_bytes);

	return m->file_offset_bytes >= first &&
	       m->file_offset_bytes - first <
		       segment->offset_bytes % IMAGE_PAGE_BYTES + segment->file_bytes &&
	       m->start_addr - bias ==
		       page_down(segment->vaddr) + (m->file_offset_bytes - first);
}

static bool is_of_any_segment(const struct mapping *m, const struct object *object)
{
	for (size_t i = 0; i < object->elf.segment_count; i++)
		if (is_of_segment(m, &object->elf.segments[i], object->bias))
			return true;
	return false;
}

/*
 * Find the difference between addresses in the process and in the object's file. Return
 * false if a mapping does not match the file's headers.
 */
static bool has_place(const struct symbols *symbols, struct object *object)
{
	const struct mapping *mappings = &symbols->mappings->items[object->first_mapping];

	for (size_t i = 0; i < object->elf.segment_count; i++) {
		const struct elf_segment *segment = &object->elf.segments[i];
		bool fits = page_down(segment->offset_bytes) ==
			    mappings[0].file_offset_bytes;

		object->bias = mappings[0].start_addr - page_down(segment->vaddr);
		for (size_t k = 0; fits && k < object->mapping_count; k++)
			fits = mappings[k].inode == 0 ||
			       is_of_any_segment(&mappings[k], object);
		if (fits)
			return true;
	}
	return false;
}

static void read_object(const struct symbols *symbols, struct object *object)
{
	const struct mapping *m = &symbols->mappings->items[object->first_mapping];
	int fd;

	object->is_read = true;
	fd = mapped_file_open(symbols->process_fd, m);
	if (fd < 0)
		return;
	if (elf_symbols_read(fd, FOREIGN_ROOT_OF(symbols->process_fd), &object->elf) ==
		    0 &&
	    !has_place(symbols, object))
		elf_symbols_release(&object->elf);
}

static struct object *find_object(struct symbols *symbols, uint64_t addr)
{
	size_t low = SEARCH_FIRST(symbols->count, i, symbols->objects[i].end_addr > addr);

	return low < symbols->count && symbols->objects[low].start_addr <= addr
		       ? &symbols->objects[low]
		       : NULL;
}

bool symbols_find(struct symbols *symbols, uint64_t addr, struct symbol *ret)
{
	struct object *object = symbols ? find_object(symbols, addr) : NULL;
	const struct elf_symbol *symbol;

	if (!object)
		return false;
	if (!object->is_read)
		read_object(symbols, object);
	symbol = elf_symbols_find(&object->elf, addr - object->bias);
	if (!symbol)
		return false;
	*ret = (struct symbol){
		.name = symbol->name,
		.file = symbols->mappings->items[object->first_mapping].name,
		.addr = symbol->vaddr + object->bias,
		.bytes = symbol->bytes,
		.is_object = symbol->is_object,
	};
	return true;
}

bool symbols_add_place(struct symbols *symbols, uint64_t addr, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	const char *slash;
	struct symbol symbol;

	if (!symbols_find(symbols, addr, &symbol))
		return false;
	if (!demangle_add(&name, symbol.name))
		strbuf_add_text(&name, symbol.name);
	text_add_printable(out, name.text, name.length, false);
	if (addr != symbol.addr)
		strbuf_addf(out, "+%" PRIu64, addr - symbol.addr);
	slash = strrchr(symbol.file, '/');
	slash = slash ? slash + 1 : symbol.file;
	strbuf_add_text(out, " in ");
	text_add_printable(out, slash, strlen(slash), false);
	return true;
}
