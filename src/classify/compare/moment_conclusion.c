/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/compare/moment_conclusion.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"

/*
 * Return the row with the largest growth in one part of the comparison, or NULL if no
 * row grew.
 */
static const struct moment_change *find_grown(const struct moment_diff *diff,
					      enum moment_part part)
{
	const struct moment_change *grown = NULL;

	for (size_t i = 0; i < diff->count; i++) {
		const struct moment_change *change = &diff->items[i];

		if (change->part == part && moment_change_bytes(change) > 0 &&
		    (!grown || moment_change_bytes(change) > moment_change_bytes(grown)))
			grown = change;
	}
	return grown;
}

/* Append the reason why the change in Rss is unknown. */
static void add_missing(struct conclusion *c, const struct moment_diff *diff,
			const struct moment_change *rss)
{
	bool exists_before = false, exists_after = false;
	bool lacks_before = !bytes_known(rss->before);
	bool lacks_after = !bytes_known(rss->after);

	for (size_t i = 0; i < diff->count; i++) {
		exists_before |= diff->items[i].before_process != NULL;
		exists_after |= diff->items[i].after_process != NULL;
	}
	conclusion_add(c, "The change in Rss is unknown, because %s at %s.",
		       (lacks_before && exists_before) || (lacks_after && exists_after)
			       ? "Rss is unknown"
			       : "there was no process",
		       lacks_before && lacks_after ? "either moment"
		       : lacks_before		   ? "the first moment"
						   : "the second moment");
}

static void add_rss(struct conclusion *c, const struct moment_diff *diff)
{
	char before[UNITS_TEXT_SIZE], after[UNITS_TEXT_SIZE], change[UNITS_TEXT_SIZE];

	for (size_t i = 0; i < diff->count; i++) {
		const struct moment_change *rss = &diff->items[i];

		if (rss->part != PART_TOTAL || strcmp(rss->name, "rss") != 0)
			continue;
		if (!bytes_known(rss->before) || !bytes_known(rss->after)) {
			add_missing(c, diff, rss);
			return;
		}
		conclusion_add(
			c, "Rss %s before, %s after (%s).",
			units_format_bytes(rss->before, before),
			units_format_bytes(rss->after, after),
			rss->before == rss->after
				? "unchanged"
				: units_format_change(moment_change_bytes(rss), change));
	}
}

void moment_conclude(struct conclusion *c, const struct moment_diff *diff,
		     const struct next_place *after)
{
	const struct moment_change *owner = find_grown(diff, PART_OWNER);
	const struct moment_change *process = find_grown(diff, PART_PROCESS);
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	char text[UNITS_TEXT_SIZE];

	add_rss(c, diff);
	if (owner)
		conclusion_add(c, "Owner with the largest growth: %s (%s).", owner->name,
			       units_format_change(moment_change_bytes(owner), text));
	if (process && process->after_process) {
		const struct process *p = process->after_process;

		text_add_printable(&name, p->comm, strlen(p->comm), false);
		conclusion_add(c, "Process with the largest growth: %s (%d, %s).",
			       strbuf_text(&name), p->pid,
			       units_format_change(moment_change_bytes(process), text));
		conclusion_set_next(c, "memstate%s -p %d", after->options, p->pid);
	}
}
