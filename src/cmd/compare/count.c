/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/compare/count.h"

#include <unistd.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "cmd/run/count_child.h"
#include "cmd/run/variants.h"
#include "model/known_names.h"

static void set_unknown(struct count_sums *sums)
{
	sums->allocation_calls = sums->requested_bytes = sums->temporary_blocks =
		BYTES_UNKNOWN;
}

/*
 * Sum the counts of all processes of the run except wrappers such as a shell, which a
 * comparison excludes from all figures.
 */
static void sum_programs(const struct count_list *list, struct count_sums *ret)
{
	bool is_any = false;

	for (size_t i = 0; i < list->count; i++)
		if (!wrapper_name_is(list->programs[i].name) &&
		    !list->programs[i].has_other_malloc) {
			count_sums_add(ret, &list->programs[i].sums);
			is_any = true;
		}
	if (!is_any)
		set_unknown(ret);
}

static void read_counts(const struct comparison *c, size_t variant,
			struct count_folder *folder)
{
	struct count_list list = COUNT_LIST_INIT;
	struct count_sums *sums = &c->counts[variant];

	if (c->runs[c->run_count - 1].problem || count_folder_read(folder, &list) < 0)
		set_unknown(sums);
	else
		sum_programs(&list, sums);
	if (!bytes_known(sums->allocation_calls) && !c->runs[c->run_count - 1].problem)
		message("%s: no calls counted: the counting library could not be "
			"preloaded",
			c->variants[variant].name);
	count_list_release(&list);
}

static int count_one(struct compare_context *context, size_t variant)
{
	struct comparison *c = context->comparison;
	const struct count_what what = { .library = COUNT_LIBRARY_BLOCKS };
	struct count_folder folder = COUNT_FOLDER_INIT;
	char **plain = context->environments[variant], **counting;
	int r;

	if (count_child_prepare(&c->variants[variant], &what, &folder, &counting) !=
	    EXIT_DONE) {
		set_unknown(&c->counts[variant]);
		count_folder_release(&folder);
		return 0;
	}
	context->environments[variant] = counting;
	r = compare_run_one(context, variant, 1, RUN_COUNTS);
	context->environments[variant] = plain;
	environment_free(counting);
	if (r == 0)
		read_counts(c, variant, &folder);
	count_folder_release(&folder);
	return r;
}

int compare_count_all(struct compare_context *context)
{
	struct comparison *c = context->comparison;

	c->counts = xcalloc(c->variant_count, sizeof(*c->counts));
	for (size_t v = 0; v < c->variant_count; v++)
		set_unknown(&c->counts[v]);
	for (size_t v = 0; v < c->variant_count; v++) {
		int r;

		if (isatty(STDERR_FILENO))
			message("counting run %zu of %zu: %s", v + 1, c->variant_count,
				c->variants[v].name);
		c->counts[v] = (struct count_sums){ 0 };
		r = count_one(context, v);
		if (r < 0)
			return r;
		c->is_interrupted = signals_stop_count() > 0;
		if (c->is_interrupted)
			return 0;
	}
	return 0;
}
