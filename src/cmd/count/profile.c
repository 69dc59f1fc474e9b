/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/count/profile.h"

#include <inttypes.h>

#include "base/clock.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/count/options.h"
#include "cmd/count/show.h"
#include "probe/count/stacks.h"
#include "sample/recording/profile_reader.h"
#include "store/profile/file.h"

int count_profile_check_usage(const struct options *o)
{
	const struct count_options *count = count_options(o);
	bool has_stacks = count_records_stacks(o);
	bool has_rows = o->format == FORMAT_CSV || o->format == FORMAT_JSON;
	const char *problem = NULL;

	if (count->replay && (has_stacks || count->calls_only || o->preload))
		problem = "--replay shows a file unchanged: only options that select "
			  "what to show are accepted";
	else if (has_stacks && !o->command && targets_are_all(&o->targets))
		problem = "stacks can be recorded for a command, after --, or for a "
			  "process (-p)";
	else if (count->live && !o->command)
		problem = "--live requires a command: allocations that a running process "
			  "made earlier are unknown";
	else if (has_stacks && (o->has_run_count || o->warm_up_count > 0 || count->check))
		problem = "--runs and --check cannot be combined with stacks";
	else if (has_stacks && count->calls_only)
		problem = "--calls-only and stacks are mutually exclusive";
	else if (has_stacks && o->has_interval && has_rows)
		problem = "-i cannot be combined with stacks: they are shown once, at "
			  "the end";
	else if (count->record && !has_stacks && !count->replay)
		problem = "--record saves stacks: it requires --stacks, --sample or "
			  "--live";
	if (problem)
		message_usage("count", "%s", problem);
	return problem ? EXIT_BAD_USAGE : EXIT_DONE;
}

void count_profile_add_mode(const struct options *o, struct strbuf *out)
{
	if (count_options(o)->live)
		strbuf_add_text(out, "live");
	if (count_options(o)->sample_bytes > 0)
		strbuf_addf(out, "%ssample=%" PRIu64, out->length > 0 ? "," : "",
			    count_options(o)->sample_bytes);
}

static int save_and_show(const struct options *o, const struct profile *profile)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	int status = count_show_profile(o, profile);

	if (!count_options(o)->record ||
	    profile_save(count_options(o)->record, profile, &why) == 0)
		return status;
	message("%s: %s", count_options(o)->record, strbuf_text(&why));
	return EXIT_FAILED;
}

/*
 * Move the stacks of the selected program to the front of the list. Return the number of
 * items to show.
 */
static size_t choose(struct stacks_list *list, const struct count_program *only)
{
	for (size_t i = 0; only && i < list->count; i++)
		if (list->items[i].pid == only->pid &&
		    list->items[i].generation == only->generation) {
			struct stacks chosen = list->items[i];

			list->items[i] = list->items[0];
			list->items[0] = chosen;
			return 1;
		}
	return only ? 0 : list->count;
}

static bool has_allocations(const struct count_profile_origin *origin)
{
	for (size_t i = 0; i < origin->list->count; i++) {
		const struct count_program *program = &origin->list->programs[i];

		if ((!origin->only || origin->only == program) &&
		    program->sums.allocation_calls > 0)
			return true;
	}
	return false;
}

static unsigned int known_of(const struct options *o)
{
	unsigned int known = 1U << PROFILE_ALLOCATIONS | 1U << PROFILE_BYTES;

	if (o->command)
		known |= 1U << PROFILE_TEMPORARY;
	if (count_options(o)->live)
		known |= 1U << PROFILE_LIVE_BLOCKS | 1U << PROFILE_LIVE |
			 1U << PROFILE_PEAK;
	return known;
}

static void set_origin(struct profile *profile, const struct count_profile_origin *origin)
{
	_cleanup_strbuf_ struct strbuf command = STRBUF_INIT;

	for (char **word = origin->command; *word; word++)
		strbuf_addf(&command, "%s%s", word == origin->command ? "" : " ", *word);
	profile->command = profile_string(profile, strbuf_text(&command));
	profile->unix_ms = clock_unix_ms();
	profile->elapsed_ns = origin->elapsed_ns;
}

static void report_missing(const struct profile *profile, size_t unreadable,
			   const struct count_folder *folder)
{
	if (unreadable > 0)
		message("the stacks of %zu %s are missing: %s", unreadable,
			unreadable == 1 ? "program" : "programs",
			folder ? count_folder_problem(folder) : "they cannot be read");
	if (profile->lost_count > 0)
		message("%" PRIu64
			" allocations have no stack: the space for stacks was full",
			profile->lost_count);
}

/* Show a profile of the first `count` items of the list. */
static int show_stacks(const struct options *o, const struct stacks_list *list,
		       size_t count, const struct count_profile_origin *origin)
{
	struct profile profile;
	int status;

	profile_reader_read(list->items, count, &profile);
	/* if the program allocated nothing, the metrics are known to be 0 */
	profile.known |= known_of(o);
	set_origin(&profile, origin);
	report_missing(&profile, list->unreadable_count, origin->folder);
	status = save_and_show(o, &profile);
	profile_release(&profile);
	return status;
}

int count_profile_show(const struct options *o, const struct count_profile_origin *origin)
{
	struct stacks_list list = STACKS_LIST_INIT;
	int r = stacks_folder_read(origin->folder, &list);
	size_t count = r < 0 ? 0 : choose(&list, origin->only);
	int status;

	if (r < 0) {
		message_error(origin->folder->path, r);
		return EXIT_FAILED;
	}
	if (count == 0 && has_allocations(origin)) {
		message("%s: no stacks were recorded in %s: %s", origin->command[0],
			origin->folder->path, count_folder_problem(origin->folder));
		stacks_list_release(&list);
		return EXIT_FAILED;
	}
	status = show_stacks(o, &list, count, origin);
	stacks_list_release(&list);
	return status;
}

int count_profile_show_attached(const struct options *o, struct stacks *stacks,
				size_t count, const struct count_profile_origin *origin)
{
	const struct stacks_list list = { .items = stacks, .count = count };

	return show_stacks(o, &list, count, origin);
}

int count_profile_replay(const struct options *o)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	struct profile profile;
	int status;

	if (profile_load(count_options(o)->replay, o->stacks.metric, &profile, &why) <
	    0) {
		message("%s: %s", count_options(o)->replay, strbuf_text(&why));
		return EXIT_FAILED;
	}
	status = save_and_show(o, &profile);
	profile_release(&profile);
	return status;
}
