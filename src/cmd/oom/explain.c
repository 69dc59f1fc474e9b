/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "classify/oom/end_conclusion.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/stream.h"
#include "cmd/core/terminal.h"
#include "cmd/session/recordings.h"
#include "proc/kmsg/log.h"
#include "render/oom/explain.h"
#include "render/oom/page.h"
#include "render/oom/summary.h"
#include "render/table/conclusion.h"
#include "sample/oom/ends.h"

struct kill_options {
	struct options common;
	/* name of a file with a kernel log; "-": standard input; NULL: none */
	const char *kmsg;
	const char *record; /* name of a recording, or NULL */
};

static const struct kill_options *own_options(const struct options *o)
{
	return (const struct kill_options *)o;
}

/* Return the name of the kernel log, for the report. */
static const char *log_name(const struct options *o)
{
	return own_options(o)->kmsg ? own_options(o)->kmsg : KMSG_DEVICE;
}

/* Read the kills from a log: a file, standard input, or the kernel's own log. */
static int read_log(const char *path, struct oom_kill_list *ret)
{
	_cleanup_close_ int fd = -1;

	if (strcmp(path, KMSG_DEVICE) == 0)
		return kmsg_log_read_device(ret);
	if (strcmp(path, "-") == 0)
		return kmsg_log_read(STDIN_FILENO, ret);
	fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : kmsg_log_read(fd, ret);
}

/*
 * Return true if `path` is the path of the cgroup `group` or of one of its descendants.
 */
static bool is_within(const char *path, const char *group)
{
	size_t length = strlen(group);

	while (length > 0 && group[length - 1] == '/')
		length--;
	return strncmp(path, group, length) == 0 &&
	       (path[length] == '\0' || path[length] == '/');
}

/* Return true if the kill matches --cgroup. Without --cgroup, every kill matches. */
static bool is_below_cgroup(const struct options *o, const char *limit_path,
			    const char *victim_path)
{
	return !o->cgroup || is_within(limit_path, o->cgroup) ||
	       is_within(victim_path, o->cgroup) || strstr(victim_path, o->cgroup);
}

/*
 * Return true if the report of the kill does not name a cgroup. The kernel
 * rate-limits its reports: a report beyond the limit names only the process, which
 * may belong to any cgroup.
 */
static bool is_pathless(const struct oom_kill *k)
{
	return k->limit_path[0] == '\0' && k->victim_path[0] == '\0' &&
	       k->stats_path[0] == '\0';
}

static bool matches_cgroup(const struct options *o, const struct oom_kill *k)
{
	return is_below_cgroup(o, k->limit_path, k->victim_path) ||
	       is_below_cgroup(o, k->stats_path, k->stats_path) ||
	       (strlen(o->cgroup) >= 12 && strstr(k->cpuset, o->cgroup));
}

static int check_usage(const struct options *o)
{
	const char *record = own_options(o)->record;
	const char *problem = NULL;

	if (options_find_given(o, "record") && options_find_given(o, "replay"))
		problem = "--record and --replay are mutually exclusive";
	else if (!record && !targets_are_all(&o->targets))
		problem = "-p requires --record; use --cgroup to select kills in a log";
	else if (o->html && (record || o->format != FORMAT_AUTO))
		problem = "--html writes the kills in a log; it cannot be combined with "
			  "--record, --text or --json";
	if (!problem)
		return EXIT_DONE;
	message_usage(o->verb, "%s", problem);
	return EXIT_BAD_USAGE;
}

/*
 * Read the kills from the log, and print a message if the log is incomplete. Return
 * EXIT_DONE, or print a message and return another exit status.
 */
static int read_kills(const struct options *o, struct oom_kill_list *ret)
{
	const char *name = log_name(o);
	int r = read_log(name, ret);

	if (r < 0) {
		message_error(name, r);
		if (!own_options(o)->kmsg)
			message("hint: reading the kernel log requires root on this "
				"machine; use --kmsg FILE with a syslog file or the "
				"output of dmesg or journalctl -k (--kmsg - reads "
				"standard input)");
		return EXIT_FAILED;
	}
	if (ret->cut_line_count > 0)
		message("%s: %zu line%s", name, ret->cut_line_count,
			ret->cut_line_count == 1
				? " is too long; its end was ignored"
				: "s are too long; their ends were ignored");
	if (ret->left_out_count > 0)
		message("%s: %zu more kill%s omitted", name, ret->left_out_count,
			ret->left_out_count == 1 ? " was" : "s were");
	if (ret->unkillable_count > 0)
		message("%s: memory ran out %zu time%s, and the kernel found no process "
			"to kill",
			name, ret->unkillable_count,
			ret->unkillable_count == 1 ? "" : "s");
	return EXIT_DONE;
}

static void add_evidence(struct strbuf *out, const struct options *o,
			 const struct oom_evidence *evidence, const char *summary)
{
	struct oom_explain_options options = {
		.top = o->top ? (size_t)o->top : OPTIONS_TEXT_TOP,
	};

	if (o->format == FORMAT_JSON) {
		oom_explain_add_json(out, evidence, summary);
		return;
	}
	if (out->length > 0)
		strbuf_add_char(out, '\n');
	terminal_fit(&options.table);
	oom_explain_add_text(out, evidence, &options);
}

static void report_none(const struct options *o)
{
	message("%s: no OOM kill%s found in this log", log_name(o),
		o->cgroup ? " for that cgroup" : "");
}

static int write_page(const struct options *o, const struct oom_kill *const *kills,
		      size_t count)
{
	const struct oom_explain_options options = {
		.top = o->top ? (size_t)o->top : OPTIONS_TEXT_TOP,
	};
	_cleanup_strbuf_ struct strbuf page = STRBUF_INIT;
	int r;

	oom_page_add(&page, log_name(o), kills, count, &options);
	r = io_write_file_atomic(o->html, page.text, page.length, 0666);
	if (r < 0)
		message_error(o->html, r);
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

/*
 * Append the report on the given kills, which are a selection from `list`. In JSON, the
 * summary is part of the first kill's object.
 */
static void add_kills(const struct options *o, const struct oom_kill_list *list,
		      const struct oom_kill *const *kills, size_t count,
		      struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf summary = STRBUF_INIT;
	struct oom_explain_options options = {
		.top = o->top ? (size_t)o->top : OPTIONS_TEXT_TOP,
	};

	terminal_fit(&options.table);
	if (count >= OOM_SUMMARY_MIN && o->format == FORMAT_JSON)
		oom_summary_add_json(&summary, list, kills, count);
	else if (count >= OOM_SUMMARY_MIN)
		oom_summary_add_text(out, kills, count, &options);
	for (size_t i = 0; i < count; i++) {
		struct oom_evidence evidence;

		oom_evidence_init(&evidence);
		oom_evidence_set_kill(&evidence, kills[i]);
		add_evidence(out, o, &evidence,
			     i == 0 && summary.length > 0 ? summary.text : NULL);
	}
}

/* Explain each kill in the log. */
static int explain_log(const struct options *o, const struct oom_kill_list *list,
		       struct strbuf *out)
{
	_cleanup_free_ const struct oom_kill **kills =
		xcalloc(list->count + 1, sizeof(*kills));
	size_t count = 0, pathless = 0;
	int status = EXIT_DONE;

	for (size_t i = 0; i < list->count; i++) {
		const struct oom_kill *kill = &list->items[i];
		bool is_unsure = o->cgroup && is_pathless(kill) &&
				 !matches_cgroup(o, kill);

		if (!o->cgroup || is_unsure || matches_cgroup(o, kill))
			kills[count++] = kill;
		pathless += is_unsure;
	}
	if (pathless == count)
		report_none(o);
	if (pathless > 0)
		message("the log does not name the cgroup for %zu of these kills, "
			"probably because the kernel limits the rate of its messages; "
			"they may belong to another cgroup",
			pathless);
	if (count == 0)
		return EXIT_FAILED;
	if (o->html)
		status = write_page(o, kills, count);
	else
		add_kills(o, list, kills, count, out);
	return status == EXIT_DONE && pathless == count ? EXIT_PARTIAL : status;
}

/*
 * Explain the end of each process in the recording. If a kernel log is available, include
 * its report about the process.
 */
static int explain_recording(const struct options *o, const struct oom_kill_list *kills,
			     struct strbuf *out)
{
	const char *path = own_options(o)->record;
	_cleanup_conclusion_ struct conclusion next = CONCLUSION_INIT;
	struct replay *replay;
	struct oom_ends ends;
	size_t unused;
	size_t moment = recordings_find_moment(path);
	int status, r;

	if (moment > 0) {
		message("%s: no such file; oom explain always reads the whole "
			"recording: use --record %.*s",
			path, (int)moment - 1, path);
		return EXIT_FAILED;
	}
	status = recordings_open_file(o->verb, path, NULL, &replay, &unused);
	if (status != EXIT_DONE)
		return status;
	r = oom_ends_read(replay, kills, &o->targets, &ends);
	replay_close(replay);
	if (r < 0) {
		if (r == -ESRCH)
			message("%s: contains none of these processes", path);
		else
			recordings_report(path, r);
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < ends.count; i++) {
		const struct oom_evidence *end = &ends.items[i];

		if (!is_below_cgroup(o, end->limit_path, end->victim_path))
			continue;
		add_evidence(out, o, end, NULL);
		/* suggest a command only for the first process in the report */
		if (next.next.length == 0)
			oom_conclude_end_next(&next, end, path);
	}
	oom_ends_release(&ends);
	if (o->format != FORMAT_JSON)
		conclusion_add_next(out, &next);
	if (out->length > 0)
		return EXIT_DONE;
	message("%s: does not contain that cgroup", path);
	return EXIT_FAILED;
}

static int explain_run(struct options *o)
{
	const char *record = own_options(o)->record;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct oom_kill_list kills = OOM_KILL_LIST_INIT;
	int status = check_usage(o);

	if (status != EXIT_DONE)
		return status;
	/*
	 * the recording may come from another machine, so use this machine's log only
	 * on request
	 */
	if (own_options(o)->kmsg || !record)
		status = read_kills(o, &kills);
	if (status == EXIT_DONE)
		status = record ? explain_recording(o, &kills, &out)
				: explain_log(o, &kills, &out);
	oom_kill_list_release(&kills);
	return status == EXIT_DONE || status == EXIT_PARTIAL ? stream_finish(&out, status)
							     : status;
}

static const struct option_row own_rows[] = {
	{ 0, "kmsg", "FILE", "read this kernel log (default /dev/kmsg; -: stdin)",
	  .group = OPTIONS_RECORDINGS, .set = option_set_word,
	  .value = offsetof(struct kill_options, kmsg) },
	{ 0, "record", "FILE", "read this recording", .group = OPTIONS_RECORDINGS,
	  .set = option_set_word, .value = offsetof(struct kill_options, record) },
	{ 0, "replay", "FILE", "the same as --record", .group = OPTIONS_RECORDINGS,
	  .is_rare = true, .set = option_set_word,
	  .value = offsetof(struct kill_options, record) },
	{ 0, "html", "FILE", "write an HTML page about the kills in a log",
	  .group = OPTIONS_RECORDINGS, .set = option_set_word,
	  .value = offsetof(struct options, html) },
	{ 0 },
};

const struct cmd cmd_oom_explain = {
	.name = "oom explain",
	.args = "[--kmsg FILE] [--record FILE] [OPTIONS]",
	.summary = "explain kills by the OOM killer, from a log or a recording",
	.shared = "pid cgroup text json top",
	.own = own_rows,
	.options_size = sizeof(struct kill_options),
	.run = explain_run,
};
