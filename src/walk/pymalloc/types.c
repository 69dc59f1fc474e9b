/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/pymalloc/types.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* Offsets of members of struct _typeobject. */
enum {
	OFFSET_TYPE = 8, /* ob_type */
	OFFSET_NAME = 24,
	OFFSET_BASIC_SIZE = 32,
	OFFSET_ITEM_SIZE = 40,
	OFFSET_FLAGS = 168,
	TYPE_BYTES = 176
};

#define FLAG_MANAGED_WEAKREF (UINT64_C(1) << 3) /* since Python 3.12 */
#define FLAG_MANAGED_DICT (UINT64_C(1) << 4)	/* since Python 3.11 */
#define FLAG_READY (UINT64_C(1) << 12)
#define FLAG_HAS_GC (UINT64_C(1) << 14)

#define SIZE_MIN UINT64_C(16)
#define SIZE_MAX_ (UINT64_C(1) << 20)

/* The maximum length of the chain from a type to the type that is its own type. */
#define CHAIN_MAX 4
/* The maximum number of types that are read. */
#define TYPES_MAX 20000
#define SLOTS_MIN 2048

/*
 * A slot of the type cache: an address, and the number of the type at that address, or 0
 * if the address is not that of a type.
 */
struct slot {
	uint64_t addr; /* address of the type; 0 if the slot is empty */
	uint32_t number;
};

struct python_types {
	struct image *image;
	struct memory *memory;
	struct python_type *types; /* types[0] has the number 1 */
	size_t count, capacity;
	struct slot *slots;
	size_t slot_count, used_count; /* slot_count is a power of two */
	bool is_full;
};

struct python_types *python_types_new(struct image *image, struct memory *memory)
{
	struct python_types *types = xcalloc(1, sizeof(*types));

	types->image = image;
	types->memory = memory;
	types->slot_count = SLOTS_MIN;
	types->slots = xcalloc(types->slot_count, sizeof(*types->slots));
	return types;
}

void python_types_free(struct python_types *types)
{
	for (size_t i = 0; i < types->count; i++)
		free(types->types[i].name);
	free(types->types);
	free(types->slots);
	free(types);
}

static uint64_t word_at(const uint8_t *at, size_t offset)
{
	uint64_t word;

	memcpy(&word, at + offset, sizeof(word));
	return word;
}

/* Read a name of printable ASCII from the image or from a mapped file. */
static bool read_name(struct python_types *types, uint64_t addr, char *to)
{
	size_t length = 0;
	const uint8_t *at;

	while (length < PYTHON_NAME_SIZE &&
	       (at = image_at(types->image, addr + length, 1)) && *at != '\0')
		to[length++] = (char)*at;
	if (length == PYTHON_NAME_SIZE)
		return false;
	to[length] = '\0';
	if (!image_at(types->image, addr + length, 1) &&
	    (length > 0 || !types->memory ||
	     !memory_read_text(types->memory, addr, to, PYTHON_NAME_SIZE)))
		return false;
	for (const char *c = to; *c != '\0'; c++)
		if ((unsigned char)*c <= ' ' || (unsigned char)*c == 0x7f)
			return false;
	return to[0] != '\0';
}

/*
 * Return true if the chain from addr to its type, the type of that type, and so on ends
 * at a type that is its own type.
 */
static bool leads_to_type(struct python_types *types, uint64_t addr)
{
	char name[PYTHON_NAME_SIZE];

	for (int i = 0; i < CHAIN_MAX; i++) {
		const uint8_t *at = image_at(types->image, addr, TYPE_BYTES);
		uint64_t next;

		if (!at)
			return false;
		next = word_at(at, OFFSET_TYPE);
		if (next == addr)
			return read_name(types, word_at(at, OFFSET_NAME), name) &&
			       strcmp(name, "type") == 0;
		addr = next;
	}
	return false;
}

/* Read the type at addr. Return false if no type is there. */
static bool read_type(struct python_types *types, uint64_t addr, struct python_type *ret)
{
	const uint8_t *at = image_at(types->image, addr, TYPE_BYTES);
	char name[PYTHON_NAME_SIZE];
	uint64_t flags;

	if (!at)
		return false;
	flags = word_at(at, OFFSET_FLAGS);
	ret->addr = addr;
	ret->basic_bytes = word_at(at, OFFSET_BASIC_SIZE);
	ret->is_collected = flags & FLAG_HAS_GC;
	ret->has_extra = flags & (FLAG_MANAGED_DICT | FLAG_MANAGED_WEAKREF);
	if (!(flags & FLAG_READY) || ret->basic_bytes < SIZE_MIN ||
	    ret->basic_bytes > SIZE_MAX_ || word_at(at, OFFSET_ITEM_SIZE) > SIZE_MAX_ ||
	    !leads_to_type(types, addr) ||
	    !read_name(types, word_at(at, OFFSET_NAME), name))
		return false;
	ret->name = xstrdup(name);
	return true;
}

/*
 * Return the slot of the cache that contains the address, or the empty slot in which
 * to store it.
 */
static struct slot *find_slot(const struct python_types *types, uint64_t addr)
{
	size_t i = (size_t)(addr / 8 * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	for (;; i++) {
		struct slot *slot = &types->slots[i & (types->slot_count - 1)];

		if (slot->addr == addr || slot->addr == 0)
			return slot;
	}
}

static void grow_slots(struct python_types *types)
{
	struct slot *old = types->slots;
	size_t old_count = types->slot_count;

	types->slot_count *= 2;
	types->slots = xcalloc(types->slot_count, sizeof(*types->slots));
	for (size_t i = 0; i < old_count; i++)
		if (old[i].addr != 0)
			*find_slot(types, old[i].addr) = old[i];
	free(old);
}

uint32_t python_types_find(struct python_types *types, uint64_t addr)
{
	struct slot *slot = addr != 0 ? find_slot(types, addr) : NULL;
	struct python_type type;

	if (!slot || slot->addr == addr)
		return slot ? slot->number : 0;
	/* most words are not addresses, so use slots only for addresses in the image */
	if (!image_at(types->image, addr, TYPE_BYTES))
		return 0;
	slot->addr = addr;
	slot->number = 0;
	if (types->count == TYPES_MAX) {
		types->is_full = true;
	} else if (read_type(types, addr, &type)) {
		types->types = xgrow(types->types, &types->capacity, types->count + 1,
				     sizeof(*types->types));
		types->types[types->count++] = type;
		slot->number = (uint32_t)types->count;
	}
	if (++types->used_count > types->slot_count / 2) {
		grow_slots(types);
		slot = find_slot(types, addr);
	}
	return slot->number;
}

const struct python_type *python_types_get(const struct python_types *types,
					   uint32_t number)
{
	return &types->types[number - 1];
}

const char *python_types_problem(const struct python_types *types)
{
	return types->is_full ? "the process has too many types" : NULL;
}
