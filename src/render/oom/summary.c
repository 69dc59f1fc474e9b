/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/oom/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "render/table/conclusion.h"
#include "render/table/style.h"

/*
 * A row of the summary, which combines all kills in cgroups with the same name, or all
 * kills of programs with the same name.
 */
struct row {
	const char *name;
	const struct oom_kill *kill; /* the first of the combined kills */
	size_t count;
	uint64_t largest_bytes; /* largest Rss of a killed process, or BYTES_UNKNOWN */
};

enum limit {
	LIMIT_CGROUP,
	LIMIT_MACHINE,
	LIMIT_NODES,
	LIMIT_SYSRQ,
	LIMIT_UNKNOWN,
};

static const struct {
	/*
	 * JSON contains `key`; text reports show the cgroup's path, or `name` if the path
	 * is unknown
	 */
	const char *key, *name;
} limits[] = {
	[LIMIT_CGROUP] = { "cgroup", "a cgroup that the log does not name" },
	[LIMIT_MACHINE] = { "machine", "the whole machine's memory" },
	[LIMIT_NODES] = { "nodes", "memory nodes of a cpuset" },
	[LIMIT_SYSRQ] = { "sysrq", "none: requested with SysRq f" },
	[LIMIT_UNKNOWN] = { "unknown", "not in the log" },
};

static enum limit find_limit(const struct oom_kill *k)
{
	if (k->is_sysrq)
		return LIMIT_SYSRQ;
	if (k->constraint == OOM_GLOBAL)
		return LIMIT_MACHINE;
	if (k->limit_path[0] != '\0' || k->constraint == OOM_CGROUP)
		return LIMIT_CGROUP;
	return k->constraint == OOM_NODES ? LIMIT_NODES : LIMIT_UNKNOWN;
}

static const char *limit_name(const struct oom_kill *k)
{
	enum limit limit = find_limit(k);

	return limit == LIMIT_CGROUP && k->limit_path[0] != '\0' ? k->limit_path
								 : limits[limit].name;
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

static uint64_t larger(uint64_t a, uint64_t b)
{
	if (!bytes_known(a) || !bytes_known(b))
		return bytes_known(a) ? a : b;
	return a > b ? a : b;
}

/* Merge rows that have the same name. Return the number of remaining rows. */
static size_t merge_rows(struct row *rows, size_t count)
{
	size_t kept = 0;

	qsort(rows, count, sizeof(*rows), compare_names);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && strcmp(rows[kept - 1].name, rows[i].name) == 0) {
			rows[kept - 1].count += rows[i].count;
			rows[kept - 1].largest_bytes = larger(
				rows[kept - 1].largest_bytes, rows[i].largest_bytes);
		} else {
			rows[kept++] = rows[i];
		}
	}
	qsort(rows, kept, sizeof(*rows), compare_counts);
	return kept;
}

static void add_rows(struct strbuf *out, const char *heading, struct row *rows,
		     size_t count, const struct oom_explain_options *options)
{
	char rss[UNITS_TEXT_SIZE];
	size_t kept = merge_rows(rows, count), begin = out->length;

	strbuf_addf(out, "\n   KILLS  LARGEST RSS  %s\n", heading);
	style_mark_line(out, begin, STYLE_HEADING, options->table.colour);
	for (size_t i = 0; i < kept && i < options->top; i++) {
		strbuf_addf(out, "%8zu  %11s  ", rows[i].count,
			    bytes_known(rows[i].largest_bytes)
				    ? units_format_bytes(rows[i].largest_bytes, rss)
				    : "-");
		text_add_printable(out, rows[i].name, strlen(rows[i].name),
				   options->table.ascii);
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
		strbuf_addf(out, "%llu s after boot",
			    (unsigned long long)(k->time.boot_us / 1000000));
	else
		strbuf_add_text(out, "an unknown time");
}

typedef const char *name_of(const struct oom_kill *kill);

static struct row *make_rows(const struct oom_kill *const *kills, size_t count,
			     name_of *name)
{
	struct row *rows = xcalloc(count, sizeof(*rows));

	for (size_t i = 0; i < count; i++)
		rows[i] = (struct row){ name(kills[i]), kills[i], 1,
					kills[i]->victim.rss_bytes };
	return rows;
}

/*
 * Find the first and the last kill. If the log contains the date of each kill, compare
 * the times, because some logs are not in chronological order. Otherwise compare the
 * positions in the log.
 */
static void find_ends(const struct oom_kill *const *kills, size_t count,
		      const struct oom_kill *ends[2])
{
	const struct oom_kill *first = kills[0], *last = kills[0];

	ends[0] = kills[0];
	ends[1] = kills[count - 1];
	for (size_t i = 0; i < count; i++) {
		if (kills[i]->time.unix_ms == 0)
			return;
		if (kills[i]->time.unix_ms < first->time.unix_ms)
			first = kills[i];
		if (kills[i]->time.unix_ms >= last->time.unix_ms)
			last = kills[i];
	}
	ends[0] = first;
	ends[1] = last;
}

/* Append the time of the kills in the form "at A" or "between A and B". */
static void add_period(struct strbuf *out, const struct oom_kill *const ends[2])
{
	_cleanup_strbuf_ struct strbuf first = STRBUF_INIT, last = STRBUF_INIT;

	add_time(&first, ends[0]);
	add_time(&last, ends[1]);
	if (strcmp(strbuf_text(&first), strbuf_text(&last)) == 0)
		strbuf_addf(out, "at %s", first.text);
	else
		strbuf_addf(out, "between %s and %s", first.text, last.text);
}

/*
 * Append the conclusion, which names the most frequent limit and the most frequent
 * victim. Each is the first row of its list.
 */
static void add_opening(struct strbuf *out, const struct oom_kill *const *kills,
			size_t count, const struct row *rows[2],
			const struct table_options *options)
{
	_cleanup_conclusion_ struct conclusion conclusion = CONCLUSION_INIT;
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	const struct oom_kill *ends[2];

	find_ends(kills, count, ends);
	add_period(&words, ends);
	conclusion_add(&conclusion, "The log contains %zu kills %s.", count, words.text);
	strbuf_clear(&words);
	text_add_printable(&words, rows[0]->name, strlen(rows[0]->name), options->ascii);
	strbuf_addf(&words, " (%zu), most frequent victim: ", rows[0]->count);
	text_add_printable(&words, rows[1]->name, strlen(rows[1]->name), options->ascii);
	conclusion_add(&conclusion, "Most frequent limit: %s (%zu).", words.text,
		       rows[1]->count);
	conclusion_add_opening(out, &conclusion, options);
}

void oom_summary_add_text(struct strbuf *out, const struct oom_kill *const *kills,
			  size_t count, const struct oom_explain_options *options)
{
	_cleanup_free_ struct row *limit_rows = make_rows(kills, count, limit_name);
	_cleanup_free_ struct row *victim_rows = make_rows(kills, count, victim_name);
	size_t limit_count = merge_rows(limit_rows, count);
	size_t victim_count = merge_rows(victim_rows, count);

	add_opening(out, kills, count, (const struct row *[]){ limit_rows, victim_rows },
		    &options->table);
	add_rows(out, "LIMIT", limit_rows, limit_count, options);
	add_rows(out, "VICTIM", victim_rows, victim_count, options);
}

static void add_json_time(struct json *j, const char *key, const struct oom_kill *k)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	add_time(&text, k);
	json_add_string(j, key, strbuf_text(&text));
}

static void add_json_counts(struct json *j, const struct row *row)
{
	json_add_amount(j, "kill_count", row->count);
	json_add_amount(j, "largest_rss_bytes", row->largest_bytes);
}

static void add_json_limit(struct json *j, const struct row *row)
{
	enum limit limit = find_limit(row->kill);
	const char *path = limit == LIMIT_CGROUP ? row->kill->limit_path : "";

	json_begin_object(j, NULL);
	json_add_string(j, "limit", limits[limit].key);
	json_add_string(j, "cgroup", path[0] != '\0' ? path : NULL);
	add_json_counts(j, row);
	json_end_object(j);
}

static void add_json_victim(struct json *j, const struct row *row)
{
	const char *name = row->kill->victim.name;

	json_begin_object(j, NULL);
	json_add_string(j, "name", name[0] != '\0' ? name : NULL);
	add_json_counts(j, row);
	json_end_object(j);
}

void oom_summary_add_json(struct strbuf *out, const struct oom_kill_list *list,
			  const struct oom_kill *const *kills, size_t count)
{
	_cleanup_free_ struct row *limit_rows = make_rows(kills, count, limit_name);
	_cleanup_free_ struct row *victim_rows = make_rows(kills, count, victim_name);
	size_t limit_count = merge_rows(limit_rows, count);
	size_t victim_count = merge_rows(victim_rows, count);
	const struct oom_kill *ends[2];
	struct json j = json_begin(out);

	find_ends(kills, count, ends);
	json_begin_object(&j, NULL);
	json_add_number(&j, "kill_count", count);
	json_add_number(&j, "left_out_count", list->left_out_count);
	json_add_number(&j, "unkillable_count", list->unkillable_count);
	add_json_time(&j, "first", ends[0]);
	add_json_time(&j, "last", ends[1]);
	json_begin_array(&j, "limits");
	for (size_t i = 0; i < limit_count; i++)
		add_json_limit(&j, &limit_rows[i]);
	json_end_array(&j);
	json_begin_array(&j, "victims");
	for (size_t i = 0; i < victim_count; i++)
		add_json_victim(&j, &victim_rows[i]);
	json_end_array(&j);
	json_end_object(&j);
}
