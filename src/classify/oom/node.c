/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/oom/node.h"

#include "base/units.h"

static void add_comma(struct strbuf *out, size_t start)
{
	if (out->length > start)
		strbuf_add_text(out, ", ");
}

static bool is_low(const struct oom_zone *zone)
{
	return bytes_known(zone->free_bytes) && bytes_known(zone->min_bytes) &&
	       zone->free_bytes < zone->min_bytes;
}

/*
 * Return the last memory zone whose free memory is below the zone's
 * minimum watermark, or NULL.
 */
static const struct oom_zone *find_low_zone(const struct oom_machine *m)
{
	for (size_t i = m->zone_count; i-- > 0;)
		if (is_low(&m->zones[i]))
			return &m->zones[i];
	return NULL;
}

void oom_node_add_reason(const struct oom_kill *k, struct strbuf *out)
{
	const struct oom_machine *m = &k->machine;
	const struct oom_zone *zone = find_low_zone(m);
	size_t start = out->length;
	char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE];

	if (k->order != COUNT_UNKNOWN && k->order > 0 && k->order < 32)
		strbuf_addf(out, "%llu contiguous pages (order %llu) were requested",
			    1ULL << k->order, (unsigned long long)k->order);
	if (zone) {
		add_comma(out, start);
		strbuf_addf(
			out, "zone %s of node %d has %s free, below its minimum of %s",
			zone->name, zone->node, units_format_bytes(zone->free_bytes, a),
			units_format_bytes(zone->min_bytes, b));
	}
	/* do nothing if the report does not contain swap figures */
	if (!bytes_known(m->swap_total_bytes) ||
	    (m->swap_total_bytes > 0 && !bytes_known(m->swap_free_bytes)))
		return;
	if (out->length > start)
		strbuf_add_text(out, ", and ");
	if (m->swap_total_bytes == 0)
		strbuf_add_text(out, "the machine has no swap");
	else
		strbuf_addf(out, "%s of %s of swap is free",
			    units_format_bytes(m->swap_free_bytes, a),
			    units_format_bytes(m->swap_total_bytes, b));
}

void oom_node_add_amounts(const struct oom_kill *k, struct strbuf *out)
{
	const struct oom_machine *m = &k->machine;
	const struct {
		const char *name;
		uint64_t bytes;
	} amounts[] = {
		{ "RAM", m->ram_bytes },
		{ "free", m->free_bytes },
		{ "private and shared memory", m->anon_bytes },
		{ "including shmem", m->shmem_bytes },
		{ "page cache", m->file_bytes },
		{ "reclaimable slab", m->slab_reclaimable_bytes },
		{ "other slab", m->slab_unreclaimable_bytes },
		{ "page tables", m->pagetables_bytes },
		{ "swap", m->swap_total_bytes },
		{ "free swap", m->swap_free_bytes },
	};
	size_t start = out->length;
	char text[UNITS_TEXT_SIZE];

	for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++) {
		if (!bytes_known(amounts[i].bytes) || !m->is_known)
			continue;
		add_comma(out, start);
		strbuf_addf(out, "%s %s", amounts[i].name,
			    units_format_bytes(amounts[i].bytes, text));
	}
}

void oom_node_add_zones(const struct oom_kill *k, struct strbuf *out)
{
	size_t start = out->length;
	char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE];

	for (size_t i = 0; i < k->machine.zone_count; i++) {
		const struct oom_zone *zone = &k->machine.zones[i];

		if (!bytes_known(zone->free_bytes))
			continue;
		add_comma(out, start);
		strbuf_addf(out, "%s of node %d %s free", zone->name, zone->node,
			    units_format_bytes(zone->free_bytes, a));
		if (bytes_known(zone->min_bytes))
			strbuf_addf(out, " (minimum %s)",
				    units_format_bytes(zone->min_bytes, b));
	}
}
