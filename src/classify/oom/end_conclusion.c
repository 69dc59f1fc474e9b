/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/oom/end_conclusion.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "classify/oom/verdict.h"

struct builder {
	struct conclusion *c;
	const struct oom_evidence *evidence;
	bool ascii;
};

static void add_name(const struct builder *b, struct strbuf *out, const char *name)
{
	text_add_printable(out, name, strlen(name), b->ascii);
}

void oom_time_add(struct strbuf *out, const struct oom_time *time)
{
	char utc[CLOCK_TEXT_SIZE];

	if (time->unix_ms != 0)
		strbuf_add_text(out, clock_format_utc(time->unix_ms, utc));
	else if (time->text[0] != '\0')
		text_add_printable(out, time->text, strlen(time->text), true);
	else if (time->boot_us != COUNT_UNKNOWN)
		strbuf_addf(out, "%" PRIu64 " s after boot", time->boot_us / 1000000);
}

/* Append " at TIME", or " no later than TIME" if the time is only an upper bound. */
static void add_time(const struct builder *b, struct strbuf *out)
{
	const struct oom_evidence *e = b->evidence;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct oom_time time = { .boot_us = COUNT_UNKNOWN };
	bool is_exact = e->kill != NULL;

	if (e->kill)
		time = e->kill->time;
	if (e->unix_ms != 0)
		time.unix_ms = e->unix_ms;
	oom_time_add(&text, &time);
	if (text.length == 0)
		return;
	if (!is_exact)
		strbuf_add_text(out, " no later than ");
	else
		strbuf_add_text(out, strstr(text.text, "after boot") ? ", " : " at ");
	strbuf_add_text(out, text.text);
}

/*
 * Append the killed process, such as "server (4242) of pod shop/web-0". Omit
 * unknown parts.
 */
static void add_victim(const struct builder *b, struct strbuf *out)
{
	const struct oom_evidence *e = b->evidence;
	const struct oom_place *place = &e->victim_place;

	add_name(b, out, e->victim.name);
	strbuf_addf(out, " (%d)", e->victim.pid);
	if (place->pod[0] != '\0') {
		strbuf_add_text(out, " of pod ");
		add_name(b, out, place->namespace_);
		strbuf_add_text(out, place->namespace_[0] != '\0' ? "/" : "");
		add_name(b, out, place->pod);
	} else if (place->container[0] != '\0' || place->id[0] != '\0') {
		strbuf_add_text(out, " of container ");
		add_name(b, out,
			 place->container[0] != '\0' ? place->container : place->id);
	}
}

/* Append the cgroup to which the limit belongs, such as "cgroup /x". */
static void add_owner(const struct builder *b, struct strbuf *out)
{
	if (b->evidence->limit_path[0] == '\0') {
		strbuf_add_text(out, "its cgroup");
		return;
	}
	strbuf_add_text(out, "cgroup ");
	add_name(b, out, b->evidence->limit_path);
}

/*
 * Append the limit of the recorded cgroup. Without a kernel report, memstate cannot be
 * sure that this limit was reached.
 */
static void add_recorded_limit(const struct builder *b, struct strbuf *out)
{
	const struct oom_evidence *e = b->evidence;
	uint64_t limit_bytes = e->last.limit_bytes;
	char text[UNITS_TEXT_SIZE];

	if (e->is_limit_above) {
		strbuf_add_text(out, "; the limit of a cgroup above its own was reached");
	} else if (bytes_known(limit_bytes) && limit_bytes != CGROUP_NO_LIMIT) {
		strbuf_add_text(out, "; ");
		add_owner(b, out);
		strbuf_addf(out, " has a limit of %s",
			    units_format_bytes(limit_bytes, text));
	}
}

/* Append which memory ran out, such as ": cgroup /x reached its limit of 64.0M". */
static void add_limit(const struct builder *b, struct strbuf *out)
{
	const struct oom_evidence *e = b->evidence;
	uint64_t limit_bytes = e->at.limit_bytes;
	char text[UNITS_TEXT_SIZE];

	if (!e->kill) {
		add_recorded_limit(b, out);
	} else if (e->kill->is_sysrq) {
		strbuf_add_text(out, " because SysRq f requested it");
	} else if (e->constraint == OOM_GLOBAL) {
		strbuf_add_text(out, ": the machine ran out of memory");
	} else if (e->constraint == OOM_NODES) {
		strbuf_add_text(out, ": the memory nodes that it may use ran out of "
				     "memory");
	} else if (e->constraint == OOM_CGROUP || e->limit_path[0] != '\0') {
		strbuf_add_text(out, ": ");
		add_owner(b, out);
		strbuf_add_text(out, " reached its limit");
		if (bytes_known(limit_bytes) && limit_bytes != CGROUP_NO_LIMIT)
			strbuf_addf(out, " of %s", units_format_bytes(limit_bytes, text));
	}
}

static void conclude_kill(const struct builder *b)
{
	const struct oom_evidence *e = b->evidence;
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;

	strbuf_add_text(&words, "The kernel killed ");
	if (e->victim.pid != 0)
		add_victim(b, &words);
	else
		strbuf_add_text(&words, "a process");
	if (e->kill && e->kill->is_group_killed)
		strbuf_addf(&words, " and the rest of its cgroup, %zu processes in all,",
			    e->kill->killed_count);
	add_time(b, &words);
	add_limit(b, &words);
	conclusion_add(b->c, "%s.", words.text);
}

static void conclude_exit(const struct builder *b)
{
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;

	if (b->evidence->victim.pid != 0)
		add_victim(b, &words);
	else
		strbuf_add_text(&words, "A process");
	strbuf_add_text(&words, " ended");
	add_time(b, &words);
	conclusion_add(b->c, "%s.", words.text);
}

static void conclude_no_end(const struct builder *b)
{
	const struct oom_evidence *e = b->evidence;
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	char need[UNITS_TEXT_SIZE], limit[UNITS_TEXT_SIZE];

	strbuf_add_text(&words, "No process");
	if (e->limit_path[0] != '\0') {
		strbuf_add_text(&words, " of cgroup ");
		add_name(b, &words, e->limit_path);
	}
	strbuf_add_text(&words, " was killed during the recording");
	if (bytes_known(e->last.need_bytes)) {
		strbuf_addf(&words, "; it needed %s",
			    units_format_bytes(e->last.need_bytes, need));
		if (bytes_known(e->last.limit_bytes) &&
		    e->last.limit_bytes != CGROUP_NO_LIMIT)
			strbuf_addf(&words, " of its limit of %s",
				    units_format_bytes(e->last.limit_bytes, limit));
		strbuf_add_text(&words, " at the end");
	}
	conclusion_add(b->c, "%s.", words.text);
}

/* Append the phrase as a separate sentence. */
static void add_sentence(const struct builder *b, const char *phrase)
{
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;

	add_name(b, &words, phrase);
	if (words.length == 0)
		return;
	words.text[0] = (char)toupper((unsigned char)words.text[0]);
	conclusion_add(b->c, "%s.", words.text);
}

static void add_verdict(const struct builder *b)
{
	const struct oom_evidence *e = b->evidence;
	enum oom_verdict verdict = oom_verdict_find(e);
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;

	switch ((int)verdict) {
	case OOM_WHY_SYSRQ: add_sentence(b, "memory may not have run out"); break;
	case OOM_WHY_NODE:
	case OOM_WHY_CPUSET:
		/*
		 * the first sentence states which memory ran out, so add only the figures
		 */
		(void)oom_verdict_holds(verdict, e, &why);
		add_sentence(b, strbuf_text(&why));
		break;
	case OOM_WHY_NOBODY:
		add_sentence(b, "nothing suggests that one is about to be killed");
		break;
	case OOM_WHY_UNKNOWN:
		add_sentence(b, e->end == OOM_END_GONE
					? "the recording does not show whether the "
					  "kernel killed it"
					: oom_verdicts[verdict].title);
		break;
	default: add_sentence(b, oom_verdicts[verdict].title); break;
	}
}

void oom_conclude_end(struct conclusion *c, const struct oom_evidence *e, bool ascii)
{
	const struct builder b = { c, e, ascii };

	switch (e->end) {
	case OOM_END_KILLED: conclude_kill(&b); break;
	case OOM_END_GONE: conclude_exit(&b); break;
	case OOM_END_NONE:
	case OOM_END_COUNT_: conclude_no_end(&b); break;
	}
	add_verdict(&b);
}

void oom_conclude_end_next(struct conclusion *c, const struct oom_evidence *e,
			   const char *recording)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	char time[CLOCK_TEXT_SIZE];

	if (!recording)
		return;
	text_add_shell_word(&path, recording);
	if (e->end == OOM_END_NONE)
		conclusion_set_next(c, "memstate oom predict --replay %s", path.text);
	else if (e->last_unix_ms != 0 && bytes_known(e->last.usage_bytes))
		conclusion_set_next(c, "memstate oom --replay %s --at %s", path.text,
				    clock_format_utc(e->last_unix_ms, time));
}
