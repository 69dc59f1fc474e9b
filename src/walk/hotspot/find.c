/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/hotspot/walk.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tracee/elf/exports.h"
#include "tracee/memory/mapped_file.h"
#include "walk/hotspot/pages.h"

/*
 * Upper bounds on the number of entries in a table and on the size of an entry. OpenJDK
 * 17 has 800 fields, 770 types, 1 000 constants and 1 500 flags.
 */
#define ENTRIES_MAX 20000
#define ENTRY_BYTES_MAX 4096

/* Maximum offset of a field in a structure. */
#define OFFSET_MAX (UINT64_C(1) << 16)

/*
 * Parts of the names of the symbols that describe a table, such as
 * gHotSpotVMTypeEntrySizeOffset.
 */
struct table_symbols {
	const char *list, *entry;
	const char *columns[5];
};

#define COLUMNS_MAX 5

struct table {
	uint64_t addr, entry_bytes;
	/* offset of each column in an entry of the table */
	uint64_t offsets[COLUMNS_MAX];
};

enum {
	FIELD_TYPE,
	FIELD_NAME,
	FIELD_STATIC,
	FIELD_OFFSET,
	FIELD_ADDR
};

static const struct table_symbols field_symbols = {
	"gHotSpotVMStructs",
	"gHotSpotVMStructEntry",
	{ "TypeName", "FieldName", "IsStatic", "Offset", "Address" },
};

/*
 * In all tables except the table of fields, the first two columns are a name and a
 * number.
 */
static const struct table_symbols type_symbols = {
	"gHotSpotVMTypes",
	"gHotSpotVMTypeEntry",
	{ "TypeName", "Size" },
};

static const struct table_symbols constant_symbols = {
	"gHotSpotVMIntConstants",
	"gHotSpotVMIntConstantEntry",
	{ "Name", "Value" },
};

/*
 * Return the index of the mapping that contains the start of libjvm.so, or SIZE_MAX if
 * not found.
 */
static size_t find_mapping(const struct mapping_list *list)
{
	static const char file[] = "/libjvm.so";

	for (size_t i = 0; i < list->count; i++) {
		const struct mapping *m = &list->items[i];
		const char *end;

		if (m->inode == 0 || m->file_offset_bytes != 0 ||
		    m->name_length < sizeof(file) - 1)
			continue;
		end = strstr(m->name, file);
		if (end && (end[sizeof(file) - 1] == '\0' ||
			    strcmp(end + sizeof(file) - 1, " (deleted)") == 0))
			return i;
	}
	return SIZE_MAX;
}

/*
 * Read the value of an exported variable. Its name is the concatenation of the strings in
 * `parts`.
 */
static bool read_symbol(struct hotspot *h, const struct elf_exports *exports,
			uint64_t base, const char *const parts[3], uint64_t *ret)
{
	const struct elf_export *symbol;
	char name[96];

	if (snprintf(name, sizeof(name), "%s%s%s", parts[0], parts[1], parts[2]) >=
	    (int)sizeof(name))
		return false;
	symbol = elf_exports_find(exports, name);
	return symbol && hotspot_page_read(h, base + symbol->vaddr, ret, sizeof(*ret));
}

static bool open_table(struct hotspot *h, const struct elf_exports *exports,
		       uint64_t base, const struct table_symbols *symbols,
		       struct table *ret)
{
	const char *const list[] = { symbols->list, "", "" };
	const char *const stride[] = { symbols->entry, "ArrayStride", "" };

	*ret = (struct table){ 0 };
	if (!read_symbol(h, exports, base, list, &ret->addr) ||
	    !read_symbol(h, exports, base, stride, &ret->entry_bytes) || ret->addr == 0 ||
	    ret->entry_bytes < 8 || ret->entry_bytes > ENTRY_BYTES_MAX)
		return false;
	for (size_t i = 0; i < COLUMNS_MAX && symbols->columns[i]; i++) {
		const char *const offset[] = { symbols->entry, symbols->columns[i],
					       "Offset" };

		if (!read_symbol(h, exports, base, offset, &ret->offsets[i]) ||
		    ret->offsets[i] > ret->entry_bytes - 4)
			return false;
	}
	return true;
}

/*
 * Read a column of 4 or 8 bytes from an entry of a table. Return 0 if the column
 * cannot be read.
 */
static uint64_t read_column(struct hotspot *h, const struct table *table, uint64_t index,
			    unsigned int column, size_t bytes)
{
	uint64_t addr = table->addr + index * table->entry_bytes, value = 0;

	if (!hotspot_page_read(h, addr + table->offsets[column], &value, bytes))
		return 0;
	return value;
}

static void set_field(struct hotspot *h, const struct hotspot_field_name *name,
		      const struct table *table, uint64_t index)
{
	bool is_static = read_column(h, table, index, FIELD_STATIC, 4) != 0;
	uint64_t value =
		read_column(h, table, index, is_static ? FIELD_ADDR : FIELD_OFFSET, 8);

	if (is_static == name->is_static && h->fields[name->field] == HOTSPOT_ABSENT &&
	    value < (is_static ? HOTSPOT_ADDR_MAX : OFFSET_MAX))
		h->fields[name->field] = value;
}

/*
 * Store the offset or address of the field that a table entry describes, if the walker
 * uses the field.
 */
static void read_field(struct hotspot *h, const struct table *table, uint64_t index,
		       const char *type)
{
	char name[HOTSPOT_TEXT_SIZE];
	bool is_read = false;

	for (size_t i = 0; i < hotspot_field_name_count; i++) {
		const struct hotspot_field_name *wanted = &hotspot_field_names[i];

		if (strcmp(wanted->type, type) != 0)
			continue;
		if (!is_read &&
		    !hotspot_page_text(h, read_column(h, table, index, FIELD_NAME, 8),
				       name))
			return;
		is_read = true;
		if (strcmp(wanted->name, name) == 0)
			set_field(h, wanted, table, index);
	}
}

static void read_fields(struct hotspot *h, const struct table *table)
{
	char type[HOTSPOT_TEXT_SIZE] = "";
	uint64_t last_addr = 0;

	for (uint64_t i = 0; i < ENTRIES_MAX; i++) {
		uint64_t addr = read_column(h, table, i, FIELD_TYPE, 8);

		if (addr == 0)
			return;
		/*
		 * the entries of a type are usually adjacent, so read the name of the
		 * type only once
		 */
		if (addr != last_addr && !hotspot_page_text(h, addr, type))
			type[0] = '\0';
		last_addr = addr;
		read_field(h, table, i, type);
	}
}

static void read_constants(struct hotspot *h, const struct table *table)
{
	char text[HOTSPOT_TEXT_SIZE];

	for (uint64_t i = 0; i < ENTRIES_MAX; i++) {
		uint64_t addr = read_column(h, table, i, 0, 8);
		const char *name = text;

		if (addr == 0)
			return;
		if (!hotspot_page_text(h, addr, text))
			continue;
		/* newer JDK versions have renamed HeapRegionType to G1HeapRegionType */
		if (strncmp(text, "G1Heap", 6) == 0)
			name += 2;
		for (size_t k = 0; k < HOTSPOT_CONSTANT_COUNT_; k++)
			if (strcmp(name, hotspot_constant_names[k]) == 0)
				h->constants[k] = (int32_t)read_column(h, table, i, 1, 4);
	}
}

static void read_types(struct hotspot *h, const struct table *table)
{
	char text[HOTSPOT_TEXT_SIZE];

	for (uint64_t i = 0; i < ENTRIES_MAX; i++) {
		uint64_t addr = read_column(h, table, i, 0, 8);

		if (addr == 0)
			return;
		if (hotspot_page_text(h, addr, text) && strcmp(text, "JVMFlag") == 0) {
			h->flag_bytes = read_column(h, table, i, 1, 8);
			return;
		}
	}
}

static void read_flag(struct hotspot *h, uint64_t flag_addr)
{
	uint64_t name_addr, addr;
	char text[HOTSPOT_TEXT_SIZE];
	bool is_word;
	const uint8_t *at;

	if (!hotspot_read_word(h, flag_addr, FIELD_FLAG_NAME, &name_addr) ||
	    !hotspot_page_text(h, name_addr, text))
		return;
	for (size_t i = 0; i < HOTSPOT_FLAG_COUNT_; i++) {
		if (strcmp(text, hotspot_flag_names[i]) != 0 ||
		    !hotspot_read_word(h, flag_addr, FIELD_FLAG_ADDR, &addr))
			continue;
		is_word = i >= FLAG_ALIGNMENT;
		at = image_at(h->image, addr, is_word ? 8 : 1);
		if (at)
			memcpy(&h->flags[i], at, is_word ? 8 : 1);
	}
}

static void read_flags(struct hotspot *h)
{
	uint64_t count, addr;

	if (h->flag_bytes < 16 || h->flag_bytes > ENTRY_BYTES_MAX ||
	    !hotspot_read_word(h, 0, FIELD_FLAG_COUNT, &count) ||
	    !hotspot_read_word(h, 0, FIELD_FLAG_LIST, &addr) || addr >= HOTSPOT_ADDR_MAX)
		return;
	for (uint64_t i = 0; i < count && i < ENTRIES_MAX; i++)
		read_flag(h, addr + i * h->flag_bytes);
}

static const char *read_tables(struct hotspot *h, const struct mapping *m)
{
	_cleanup_close_ int fd = -1;
	struct elf_exports exports = ELF_EXPORTS_INIT;
	struct table fields, types, constants;
	uint64_t base;
	bool is_read;

	fd = h->input->memory && h->input->memory->process_fd >= 0
		     ? mapped_file_open(h->input->memory->process_fd, m)
		     : -1;
	if (fd < 0 || elf_exports_read(fd, &exports) < 0)
		return "libjvm.so cannot be read";
	is_read = elf_exports_base(&exports, m, &base) &&
		  open_table(h, &exports, base, &field_symbols, &fields) &&
		  open_table(h, &exports, base, &type_symbols, &types) &&
		  open_table(h, &exports, base, &constant_symbols, &constants);
	elf_exports_release(&exports);
	if (!is_read)
		return "libjvm.so does not describe the JVM's structures";
	read_fields(h, &fields);
	read_types(h, &types);
	read_constants(h, &constants);
	read_flags(h);
	return NULL;
}

const char *hotspot_find(struct hotspot *h)
{
	size_t index = find_mapping(h->input->mappings);
	const char *problem;

	for (size_t i = 0; i < HOTSPOT_FIELD_COUNT_; i++)
		h->fields[i] = HOTSPOT_ABSENT;
	for (size_t i = 0; i < HOTSPOT_CONSTANT_COUNT_; i++)
		h->constants[i] = INT64_MIN;
	if (index == SIZE_MAX)
		return "the process contains no Java virtual machine";
	problem = read_tables(h, &h->input->mappings->items[index]);
	if (problem) {
		h->is_found = true;
		return problem;
	}
	if (hotspot_read_word(h, 0, FIELD_UNIVERSE_HEAP, &h->heap_addr) &&
	    h->heap_addr == 0)
		return "the Java virtual machine was not started";
	h->is_found = true;
	return h->heap_addr == 0 ? "libjvm.so does not describe the JVM's structures"
				 : NULL;
}

void hotspot_read_version(struct hotspot *h, char ret[HEAP_VERSION_SIZE])
{
	char text[HOTSPOT_TEXT_SIZE];
	uint64_t addr;
	size_t length = 0;

	ret[0] = '\0';
	if (!hotspot_read_word(h, 0, FIELD_VM_RELEASE, &addr) ||
	    !hotspot_page_text(h, addr, text))
		return;
	length = strspn(text, "0123456789.");
	if (length >= HEAP_VERSION_SIZE)
		return;
	memcpy(ret, text, length);
	ret[length] = '\0';
}
