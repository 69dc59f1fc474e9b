/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/hotspot/klasses.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "walk/hotspot/pages.h"

/*
 * Klass::_layout_helper. A positive value is the size of an instance in bytes; the lowest
 * bit is not part of the size. A negative value describes an array. Its upper 16 bits
 * contain the kind of array and the size of the header, the next 8 bits the type of the
 * elements, and the lowest 8 bits log2 of the size of an element.
 */
#define LAYOUT_SIZE_MASK (~UINT32_C(1))
#define LAYOUT_HEADER_SHIFT 16
#define LAYOUT_LOG2_MAX 3
#define ARRAY_HEADER_MIN 12
#define ARRAY_HEADER_MAX 24

#define INSTANCE_MIN UINT32_C(8)
#define INSTANCE_MAX (UINT32_C(1) << 20)

#define KLASSES_MAX 1000000
#define SLOTS_MIN 4096

/*
 * A slot of the class cache: an address, and 1 + the index of the class at that address,
 * or 0 if the address is not that of a class.
 */
struct slot {
	uint64_t addr; /* address of the class; 0 if the slot is empty */
	size_t number;
};

struct hotspot_klasses {
	struct hotspot *h;
	struct hotspot_klass *items;
	size_t count, capacity;
	struct slot *slots;
	size_t slot_count, used_count; /* slot_count is a power of two */
};

struct hotspot_klasses *hotspot_klasses_new(struct hotspot *h)
{
	struct hotspot_klasses *klasses = xcalloc(1, sizeof(*klasses));

	klasses->h = h;
	klasses->slot_count = SLOTS_MIN;
	klasses->slots = xcalloc(klasses->slot_count, sizeof(*klasses->slots));
	return klasses;
}

void hotspot_klasses_free(struct hotspot_klasses *klasses)
{
	for (size_t i = 0; i < klasses->count; i++)
		free(klasses->items[i].name);
	free(klasses->items);
	free(klasses->slots);
	free(klasses);
}

static bool read_field(struct hotspot *h, uint64_t object, enum hotspot_field field,
		       void *to, size_t length)
{
	uint64_t addr = hotspot_field_addr(h, object, field);

	return addr != 0 && hotspot_page_read(h, addr, to, length);
}

/*
 * In the name of a hidden class, such as that of a lambda expression, replace the '+'
 * before the address with a slash, as Java does.
 */
static void convert_hidden_name(char *name)
{
	char *plus = strrchr(name, '+');

	if (plus && strncmp(plus + 1, "0x", 2) == 0)
		*plus = '/';
}

/* Read a Symbol: its length and its bytes. The JVM separates packages with slashes. */
static bool read_name(struct hotspot *h, uint64_t klass, char to[KLASS_NAME_SIZE])
{
	uint64_t symbol, body;
	uint16_t length;

	if (!read_field(h, klass, FIELD_KLASS_NAME, &symbol, sizeof(symbol)) ||
	    symbol == 0 || !read_field(h, symbol, FIELD_SYMBOL_LENGTH, &length, 2) ||
	    length == 0 || length >= KLASS_NAME_SIZE)
		return false;
	body = hotspot_field_addr(h, symbol, FIELD_SYMBOL_BODY);
	if (body == 0 || !hotspot_page_read(h, body, to, length))
		return false;
	to[length] = '\0';
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)to[i] <= ' ' || (unsigned char)to[i] == 0x7f)
			return false;
		if (to[i] == '/')
			to[i] = '.';
	}
	convert_hidden_name(to);
	return true;
}

static bool decode_layout(uint32_t layout, struct hotspot_klass *ret)
{
	ret->is_array = layout > INT32_MAX;
	if (!ret->is_array) {
		ret->bytes = layout & LAYOUT_SIZE_MASK;
		return ret->bytes >= INSTANCE_MIN && ret->bytes <= INSTANCE_MAX &&
		       ret->bytes % 8 == 0;
	}
	ret->bytes = layout >> LAYOUT_HEADER_SHIFT & 0xff;
	ret->log2_element = layout & 0xff;
	return ret->bytes >= ARRAY_HEADER_MIN && ret->bytes <= ARRAY_HEADER_MAX &&
	       ret->log2_element <= LAYOUT_LOG2_MAX;
}

static bool read_klass(struct hotspot *h, uint64_t addr, struct hotspot_klass *ret)
{
	char name[KLASS_NAME_SIZE];
	uint32_t layout;

	*ret = (struct hotspot_klass){ .addr = addr };
	if (!read_field(h, addr, FIELD_KLASS_LAYOUT, &layout, sizeof(layout)) ||
	    !decode_layout(layout, ret) || !read_name(h, addr, name))
		return false;
	ret->is_mirror = strcmp(name, "java.lang.Class") == 0;
	ret->name = xstrdup(name);
	return true;
}

/*
 * Return the slot of the cache that contains the address, or the empty slot in which
 * to store it.
 */
static struct slot *find_slot(const struct hotspot_klasses *klasses, uint64_t addr)
{
	size_t i = (size_t)(addr / 8 * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	for (;; i++) {
		struct slot *slot = &klasses->slots[i & (klasses->slot_count - 1)];

		if (slot->addr == addr || slot->addr == 0)
			return slot;
	}
}

static void grow_slots(struct hotspot_klasses *klasses)
{
	struct slot *old = klasses->slots;
	size_t old_count = klasses->slot_count;

	klasses->slot_count *= 2;
	klasses->slots = xcalloc(klasses->slot_count, sizeof(*klasses->slots));
	for (size_t i = 0; i < old_count; i++)
		if (old[i].addr != 0)
			*find_slot(klasses, old[i].addr) = old[i];
	free(old);
}

struct hotspot_klass *hotspot_klasses_find(struct hotspot_klasses *klasses, uint64_t addr)
{
	struct slot *slot;
	struct hotspot_klass klass;
	size_t number = 0;

	if (addr == 0 || addr % 8 != 0 || addr >= HOTSPOT_ADDR_MAX)
		return NULL;
	slot = find_slot(klasses, addr);
	if (slot->addr == addr)
		return slot->number > 0 ? &klasses->items[slot->number - 1] : NULL;
	if (klasses->used_count == KLASSES_MAX)
		return NULL;
	if (read_klass(klasses->h, addr, &klass)) {
		klasses->items = xgrow(klasses->items, &klasses->capacity,
				       klasses->count + 1, sizeof(*klasses->items));
		klasses->items[klasses->count] = klass;
		number = ++klasses->count;
	}
	*slot = (struct slot){ addr, number };
	if (++klasses->used_count > klasses->slot_count / 2)
		grow_slots(klasses);
	return number > 0 ? &klasses->items[number - 1] : NULL;
}

const struct hotspot_klass *hotspot_klasses_at(const struct hotspot_klasses *klasses,
					       size_t index)
{
	return index < klasses->count ? &klasses->items[index] : NULL;
}
