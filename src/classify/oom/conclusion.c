/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/oom/conclusion.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "classify/growth/limit_time.h"

/* A kill is imminent if less than this many thousandths of the limit remain. */
#define HEADROOM_LOW 100
/* Number of samples that the suggested command takes if this report has too few. */
#define SAMPLES_NEXT 60
/* file name of the recording that the suggested command writes */
#define RECORDING_NEXT "oom.msr"

struct builder {
	struct conclusion *c;
	const struct oom_conclusion_options *options;
};

static const char *format_amount(const struct builder *b, uint64_t bytes,
				 char buf[UNITS_TEXT_SIZE])
{
	return units_format_amount(bytes, b->options->exact_bytes, buf);
}

static void add_name(const struct builder *b, struct strbuf *out, const char *name)
{
	text_add_printable(out, name, strlen(name), b->options->ascii);
}

static const char *path_of(const struct cgroup *cgroup)
{
	return cgroup->level_count > 0 ? cgroup->levels[0].path : "";
}

/*
 * Append the cgroup that the figures describe: the cgroup with the limit or, without a
 * limit, the given cgroup.
 */
static void add_subject(const struct builder *b, struct strbuf *out,
			const struct cgroup *cgroup)
{
	const struct cgroup_level *owner = cgroup_tightest(cgroup);
	const char *path = owner ? owner->path : path_of(cgroup);

	strbuf_add_text(out, "cgroup ");
	add_name(b, out, path[0] != '\0' ? path : "unknown");
	if (owner && cgroup->tightest > 0) {
		strbuf_add_text(out, ", which contains ");
		add_name(b, out, path_of(cgroup));
		strbuf_add_char(out, ',');
	}
}

/*
 * Append " of its limit of 512.0M", or a phrase which states that the
 * cgroup has no limit.
 */
static void add_limit(const struct builder *b, struct strbuf *out,
		      const struct cgroup *cgroup)
{
	uint64_t limit_bytes = cgroup_limit_bytes(cgroup);
	char text[UNITS_TEXT_SIZE];

	if (limit_bytes == CGROUP_NO_LIMIT)
		strbuf_add_text(out, cgroup->is_cut && cgroup->version == CGROUP_V2
					     ? " (no limit is visible)"
					     : " (no limit)");
	else if (!bytes_known(limit_bytes))
		strbuf_add_text(out, " (the limit cannot be read)");
	else if (cgroup->hidden_limit_bytes != CGROUP_NO_LIMIT)
		strbuf_addf(out, "; the limit of a cgroup above, %s, applies",
			    format_amount(b, limit_bytes, text));
	else
		strbuf_addf(out, " of its limit of %s",
			    format_amount(b, limit_bytes, text));
}

/* Return the rounded percentage. Return 100 only if the part equals the whole. */
static unsigned int percent_of(uint64_t part, uint64_t whole)
{
	unsigned int percent = (units_per_mille(part, whole) + 5) / 10;

	return percent == 100 && part < whole ? 99 : percent;
}

/*
 * Append text such as "cgroup /x uses 332.3M of its limit of 512.0M; 62.9M (19%)
 * cannot be reclaimed".
 */
static void add_usage(const struct builder *b, const struct cgroup *cgroup,
		      const struct oom_figures *f)
{
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	char text[UNITS_TEXT_SIZE];

	add_subject(b, &words, cgroup);
	if (!bytes_known(f->usage_bytes)) {
		strbuf_add_text(&words, ": its usage cannot be read");
	} else {
		strbuf_addf(&words, " uses %s", format_amount(b, f->usage_bytes, text));
		add_limit(b, &words, cgroup);
	}
	if (bytes_known(f->need_bytes)) {
		strbuf_addf(&words, "; %s", format_amount(b, f->need_bytes, text));
		if (bytes_known(f->usage_bytes) && f->usage_bytes > 0)
			strbuf_addf(&words, " (%u%%)",
				    percent_of(f->need_bytes, f->usage_bytes));
		strbuf_add_text(&words, " cannot be reclaimed");
	}
	conclusion_add(b->c, "%s.", words.text);
}

/* Append the absolute value of a rate, such as "3.8M/s". */
static void add_rate(struct strbuf *out, int64_t rate, const struct units_rate *unit)
{
	char text[UNITS_TEXT_SIZE];
	const char *number = units_format_rate_in(rate, unit, text);

	strbuf_addf(out, "%s%s", number + strcspn(number, "0123456789<"), unit->name);
}

/*
 * Append the time until the limit is reached, and return true. Return false if the limit
 * will not be reached.
 */
static bool add_time(struct strbuf *out, const char *before, const struct growth *growth,
		     uint64_t limit_bytes)
{
	struct growth_time time;

	if (!bytes_known(limit_bytes) || limit_bytes == CGROUP_NO_LIMIT ||
	    !growth_time_to(growth, limit_bytes, &time) || time.ns == UINT64_MAX)
		return false;
	strbuf_add_text(out, before);
	growth_time_add(out, &time);
	return true;
}

static void add_headroom(const struct builder *b, const struct oom_figures *f,
			 const struct trend *need)
{
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	const struct growth *growth = need ? &need->growth : NULL;
	bool is_low = bytes_known(f->headroom_bytes) &&
		      units_per_mille(f->headroom_bytes, f->limit_bytes) < HEADROOM_LOW;
	char text[UNITS_TEXT_SIZE];

	if (growth && growth->kind == GROWTH_STEADY) {
		strbuf_add_text(&words, "Need grows by ");
		add_rate(&words, growth->rate_bytes, units_find_rate(growth->rate_bytes));
		(void)add_time(&words, " and ", growth, f->limit_bytes);
	} else if (bytes_known(f->headroom_bytes)) {
		strbuf_addf(
			&words, "Need can grow by %s%s before the kernel kills a process",
			is_low ? "only " : "", format_amount(b, f->headroom_bytes, text));
	}
	if (words.length > 0)
		conclusion_add(b->c, "%s.", words.text);
}

/* Suggest a command that examines the live cgroup, such as "oom predict". */
static void set_next_live(const struct builder *b, const char *command,
			  const struct cgroup *cgroup, const char *more)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;

	if (path_of(cgroup)[0] == '\0' || !b->options->live_options)
		return;
	text_add_shell_word(&path, path_of(cgroup));
	conclusion_set_next(b->c, "memstate %s%s --cgroup %s%s", command,
			    b->options->live_options, path.text, more);
}

/* Suggest a command that examines the recording, such as "oom explain --record". */
static void set_next_recorded(const struct builder *b, const char *command)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;

	text_add_shell_word(&path, b->options->recording);
	conclusion_set_next(b->c, "memstate %s %s", command, path.text);
}

void oom_conclude_group(struct conclusion *c, const struct cgroup *cgroup,
			const struct oom_figures *f, const struct trend *need,
			const struct oom_conclusion_options *options)
{
	const struct builder b = { c, options };
	bool is_near = bytes_known(f->headroom_bytes) &&
		       units_per_mille(f->headroom_bytes, f->limit_bytes) < HEADROOM_LOW;

	add_usage(&b, cgroup, f);
	add_headroom(&b, f, need);
	if (options->recording)
		set_next_recorded(&b, "oom explain --record");
	else if (is_near)
		set_next_live(&b, "oom watch", cgroup, " --record " RECORDING_NEXT);
	else
		set_next_live(&b, "oom predict", cgroup, "");
}

/*
 * Append the trend of the memory need as a verb phrase, such as " and grows by 3.8M/s".
 */
static void add_growth(struct strbuf *out, const struct growth *g,
		       const struct units_rate *unit)
{
	switch (g->kind) {
	case GROWTH_STEADY:
		strbuf_add_text(out, " and grows by ");
		add_rate(out, g->rate_bytes, unit);
		break;
	case GROWTH_SLOW:
		strbuf_add_text(out, " and grows slowly, by ");
		add_rate(out, g->rate_bytes, unit);
		break;
	case GROWTH_FALLING:
		strbuf_add_text(out, " and falls by ");
		add_rate(out, g->rate_bytes, unit);
		break;
	case GROWTH_NONE: strbuf_add_text(out, " and does not grow"); break;
	case GROWTH_STEP: strbuf_add_text(out, "; its rise was mostly one jump"); break;
	case GROWTH_PLATEAU:
		strbuf_add_text(out, "; it has almost stopped growing");
		break;
	case GROWTH_BRIEF:
	case GROWTH_TOO_SHORT:
	case GROWTH_KIND_COUNT_:
		strbuf_add_text(out, "; it is too soon to tell whether it grows");
		break;
	}
}

static void add_group_growth(const struct builder *b,
			     const struct oom_growth_facts *facts)
{
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	const struct trend *need = facts->need;
	bool is_empty = facts->cgroup->pid_count == 0;
	char text[UNITS_TEXT_SIZE];

	add_subject(b, &words, facts->cgroup);
	if (is_empty)
		strbuf_add_text(&words, " has no processes");
	if (!is_empty && bytes_known(need->bytes)) {
		strbuf_addf(&words, " needs %s", format_amount(b, need->bytes, text));
		add_limit(b, &words, facts->cgroup);
	} else if (bytes_known(need->bytes) && need->bytes > 0) {
		strbuf_addf(&words, "; %s are still charged to it",
			    format_amount(b, need->bytes, text));
	}
	if (!is_empty)
		add_growth(&words, &need->growth, facts->unit);
	conclusion_add(b->c, "%s.", words.text);
	strbuf_clear(&words);
	if (!is_empty &&
	    add_time(&words, "It ", &need->growth, cgroup_limit_bytes(facts->cgroup)))
		conclusion_add(b->c, "%s.", words.text);
}

static size_t count_growing(const struct oom_growth_facts *facts)
{
	size_t count = 0;

	for (size_t i = 0; i < facts->process_count; i++)
		count += facts->processes[i].need.growth.kind == GROWTH_STEADY;
	return count;
}

/* Add a sentence about the fastest-growing process. */
static void add_process_growth(const struct builder *b,
			       const struct oom_growth_facts *facts)
{
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	const struct process_trend *first = facts->processes;
	size_t growing = count_growing(facts), count = facts->process_count;
	char text[UNITS_TEXT_SIZE];

	if (count == 0) {
		conclusion_add(b->c, "No process was found.");
		return;
	}
	if (count > 1 && growing == 0) {
		conclusion_add(b->c, "None of the %zu processes is known to grow.",
			       count);
		return;
	}
	if (count > 1)
		conclusion_add(b->c, "%zu of %zu processes grow%s.", growing, count,
			       growing == 1 ? "s" : "");
	add_name(b, &words, first->process.comm);
	strbuf_addf(&words, " (%d)", first->process.pid);
	if (bytes_known(first->need.bytes))
		strbuf_addf(&words, " needs %s",
			    format_amount(b, first->need.bytes, text));
	add_growth(&words, &first->need.growth, facts->unit);
	conclusion_add(b->c, "%s%s.", words.text, growing > 1 ? ", the fastest" : "");
}

/* Suggest a command that shows what grows in the live cgroup. */
static void set_next_of_growth(const struct builder *b,
			       const struct oom_growth_facts *facts)
{
	const struct process_trend *first = facts->processes;
	const char *command;

	if (count_growing(facts) == 0) {
		set_next_live(b, "oom", facts->cgroup, "");
		return;
	}
	if (!b->options->live_options)
		return;
	command = process_trend_cause(first) == GROWTH_CAUSE_KEPT ? "heap" : "leaks";
	conclusion_set_next(b->c, "memstate %s%s -p %d", command,
			    b->options->live_options, first->process.pid);
}

void oom_conclude_growth(struct conclusion *c, const struct oom_growth_facts *facts,
			 const struct oom_conclusion_options *options)
{
	const struct builder b = { c, options };
	char more[32];

	if (facts->cgroup)
		add_group_growth(&b, facts);
	else
		add_process_growth(&b, facts);
	if (!facts->cgroup || facts->cgroup->pid_count == 0)
		return;
	if (options->recording) {
		set_next_recorded(&b, "oom explain --record");
	} else if (facts->need->growth.kind == GROWTH_TOO_SHORT ||
		   facts->need->growth.kind == GROWTH_BRIEF) {
		snprintf(more, sizeof(more), " -n %d", SAMPLES_NEXT);
		set_next_live(&b, "oom predict", facts->cgroup, more);
	} else if (facts->need->growth.kind == GROWTH_STEADY) {
		set_next_of_growth(&b, facts);
	}
}
