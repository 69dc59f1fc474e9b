/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/kmsg/machine.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"

/*
 * The keys in the first lines of Mem-Info, such as "free:34629 free_pcp:0", whose amounts
 * are in pages. If several keys have the same member of struct oom_machine, the member is
 * the sum of their amounts.
 */
static const struct {
	const char *key;
	size_t offset;
} page_keys[] = {
	{ "free:", offsetof(struct oom_machine, free_bytes) },
	{ "active_anon:", offsetof(struct oom_machine, anon_bytes) },
	{ "inactive_anon:", offsetof(struct oom_machine, anon_bytes) },
	{ "active_file:", offsetof(struct oom_machine, file_bytes) },
	{ "inactive_file:", offsetof(struct oom_machine, file_bytes) },
	{ "shmem:", offsetof(struct oom_machine, shmem_bytes) },
	{ "pagetables:", offsetof(struct oom_machine, pagetables_bytes) },
	{ "slab_reclaimable:", offsetof(struct oom_machine, slab_reclaimable_bytes) },
	{ "slab_unreclaimable:", offsetof(struct oom_machine, slab_unreclaimable_bytes) },
};

/*
 * Offsets of all amounts in struct oom_machine. Each amount is BYTES_UNKNOWN until a line
 * sets it.
 */
static const size_t fields[] = {
	offsetof(struct oom_machine, ram_bytes),
	offsetof(struct oom_machine, free_bytes),
	offsetof(struct oom_machine, anon_bytes),
	offsetof(struct oom_machine, file_bytes),
	offsetof(struct oom_machine, shmem_bytes),
	offsetof(struct oom_machine, pagetables_bytes),
	offsetof(struct oom_machine, slab_reclaimable_bytes),
	offsetof(struct oom_machine, slab_unreclaimable_bytes),
	offsetof(struct oom_machine, swap_total_bytes),
	offsetof(struct oom_machine, swap_free_bytes),
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t *field(struct oom_machine *machine, size_t offset)
{
	return (uint64_t *)((char *)machine + offset);
}

void kmsg_machine_begin(struct kmsg_machine *m)
{
	*m = (struct kmsg_machine){ .active_anon = COUNT_UNKNOWN,
				    .active_anon_kb = COUNT_UNKNOWN };
	for (size_t i = 0; i < COUNT_OF(fields); i++)
		*field(&m->machine, fields[i]) = BYTES_UNKNOWN;
}

/*
 * Return the number after a key, or COUNT_UNKNOWN if the line does not contain the key at
 * the start of a word.
 */
static uint64_t find_number(const char *line, const char *key)
{
	for (const char *at = line; (at = strstr(at, key)); at++)
		if ((at == line || at[-1] == ' ') &&
		    isdigit((unsigned char)at[strlen(key)]))
			return strtoull(at + strlen(key), NULL, 10);
	return COUNT_UNKNOWN;
}

static uint64_t bytes_of_kb(uint64_t kb)
{
	uint64_t bytes;

	return kb == COUNT_UNKNOWN || units_bytes_from_kib(kb, &bytes) < 0 ? BYTES_UNKNOWN
									   : bytes;
}

static bool read_pages(struct kmsg_machine *m, const char *line)
{
	bool is_one = false;

	for (size_t i = 0; i < COUNT_OF(page_keys); i++) {
		uint64_t pages = find_number(line, page_keys[i].key);
		uint64_t *sum = field(&m->machine, page_keys[i].offset);

		if (pages == COUNT_UNKNOWN)
			continue;
		*sum = bytes_add(bytes_or_0(*sum), pages);
		is_one = true;
	}
	if (m->active_anon == COUNT_UNKNOWN)
		m->active_anon = find_number(line, "active_anon:");
	return is_one;
}

/*
 * Parse the line of a memory zone: "Node 0 DMA32 free:63304kB boost:0kB min:13760kB
 * low:17200kB …".
 */
static bool read_zone(struct kmsg_machine *m, const char *line)
{
	struct oom_zone zone = { 0 };
	int length = 0;

	if (sscanf(line, "Node %d %15[A-Za-z0-9] free:%n", &zone.node, zone.name,
		   &length) != 2 ||
	    length == 0)
		return false;
	zone.free_bytes = bytes_of_kb(find_number(line, "free:"));
	zone.min_bytes = bytes_of_kb(find_number(line, "min:"));
	if (m->machine.zone_count < OOM_ZONES_MAX)
		m->machine.zones[m->machine.zone_count++] = zone;
	return true;
}

/*
 * Parse one of the totals at the end of Mem-Info: "Free swap = 84kB", "Total swap =
 * 25165820kB", or "4115400 pages RAM".
 */
static bool read_totals(struct oom_machine *machine, const char *line)
{
	unsigned long long number;
	int length = 0;

	if (sscanf(line, "Free swap = %llukB", &number) == 1) {
		machine->swap_free_bytes = bytes_of_kb(number);
		return true;
	}
	if (sscanf(line, "Total swap = %llukB", &number) == 1) {
		machine->swap_total_bytes = bytes_of_kb(number);
		return true;
	}
	if (sscanf(line, "%llu pages RAM%n", &number, &length) == 1 && length > 0) {
		machine->ram_bytes = number;
		return true;
	}
	return false;
}

bool kmsg_machine_read(struct kmsg_machine *m, const char *line)
{
	const char *text = line + strspn(line, " ");
	bool is_one = false;

	if (strncmp(text, "Node ", 5) == 0) {
		is_one = read_zone(m, text);
		/*
		 * compute the page size only if there is one node, because each node
		 * reports its own amount in kB
		 */
		if (!is_one && strstr(text, " active_anon:")) {
			m->active_anon_kb = m->active_anon_kb == COUNT_UNKNOWN
						    ? find_number(text, "active_anon:")
						    : 0;
			is_one = true;
		}
	} else if (isdigit((unsigned char)text[0]) || text[0] == 'F' || text[0] == 'T') {
		is_one = read_totals(&m->machine, text);
	} else if (strncmp(text, "active_anon:", 12) == 0 ||
		   (m->machine.is_known && strncmp(text, "Node", 4) != 0)) {
		is_one = read_pages(m, text);
	}
	m->machine.is_known |= is_one;
	return is_one;
}

uint64_t kmsg_machine_page_bytes(const struct kmsg_machine *m, uint64_t fallback)
{
	uint64_t kb;

	if (m->active_anon == COUNT_UNKNOWN || m->active_anon_kb == COUNT_UNKNOWN ||
	    m->active_anon == 0 || m->active_anon_kb % m->active_anon != 0)
		return fallback;
	kb = m->active_anon_kb / m->active_anon;
	return kb == 4 || kb == 8 || kb == 16 || kb == 64 ? kb * 1024 : fallback;
}

void kmsg_machine_end(const struct kmsg_machine *m, uint64_t page_bytes,
		      struct oom_machine *ret)
{
	*ret = m->machine;
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		uint64_t *amount = field(ret, fields[i]);

		if (fields[i] == offsetof(struct oom_machine, swap_total_bytes) ||
		    fields[i] == offsetof(struct oom_machine, swap_free_bytes) ||
		    !bytes_known(*amount))
			continue;
		*amount = *amount > UINT64_MAX / page_bytes ? BYTES_UNKNOWN
							    : *amount * page_bytes;
	}
}
