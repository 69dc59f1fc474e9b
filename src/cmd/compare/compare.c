/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/compare/compare.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/compare/count.h"
#include "cmd/compare/run.h"
#include "cmd/compare/show.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "cmd/run/job.h"
#include "cmd/run/run_files.h"
#include "cmd/run/variants.h"
#include "cmd/session/heaps.h"
#include "cmd/session/session.h"
#include "probe/helper/agent_library.h"

/*
 * Maximum time in ns that a sample waits for a heap walk. The limit is fixed, because a
 * comparison has no fixed sampling interval. A longer wait could hide the peak.
 */
#define PATIENCE_NS (50 * NS_PER_MS)

/* Signals that --stop-signal accepts by name. Each of them can end a program. */
static const struct {
	const char *name;
	int number;
} signal_names[] = {
	{ "HUP", SIGHUP },   { "INT", SIGINT },	  { "QUIT", SIGQUIT },
	{ "KILL", SIGKILL }, { "USR1", SIGUSR1 }, { "USR2", SIGUSR2 },
	{ "TERM", SIGTERM }, { "ALRM", SIGALRM },
};

int compare_set_stop_signal(const struct option_row *row, char *arg, struct options *o)
{
	int *ret = &((struct compare_options *)o)->stop_signal;
	uint64_t number;

	(void)row;
	if (num_parse_u64(arg, &number) == 0) {
		if (number == 0 || number > (uint64_t)SIGRTMAX)
			return -EINVAL;
		*ret = (int)number;
		return 0;
	}
	if (strncmp(arg, "SIG", 3) == 0)
		arg += 3;
	for (size_t i = 0; i < sizeof(signal_names) / sizeof(signal_names[0]); i++)
		if (strcmp(signal_names[i].name, arg) == 0) {
			*ret = signal_names[i].number;
			return 0;
		}
	return -EINVAL;
}

bool compare_is_wanted(const struct options *o)
{
	return o->preload && strchr(o->preload, ',');
}

static int check_combination(const struct options *o)
{
	const char *wrong = NULL;

	if (!targets_are_all(&o->targets))
		wrong = "-p";
	else if (o->targets.with_children)
		/* a comparison always includes the descendants of the command */
		wrong = "-t";
	else if (o->sample_count > 0)
		wrong = "-n";
	else if (o->sort)
		wrong = "-s";
	else if (strcmp(o->procfs_root, "/proc") != 0)
		wrong = "--procfs";
	if (wrong) {
		message_usage(NULL,
			      "%s cannot be combined with a comparison (--preload with "
			      "several allocators)",
			      wrong);
		return EXIT_BAD_USAGE;
	}
	return EXIT_DONE;
}

/*
 * Join the arguments with spaces, for display. Arguments that contain spaces are not
 * quoted.
 */
static char *join_words(char *const *words)
{
	struct strbuf joined = STRBUF_INIT;

	for (size_t i = 0; words[i]; i++)
		strbuf_addf(&joined, "%s%s", i > 0 ? " " : "", words[i]);
	return strbuf_take(&joined);
}

/* Initialise *c, and transfer ownership of the items of *variants to it. */
static void begin(struct comparison *c, const struct options *o,
		  const struct variants *variants)
{
	const struct compare_options *own = compare_options(o);

	*c = (struct comparison){
		.command = join_words(o->command),
		.workload = own->workload ? xstrdup(own->workload) : NULL,
		.runs_each = (unsigned int)o->run_count,
		.settle_ns = own->workload ? own->settle_ns : 0,
		.above_bytes = own->above_bytes,
		.variants = variants->items,
		.variant_count = variants->count,
	};
}

static void report_progress(const struct comparison *c, size_t round, size_t round_count,
			    size_t variant)
{
	if (isatty(STDERR_FILENO))
		message("run %zu of %zu: %s", round * c->variant_count + variant + 1,
			round_count * c->variant_count, c->variants[variant].name);
}

/*
 * Make all runs. Variants A, B and C run in the order A B C A B C, so that other load on
 * the machine affects all variants alike. Return 0 or -errno.
 */
static int run_all(const struct compare_context *context)
{
	const struct options *o = context->options;
	struct comparison *c = context->comparison;
	size_t round_count = o->warm_up_count + o->run_count;

	for (size_t round = 0; round < round_count; round++)
		for (size_t v = 0; v < c->variant_count; v++) {
			bool is_warm_up = round < o->warm_up_count;
			size_t number = is_warm_up ? round + 1
						   : round + 1 - o->warm_up_count;
			int r;

			report_progress(c, round, round_count, v);
			r = compare_run_one(context, v, (unsigned int)number,
					    is_warm_up ? RUN_WARMS_UP : RUN_MEASURES);
			if (r < 0)
				return r;
			c->is_interrupted = signals_stop_count() > 0;
			if (c->is_interrupted)
				return 0;
		}
	return 0;
}

static int status_of(const struct comparison *c)
{
	size_t good_count = 0, failed_count = 0;

	for (size_t i = 0; i < c->run_count; i++)
		if (c->runs[i].problem)
			failed_count++;
		else if (!c->runs[i].is_warm_up && !c->runs[i].is_counting)
			good_count++;
	if (good_count == 0)
		return EXIT_FAILED;
	return failed_count > 0 || c->is_interrupted ? EXIT_PARTIAL : EXIT_DONE;
}

/*
 * Return the path of the helper library. Return NULL if the user did not request a
 * helper, or if the library was not found.
 */
static char *find_helper(const struct options *o)
{
	char *library = NULL;
	int r;

	if (o->heap != HEAP_HELPER)
		return NULL;
	r = agent_library_find(&library);
	if (r == 0)
		return library;
	message_error(library ? library : "libmemstate-agent.so", r);
	free(library);
	return NULL;
}

static void make_environments(struct compare_context *context, const char *helper)
{
	const struct comparison *c = context->comparison;

	context->environments = xcalloc(c->variant_count, sizeof(*context->environments));
	for (size_t i = 0; i < c->variant_count; i++) {
		char **plain = variant_environment(&c->variants[i], environ);

		context->environments[i] = plain;
		if (!helper)
			continue;
		context->environments[i] = agent_environment(plain, helper, context->fs);
		environment_free(plain);
	}
}

static void begin_heaps(struct session *session)
{
	heaps_begin(session);
	if (session->heaps)
		heaps_set_patience(session, PATIENCE_NS);
}

static int compare(struct session *session, const struct compare_show *show,
		   struct comparison *c)
{
	struct compare_context context = {
		.options = session->options,
		.comparison = c,
		.fs = &session->fs,
	};
	_cleanup_free_ char *helper = find_helper(session->options);
	int status, r;

	signals_begin();
	r = job_begin_all();
	if (r < 0) {
		message_error("prctl", r);
		return EXIT_FAILED;
	}
	begin_heaps(session);
	make_environments(&context, helper);
	context.sampler =
		run_sampler_new(&session->fs, session->sampler, session->heaps, getpid());
	r = run_all(&context);
	if (r == 0 && compare_options(session->options)->count && !c->is_interrupted)
		r = compare_count_all(&context);
	run_sampler_free(context.sampler);
	for (size_t i = 0; i < c->variant_count; i++)
		environment_free(context.environments[i]);
	free(context.environments);
	if (r < 0)
		return EXIT_FAILED;
	status = status_of(c);
	if (status == EXIT_FAILED) {
		message("no run completed: there is nothing to compare");
		return status;
	}
	return compare_show(show, c, status);
}

int compare_run(struct options *o)
{
	struct comparison comparison;
	struct variants variants;
	struct compare_show show;
	struct session session;
	const char *output_dir = compare_options(o)->output_dir;
	int status = check_combination(o);

	if (status == EXIT_DONE)
		status = compare_show_begin(&show, o);
	if (status != EXIT_DONE)
		return status;
	status = variants_prepare(o->preload, o->command[0], &variants);
	if (status != EXIT_DONE) {
		compare_show_end(&show);
		return status;
	}
	begin(&comparison, o, &variants);
	if (output_dir && run_files_make_folder(output_dir) < 0)
		status = EXIT_FAILED;
	if (status == EXIT_DONE)
		status = session_begin(&session, o);
	if (status == EXIT_DONE) {
		status = compare(&session, &show, &comparison);
		session_end(&session);
	}
	comparison_release(&comparison);
	compare_show_end(&show);
	return status;
}
