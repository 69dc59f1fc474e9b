/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/blocks/types.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/strbuf.h"
#include "base/xalloc.h"

/*
 * The first word of a C++ object is an address in its class's vtable, directly after two
 * words: the offset to top, and the address of the type_info object (Itanium C++ ABI,
 * 2.5). This is the size of the two words.
 */
#define TABLE_HEAD_BYTES 16

#define NAME_MAX_BYTES 2048

/*
 * Limits on the number of different first words of blocks, and on the number of type
 * names. No known program has as many classes.
 */
#define WORDS_MIN 512
#define WORDS_MAX (1 << 18)
#define NAMES_MAX (1 << 16)

struct name {
	char *raw;  /* name of the symbol as in the file's symbol table */
	char *text; /* demangled name as in the source code */
	/* 1 + the index of the next name with the same hash; 0 at the end of the list */
	uint32_t next;
};

struct word {
	uint64_t word; /* first word of a block; 0 if the slot is empty */
	uint32_t type;
};

struct types {
	struct symbols *symbols;
	struct memory *memory;

	/* hash table by first word, with open addressing */
	struct word *words;
	size_t word_count, word_capacity; /* word_capacity is a power of 2 */

	/* types are numbered from 1, so the index of type n is n - 1 */
	struct name *names;
	size_t name_count, name_capacity;
	/*
	 * For each hash, 1 + the index of the first name with the hash, or 0 if there is
	 * none.
	 */
	uint32_t name_heads[4096];
	const char *problem;
};

struct types *types_new(struct symbols *symbols, struct memory *memory)
{
	struct types *types = xcalloc(1, sizeof(*types));

	types->symbols = symbols;
	types->memory = memory;
	types->word_capacity = WORDS_MIN;
	types->words = xcalloc(types->word_capacity, sizeof(*types->words));
	return types;
}

void types_free(struct types *types)
{
	if (!types)
		return;
	for (size_t i = 0; i < types->name_count; i++) {
		free(types->names[i].raw);
		free(types->names[i].text);
	}
	free(types->names);
	free(types->words);
	free(types);
}

/*
 * The kinds of class tables, such as C++ vtables, whose addresses are in the first word
 * of an object. The symbol of a table consists of a prefix, the name of the class, and a
 * suffix.
 */
static const struct table_kind {
	const char *prefix;
	const char *suffix;
	/*
	 * Minimum distance from the symbol of the class table to the address in an
	 * object's first word.
	 */
	uint64_t min_offset;
} table_kinds[] = {
	{ "_ZTV", "", TABLE_HEAD_BYTES },
	/*
	 * Swift type metadata (N), and full metadata (Mf), which starts a few words
	 * earlier
	 */
	{ "$s", "N", 0 },
	{ "$s", "Mf", 0 },
	{ "_$s", "N", 0 },
	{ "_$s", "Mf", 0 },
	/* classes of the Objective-C runtimes of GNUstep and gcc */
	{ "OBJC_CLASS_$_", "", 0 },
	{ "._OBJC_CLASS_", "", 0 },
	{ "_OBJC_CLASS_", "", 0 },
	{ "_OBJC_Class_", "", 0 },
};

static const struct table_kind *find_kind(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(table_kinds) / sizeof(table_kinds[0]); i++) {
		const struct table_kind *kind = &table_kinds[i];
		size_t prefix = strlen(kind->prefix), suffix = strlen(kind->suffix);

		if (length > prefix + suffix &&
		    strncmp(name, kind->prefix, prefix) == 0 &&
		    strcmp(name + length - suffix, kind->suffix) == 0)
			return kind;
	}
	return NULL;
}

/*
 * Convert a symbol to the name of its class. For example, "_ZTVN2ns5ShapeE" becomes
 * "ns::Shape", and "OBJC_CLASS_$_Shape" becomes "Shape". Other symbols are returned
 * unchanged.
 */
static char *name_text(const char *raw)
{
	static const char what[] = "vtable for ";
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const struct table_kind *kind = find_kind(raw);

	if (demangle_add(&text, raw))
		return xstrdup(strncmp(text.text, what, sizeof(what) - 1) == 0
				       ? text.text + sizeof(what) - 1
				       : text.text);
	return xstrdup(kind && strstr(kind->prefix, "OBJC") ? raw + strlen(kind->prefix)
							    : raw);
}

static uint32_t hash_text(const char *text)
{
	uint32_t hash = 2166136261u; /* FNV-1a hash of the name */

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 16777619u;
	return hash;
}

static uint32_t number_of(struct types *types, const char *raw)
{
	uint32_t *head = &types->name_heads[hash_text(raw) % (sizeof(types->name_heads) /
							      sizeof(uint32_t))];

	for (uint32_t i = *head; i; i = types->names[i - 1].next)
		if (strcmp(types->names[i - 1].raw, raw) == 0)
			return i;
	if (types->name_count >= NAMES_MAX) {
		types->problem = "there are too many types to distinguish";
		return 0;
	}
	types->names = xgrow(types->names, &types->name_capacity, types->name_count + 1,
			     sizeof(*types->names));
	types->names[types->name_count++] =
		(struct name){ xstrdup(raw), name_text(raw), *head };
	*head = (uint32_t)types->name_count;
	return *head;
}

static uint32_t type_by_symbol(struct types *types, uint64_t word)
{
	const struct table_kind *kind;
	struct symbol symbol;

	if (!symbols_find(types->symbols, word, &symbol) ||
	    strnlen(symbol.name, NAME_MAX_BYTES) == NAME_MAX_BYTES)
		return 0;
	kind = find_kind(symbol.name);
	return kind && word - symbol.addr >= kind->min_offset
		       ? number_of(types, symbol.name)
		       : 0;
}

/*
 * The contents of a C++ type_info object, which describes a class. The class's vtable
 * contains the address of the type_info object, directly before the address in the first
 * word of an object.
 */
struct type_info {
	uint64_t table_addr; /* address of the vtable of the type_info object itself */
	char name[NAME_MAX_BYTES];
};

static bool read_type_info(struct memory *memory, uint64_t table_addr,
			   struct type_info *ret)
{
	uint64_t head[2], info[2];
	int64_t to_top;

	if (table_addr % 8 ||
	    !memory_read(memory, table_addr - TABLE_HEAD_BYTES, head, 16))
		return false;
	memcpy(&to_top, &head[0], 8);
	/*
	 * The offset to top is 0 in a primary vtable, and the first word of an object is
	 * the address of its primary vtable.
	 */
	if (to_top != 0 || head[1] % 8 || head[1] == 0 ||
	    !memory_read(memory, head[1], info, 16))
		return false;
	ret->table_addr = info[0];
	return memory_read_text(memory, info[1], ret->name, sizeof(ret->name));
}

/* Return true if the name may be the mangled name of a class. */
static bool is_class_name(const char *name)
{
	if (!strchr("NSZ0123456789", name[0]))
		return false;
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		if (c < 0x80 && !isalnum(c) && !strchr("_.$", c))
			return false;
	}
	return true;
}

/*
 * Determine the class of a vtable without a symbol from the type_info object of the
 * class. Every type_info object is an instance of one of three classes that the C++ ABI
 * defines. The mangled names of these classes begin with own_prefix.
 */
static uint32_t type_by_info(struct types *types, uint64_t word)
{
	static const char own_prefix[] = "N10__cxxabiv1";
	_cleanup_strbuf_ struct strbuf raw = STRBUF_INIT;
	struct type_info *info = xmalloc(2 * sizeof(*info));
	const char *name = info[0].name;
	uint32_t type = 0;

	if (read_type_info(types->memory, word, &info[0]) &&
	    read_type_info(types->memory, info[0].table_addr, &info[1]) &&
	    strncmp(info[1].name, own_prefix, sizeof(own_prefix) - 1) == 0) {
		/* gcc writes '*' before names that must be compared by address */
		if (name[0] == '*')
			name++;
		if (is_class_name(name)) {
			strbuf_addf(&raw, "_ZTV%s", name);
			type = number_of(types, strbuf_text(&raw));
		}
	}
	free(info);
	return type;
}

static struct word *find_word(const struct types *types, uint64_t word)
{
	size_t mask = types->word_capacity - 1;
	size_t at = (size_t)(word * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

	while (types->words[at].word != 0 && types->words[at].word != word)
		at = (at + 1) & mask;
	return &types->words[at];
}

static void grow_words(struct types *types)
{
	struct word *old = types->words;
	size_t old_capacity = types->word_capacity;

	types->word_capacity *= 2;
	types->words = xcalloc(types->word_capacity, sizeof(*types->words));
	for (size_t i = 0; i < old_capacity; i++)
		if (old[i].word)
			*find_word(types, old[i].word) = old[i];
	free(old);
}

/*
 * Return true if a vtable may be at the address `word`. Linkers place vtables in the data
 * of a file, and copy relocations place copies in the zero-initialised memory (.bss)
 * after the data.
 */
static bool may_be_table(const struct types *types, uint64_t word)
{
	const struct mapping *m = memory_find_mapping(types->memory, word);

	if (!m || !(m->flags & MAPPING_READ) ||
	    m->flags & (MAPPING_EXEC | MAPPING_SHARED))
		return false;
	return m->inode != 0 ||
	       (m->name_length == 0 && m > types->memory->mappings->items &&
		m[-1].inode != 0 && m[-1].end_addr == m->start_addr);
}

uint32_t types_of_word(struct types *types, uint64_t word)
{
	struct word *entry;

	if (word == 0 || word % 8)
		return 0;
	entry = find_word(types, word);
	if (entry->word)
		return entry->type;
	if (!may_be_table(types, word))
		return 0;
	if (types->word_count >= WORDS_MAX) {
		types->problem = "there are too many different first words to look up";
		return 0;
	}
	entry->word = word;
	entry->type = type_by_symbol(types, word);
	if (entry->type == 0)
		entry->type = type_by_info(types, word);
	word = entry->type;
	if (++types->word_count * 2 > types->word_capacity)
		grow_words(types);
	return (uint32_t)word;
}

uint32_t types_of_block(struct types *types, const struct blocks *blocks,
			const struct block *block)
{
	uint64_t word;

	return block->bytes >= sizeof(word) &&
			       image_read(blocks->image, block->addr, &word)
		       ? types_of_word(types, word)
		       : 0;
}

const char *types_name(const struct types *types, uint32_t type)
{
	return type ? types->names[type - 1].text : NULL;
}

const char *types_problem(const struct types *types)
{
	return types->problem;
}
