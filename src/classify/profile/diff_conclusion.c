/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/diff_conclusion.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"

struct amount {
	char text[UNITS_TEXT_SIZE];
};

static struct amount amount(enum profile_metric metric, uint64_t number)
{
	struct amount a;

	if (profile_metrics[metric].is_bytes)
		units_format_bytes(number, a.text);
	else
		snprintf(a.text, sizeof(a.text), "%" PRIu64, number);
	return a;
}

static void add_totals(struct conclusion *c, const struct profile_diff_sum *total,
		       enum profile_metric metric)
{
	const char *what = profile_metrics[metric].what;
	bool has_grown = total->after > total->before;
	uint64_t change = has_grown ? total->after - total->before
				    : total->before - total->after;

	if (change == 0) {
		conclusion_add(c, "%c%s: %s before and after.", toupper(what[0]),
			       what + 1, amount(metric, total->before).text);
		return;
	}
	conclusion_add(c, "%c%s: %s before, %s after (%c%s", toupper(what[0]), what + 1,
		       amount(metric, total->before).text,
		       amount(metric, total->after).text, has_grown ? '+' : '-',
		       amount(metric, change).text);
	if (total->before > 0)
		strbuf_addf(
			&c->text, ", %c%" PRIu64 "%%", has_grown ? '+' : '-',
			(uint64_t)((double)change * 100 / (double)total->before + 0.5));
	strbuf_add_text(&c->text, ").");
}

void diff_conclude(struct conclusion *c, const struct profile_diff *diff,
		   enum profile_metric metric, const char *after_file)
{
	const struct profile_diff_stack *grown = &diff->most_grown;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char **names;
	size_t count;

	add_totals(c, &diff->total, metric);
	if (grown->after <= grown->before) {
		conclusion_add(c, "No stack has grown.");
		return;
	}
	count = profile_diff_functions(diff, grown, &names);
	if (count > 0)
		text_add_printable(&text, names[0], strlen(names[0]), false);
	free(names);
	conclusion_add(c, "The stack that grew most is in %s: +%s.",
		       count > 0 ? strbuf_text(&text) : "an unknown function",
		       amount(metric, grown->after - grown->before).text);
	strbuf_clear(&text);
	text_add_shell_word(&text, after_file);
	conclusion_set_next(c, "memstate count --replay %s", text.text);
}
