/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/oom_summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"

/* Kills with the same name: of a group, or of a program. */
struct row {
	const char *name;
	size_t count;
	uint64_t largest_bytes; /* Rss of the largest victim */
};

static const char *limit_name(const struct oom_kill *k)
{
	if (k->is_sysrq)
		return "none: asked for with SysRq f";
	if (k->constraint == OOM_GLOBAL)
		return "the whole machine's memory";
	if (k->limit_path[0] != '\0')
		return k->limit_path;
	if (k->constraint == OOM_NODES)
		return "memory nodes of a cpuset";
	return k->constraint == OOM_CGROUP ? "a cgroup that the log does not name" : "not in the log";
}

static const char *victim_name(const struct oom_kill *k)
{
	return k->victim.pid != 0 ? k->victim.name : "not in the log";
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

static int compare_counts(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->count != y->count)
		return (x->count < y->count) - (x->count > y->count);
	return compare_names(a, b);
}

/* One row for each name; returns how many. */
static size_t merge_rows(struct row *rows, size_t count)
{
	size_t kept = 0;

	qsort(rows, count, sizeof(*rows), compare_names);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && strcmp(rows[kept - 1].name, rows[i].name) == 0) {
			rows[kept - 1].count += rows[i].count;
			if (rows[i].largest_bytes > rows[kept - 1].largest_bytes)
				rows[kept - 1].largest_bytes = rows[i].largest_bytes;
		} else {
			rows[kept++] = rows[i];
		}
	}
	qsort(rows, kept, sizeof(*rows), compare_counts);
	return kept;
}

static void add_rows(struct strbuf *out, const char *heading, struct row *rows, size_t count,
		     const struct oom_explain_options *options)
{
	char rss[UNITS_TEXT_SIZE];
	size_t kept = merge_rows(rows, count);

	strbuf_addf(out, "\n   KILLS  LARGEST RSS  %s\n", heading);
	for (size_t i = 0; i < kept && i < options->top; i++) {
		strbuf_addf(out, "%8zu  %11s  ", rows[i].count,
			    rows[i].largest_bytes == 0 ? "-" : units_format_bytes(rows[i].largest_bytes, rss));
		text_add_printable(out, rows[i].name, strlen(rows[i].name), options->table.ascii);
		strbuf_add_char(out, '\n');
	}
	if (kept > options->top)
		strbuf_addf(out, "          and %zu more\n", kept - options->top);
}

static void add_time(struct strbuf *out, const struct oom_kill *k)
{
	char time[CLOCK_TEXT_SIZE];

	if (k->time.unix_ms != 0)
		strbuf_add_text(out, clock_format_utc(k->time.unix_ms, time));
	else if (k->time.text[0] != '\0')
		text_add_printable(out, k->time.text, strlen(k->time.text), true);
	else if (k->time.boot_us != COUNT_UNKNOWN)
		strbuf_addf(out, "%llu s after boot", (unsigned long long)(k->time.boot_us / 1000000));
	else
		strbuf_add_text(out, "an unknown time");
}

void oom_summary_add_text(struct strbuf *out, const struct oom_kill *const *kills, size_t count,
			  const struct oom_explain_options *options)
{
	struct row *rows = xcalloc(count, sizeof(*rows));

	strbuf_addf(out, "%zu kills, from ", count);
	add_time(out, kills[0]);
	strbuf_add_text(out, " to ");
	add_time(out, kills[count - 1]);
	strbuf_add_char(out, '\n');
	for (size_t i = 0; i < count; i++)
		rows[i] = (struct row){ limit_name(kills[i]), 1,
					bytes_or_0(kills[i]->victim.rss_bytes) };
	add_rows(out, "LIMIT", rows, count, options);
	for (size_t i = 0; i < count; i++)
		rows[i] = (struct row){ victim_name(kills[i]), 1,
					bytes_or_0(kills[i]->victim.rss_bytes) };
	add_rows(out, "VICTIM", rows, count, options);
	free(rows);
}
