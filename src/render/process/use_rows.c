/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/process/use_rows.h"

#include <stdio.h>

#include "base/units.h"
#include "model/known_use.h"

#define ROWS_MAX 5

/*
 * Return true if the table shows this use of memory. It must account for at least 1 % of
 * Rss. Stacks are not shown, because the matrix already shows them. Java's thread stacks
 * are shown, because an option of Java limits them.
 */
static bool is_shown(const struct usage *u, const struct usage_use *use)
{
	uint64_t rss = u->total.bytes[SMAPS_RSS];

	return use->use != USE_STACKS && bytes_known(rss) && rss > 0 &&
	       bytes_known(use->rss_bytes) && use->rss_bytes > 0 &&
	       units_per_mille(use->rss_bytes, rss) >= 10;
}

/* Find the known uses of memory that the table shows, and return their number. */
static size_t find_shown(const struct usage *u, const struct usage_use *ret[ROWS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < u->uses.count && count < ROWS_MAX; i++)
		if (is_shown(u, &u->uses.items[i]))
			ret[count++] = &u->uses.items[i];
	return count;
}

size_t usage_uses_line_count(const struct usage *u)
{
	const struct usage_use *shown[ROWS_MAX];
	size_t count = find_shown(u, shown);

	return count > 0 ? count + 2 : 0;
}

static void add_row(struct strbuf *out, const char *name, uint64_t bytes, bool is_bound,
		    bool exact_bytes)
{
	char amount[UNITS_TEXT_SIZE], text[UNITS_TEXT_SIZE + 4];

	snprintf(text, sizeof(text), "%s%s", is_bound ? "<= " : "",
		 units_format_amount(bytes, exact_bytes, amount));
	strbuf_addf(out, "%-25s %*s", name, exact_bytes ? 17 : 11, text);
}

void usage_uses_add_rows(struct strbuf *out, const struct usage *u, bool exact_bytes)
{
	const struct usage_use *shown[ROWS_MAX];
	size_t count = find_shown(u, shown);

	if (count == 0)
		return;
	strbuf_addf(out, "%-25s %*s  %-5s  %s\n", "known use", exact_bytes ? 17 : 11,
		    "Rss", "owner", "limited by");
	for (size_t i = 0; i < count; i++) {
		const struct usage_use *use = shown[i];
		const struct known_use_text *text = &known_use_texts[use->use];

		add_row(out, text->name, use->rss_bytes, use->is_upper_bound,
			exact_bytes);
		strbuf_addf(out, "  %-5s  %s\n",
			    use->use == USE_POSTGRES_BACKEND ? "heap"
							     : owner_names[use->owner],
			    text->limit ? text->limit : "-");
	}
	add_row(out, "other, use unknown", usage_unknown_anon_bytes(u), false,
		exact_bytes);
	strbuf_addf(out, "  %-5s  -\n", owner_names[OWNER_ANON]);
}

void usage_uses_add_json(struct json *j, const struct usage *u)
{
	json_begin_array(j, "uses");
	for (size_t i = 0; i < u->uses.count; i++) {
		const struct usage_use *use = &u->uses.items[i];
		const struct known_use_text *text = &known_use_texts[use->use];

		json_begin_object(j, NULL);
		json_add_string(j, "use", text->name);
		json_add_string(j, "owner",
				use->use == USE_POSTGRES_BACKEND
					? "heap"
					: owner_names[use->owner]);
		json_add_amount(j, "rss_bytes", use->rss_bytes);
		json_add_bool(j, "is_upper_bound", use->is_upper_bound);
		json_add_amount(j, "size_bytes", use->size_bytes);
		json_add_string(j, "limit", text->limit);
		json_add_string(j, "evidence", text->evidence);
		json_end_object(j);
	}
	json_end_array(j);
	json_add_amount(j, "unknown_anon_bytes", usage_unknown_anon_bytes(u));
}
