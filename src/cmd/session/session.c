/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/session/session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/similar.h"
#include "base/xalloc.h"
#include "cmd/core/message.h"
#include "cmd/core/rights.h"
#include "cmd/core/signals.h"
#include "cmd/run/variants.h"
#include "cmd/session/absent.h"
#include "cmd/session/recordings.h"
#include "probe/helper/agent_library.h"

int session_begin(struct session *session, struct options *options)
{
	int r;

	memset(session, 0, sizeof(*session));
	session->options = options;
	session->fs = (struct procfs)PROCFS_INIT;
	r = procfs_open(&session->fs, options->procfs_root);
	if (r < 0) {
		message_error(options->procfs_root, r);
		if (r == -ENOTDIR)
			message("hint: --procfs requires a directory; extract the .tar "
				"file first");
		return EXIT_FAILED;
	}
	if (!session->fs.is_live && strcmp(options->procfs_root, "/proc") == 0) {
		message(session->fs.is_foreign
				? "/proc is not mounted"
				: "/proc belongs to another PID namespace; mount proc in this one");
		procfs_release(&session->fs);
		return EXIT_FAILED;
	}
	session->sampler = sampler_new(&session->fs, session->fs.is_live);
	if (!options->recording.replay)
		return EXIT_DONE;
	r = recordings_open(options, &session->replay, &session->replay_index);
	if (r != EXIT_DONE)
		session_end(session);
	return r;
}

void session_report_left(void *context, int pid, const char *what)
{
	(void)context;
	message("%d: the helper could not be removed (%s); it exits after one idle "
		"minute",
		pid, what);
}

void session_end_reading(struct session *session)
{
	heap_keeper_free(session->heaps, session_report_left, NULL);
	session->heaps = NULL;
}

void session_end(struct session *session)
{
	session_end_reading(session);
	replay_close(session->replay);
	recorder_close(session->recorder);
	sampler_free(session->sampler);
	procfs_release(&session->fs);
}

static int prepare_environment(const struct options *o, char ***ret)
{
	struct variants variants;
	int status = variants_prepare(o->preload, o->command[0], &variants);

	if (status != EXIT_DONE)
		return status;
	*ret = variant_environment(&variants.items[0], environ);
	variants_release(&variants);
	return EXIT_DONE;
}

/*
 * Add the helper to the command's environment. If the helper is not available, print a
 * message; memstate then only walks the heap from outside.
 */
static void add_helper(const struct session *session, char ***environment)
{
	char *const *before = *environment ? *environment : environ;
	char **with_helper;
	char *library;
	int r = agent_library_find(&library);

	if (r < 0) {
		message("cannot preload the helper into the command: %s: %s",
			library ? library : "libmemstate-agent.so",
			r == -EOPNOTSUPP ? "this memstate was built without it"
			: r == -EINVAL	 ? "the path contains ':' or a space"
					 : strerror(-r));
		free(library);
		return;
	}
	with_helper = agent_environment(before, library, &session->fs);
	environment_free(*environment);
	*environment = with_helper;
	free(library);
}

int session_start_command(struct session *session, const struct child_setup *setup)
{
	struct options *o = session->options;
	struct child_setup own = *setup;
	char **environment = NULL;
	int r;

	if (!o->command)
		return EXIT_DONE;
	if (!targets_are_all(&o->targets)) {
		message_usage(NULL, "a command and -p are mutually exclusive");
		return EXIT_BAD_USAGE;
	}
	if (!session->fs.is_live) {
		message_usage(NULL, "a command and --procfs are mutually exclusive");
		return EXIT_BAD_USAGE;
	}
	if (o->preload) {
		int status = prepare_environment(o, &environment);

		if (status != EXIT_DONE)
			return status;
	}
	if (o->heap == HEAP_HELPER)
		add_helper(session, &environment);
	own.environment = environment;
	r = child_start(&session->child, o->command, &own);
	environment_free(environment);
	if (r < 0) {
		message_error(o->command[0], r);
		return EXIT_FAILED;
	}
	o->targets.pids = xcalloc(1, sizeof(*o->targets.pids));
	o->targets.pids[0].pid = session->child.pid;
	o->targets.pid_count = 1;
	return EXIT_DONE;
}

static void report_unknown_column(const char *verb, char option,
				  const struct column_set *set, const char *name)
{
	_cleanup_strbuf_ struct strbuf hint = STRBUF_INIT, names = STRBUF_INIT;
	struct similar similar = { .word = name };
	const char *unit = strrchr(name, '_');
	/* a column whose name differs only in the unit, such as rss_bytes for rss_kib */
	const struct column *meant = unit ? column_find(set, name, (size_t)(unit - name))
					  : NULL;

	column_add_short_names(set, &names);
	for (size_t at = 0; !meant && at < names.length;
	     at += strlen(names.text + at) + 1)
		similar_add(&similar, names.text + at);
	if (meant)
		similar = (struct similar){ .names = { meant->name }, .count = 1 };
	similar_add_hint(&similar, "", &hint);
	message_usage(verb, "-%c: unknown column '%s'%s", option, name,
		      similar.count > 0 ? strbuf_text(&hint)
					: " (--list-columns lists the available ones)");
}

int session_columns(const struct options *o, const struct column_set *set,
		    const char *defaults, struct column_list *ret)
{
	char *bad = NULL;

	if (o->output_all) {
		column_list_all(set, ret);
		return EXIT_DONE;
	}
	if (column_list_parse(set, defaults, o->output ? o->output : defaults, ret,
			      &bad) == 0)
		return EXIT_DONE;
	report_unknown_column(o->verb, 'o', set, bad);
	free(bad);
	return EXIT_BAD_USAGE;
}

int session_sort_key(const struct options *o, const struct column_set *set,
		     const char *sort_default, struct sort_key *ret, bool *ret_has_key)
{
	const char *spec = o->sort ? o->sort : sort_default;

	*ret_has_key = spec != NULL;
	if (!spec || sort_key_parse(set, spec, ret) == 0)
		return EXIT_DONE;
	report_unknown_column(o->verb, 's', set, spec + (spec[0] == '-'));
	return EXIT_BAD_USAGE;
}

static void report_unreadable(const struct session *session, const struct usage *u)
{
	if (rights_has_ended(&session->fs, &u->process, u->error)) {
		message("%d: the process has ended", u->process.pid);
		return;
	}
	message_process_error(u->process.pid, u->error);
	/* reading a heap requires more than the permission to read smaps */
	if (u->error == -EACCES || u->error == -EPERM)
		rights_report(&session->fs, u->process.pid,
			      session->options->reads_heap ||
				      session->options->heap == HEAP_WALK ||
				      session->options->heap == HEAP_HELPER);
}

/*
 * One message reports all processes that memstate lacks the permission to read. Other
 * errors are reported for each process.
 */
void missing_add(struct missing *missing, const struct session *session,
		 const struct usage *u)
{
	missing->process_count++;
	if (!u->error)
		return;
	missing->unreadable_count++;
	if ((targets_are_all(&session->options->targets) ||
	     session->options->targets.group) &&
	    (u->error == -EACCES || u->error == -EPERM))
		missing->denied_count++;
	else
		report_unreadable(session, u);
}

int missing_report(const struct missing *missing, const struct session *session)
{
	if (missing->process_count == 0 && session->replay &&
	    missing->absent_count == 0) {
		message("%s: no process was recorded at or before that time",
			session->options->recording.replay);
		return EXIT_FAILED;
	}
	if (missing->process_count == 0 && targets_are_all(&session->options->targets)) {
		message("%s: not a mounted proc file system or a capture (no "
			"process found)",
			session->options->procfs_root);
		return EXIT_FAILED;
	}
	if (missing->process_count == 0 && session->options->targets.group) {
		message("%s: no process in this cgroup ('memstate oom' shows what is "
			"charged to it)",
			session->options->cgroup);
		return EXIT_FAILED;
	}
	if (missing->denied_count > 0)
		message("%zu of %zu processes could not be read%s", missing->denied_count,
			missing->process_count,
			geteuid() == 0 ? ": 'memstate doctor' explains why"
				       : ": only root may read them all");
	if (missing->absent_count + missing->unreadable_count == 0)
		return EXIT_DONE;
	return missing->process_count > missing->unreadable_count ? EXIT_PARTIAL
								  : EXIT_FAILED;
}

int session_list(const struct session *session, unsigned int needs, struct snapshot *ret)
{
	struct options *o = session->options;
	int r = sampler_list(session->sampler, &o->targets, needs, ret);

	if (r < 0)
		message_error(o->procfs_root, r);
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

int session_report_missing(const struct session *session, const struct snapshot *snapshot)
{
	struct missing missing = {
		.absent_count = absent_report(session, snapshot),
	};

	for (size_t i = 0; i < snapshot->count; i++)
		missing_add(&missing, session, &snapshot->usages[i]);
	return missing_report(&missing, session);
}
