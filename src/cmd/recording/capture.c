/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "cmd/core/stream.h"
#include "cmd/session/session.h"
#include "store/capture/capture.h"

struct capture_options {
	struct options common;
	bool redacts;
};

struct capturing {
	struct session *session;
	const char *path;
	struct capture *capture;
	struct redactor *redactor; /* removes private data; NULL: nothing is removed */
	struct snapshot snapshot;
	struct strbuf notes;
	uint64_t written_bytes;
	size_t captured_count;
	size_t gone_count;
};

static int report_unwritten(const struct capturing *c, int err)
{
	message_error(c->path, err);
	return EXIT_FAILED;
}

static int write_files(struct capturing *c, struct capture_files *files)
{
	int r = capture_add(c->capture, files);

	for (size_t i = 0; i < files->count; i++)
		c->written_bytes += files->items[i].bytes.length;
	capture_files_release(files);
	return r < 0 ? report_unwritten(c, r) : EXIT_DONE;
}

static void record_process(struct capturing *c, const struct process *p, int err)
{
	char path[16];

	snprintf(path, sizeof(path), "%d", p->pid);
	capture_add_note(&c->notes, path, err);
}

/*
 * Capture one process. Return EXIT_DONE, even if the process was left out, or
 * EXIT_FAILED if the capture cannot be written.
 */
static int capture_process(struct capturing *c, struct usage *u)
{
	struct capture_files files = CAPTURE_FILES_INIT;
	const struct process *p = &u->process;
	int r;

	r = capture_read_process(&c->session->fs, p, c->redactor, &files, &c->notes);
	if (r == 0) {
		c->captured_count++;
		return write_files(c, &files);
	}
	capture_files_release(&files);
	record_process(c, p, r);
	if (r == -ESRCH) {
		if (!targets_are_all(&c->session->options->targets))
			message("%d: exited during the capture", p->pid);
		c->gone_count++;
		return EXIT_DONE;
	}
	u->error = r;
	c->snapshot.unreadable_count++;
	return EXIT_DONE;
}

static bool is_interrupted(void)
{
	signals_wait_until(0);
	return signals_stop_count() > 0;
}

static int capture_processes(struct capturing *c)
{
	const struct targets *targets = &c->session->options->targets;
	int status = EXIT_DONE;

	for (size_t i = 0; i < c->snapshot.count && status == EXIT_DONE; i++) {
		struct usage *u = &c->snapshot.usages[i];

		if (targets_are_all(targets) && !process_has_memory(&u->process))
			continue;
		if (is_interrupted()) {
			message("%s: interrupted; nothing was saved", c->path);
			return EXIT_FAILED;
		}
		status = capture_process(c, u);
	}
	return status;
}

static int finish(struct capturing *c)
{
	const struct capture_options *o =
		(const struct capture_options *)c->session->options;
	struct capture_files files = CAPTURE_FILES_INIT;
	int status, r;

	capture_read_machine(&c->session->fs, &files, &c->notes);
	capture_describe(&c->session->fs, o->redacts, c->captured_count, &c->notes,
			 &files);
	status = write_files(c, &files);
	if (status != EXIT_DONE)
		return status;
	r = capture_finish(c->capture);
	return r < 0 ? report_unwritten(c, r) : EXIT_DONE;
}

/* Capture all targets. Return EXIT_FAILED, or the exit status of a finished capture. */
static int list_and_capture(struct capturing *c)
{
	struct session *session = c->session;
	struct targets *targets = &session->options->targets;
	int status;

	status = session_list(session, NEED_STAT, &c->snapshot);
	if (status != EXIT_DONE)
		return status;
	status = capture_processes(c);
	if (status != EXIT_DONE)
		return status;
	if (targets_are_all(targets) && c->gone_count > 0)
		message("%zu processes exited during the capture", c->gone_count);
	status = session_report_missing(session, &c->snapshot);
	if (c->captured_count > 0)
		return c->gone_count > 0 ? EXIT_PARTIAL : status;
	if (targets_are_all(targets) && c->snapshot.count > 0)
		message("%s: no process could be captured",
			session->options->procfs_root);
	return EXIT_FAILED;
}

static int report_done(const struct capturing *c)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	char size[UNITS_TEXT_SIZE];

	strbuf_addf(
		&out, "%zu process%s, %s%s\n", c->captured_count,
		c->captured_count == 1 ? "" : "es",
		units_format_bytes(c->written_bytes, size),
		c->redactor
			? ""
			: "; it contains paths and command lines (--redact hides them)");
	return stream_write(&out) < 0 ? EXIT_FAILED : EXIT_DONE;
}

static int run(struct capturing *c)
{
	int status, r;

	r = capture_begin(c->path, &c->capture);
	if (r < 0)
		return report_unwritten(c, r);
	status = list_and_capture(c);
	if (status != EXIT_FAILED && finish(c) != EXIT_DONE)
		status = EXIT_FAILED;
	if (status != EXIT_FAILED && report_done(c) != EXIT_DONE)
		status = EXIT_FAILED;
	capture_free(c->capture);
	return status;
}

/*
 * Return true if the path has the suffix of an archive format that memstate capture
 * cannot write. Without this check, it would create a folder with a misleading name.
 */
static bool is_other_archive(const char *path)
{
	static const char *const suffixes[] = {
		".gz", ".bz2", ".xz", ".zst", ".tgz", ".tbz2", ".txz", ".zip", ".7z",
	};
	const char *suffix = strrchr(path, '.');

	for (size_t i = 0; suffix && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (strcmp(suffix, suffixes[i]) == 0)
			return true;
	return false;
}

static int capture_run(struct options *o)
{
	struct session session;
	struct capturing c = { .session = &session };
	int status;

	if (o->arg_count == 0) {
		message_usage("capture", "no destination given; name a directory or a "
					 ".tar file");
		return EXIT_BAD_USAGE;
	}
	c.path = o->args[0];
	if (is_other_archive(c.path)) {
		message_usage("capture",
			      "'%s': a capture is a directory or an "
			      "uncompressed .tar file",
			      c.path);
		return EXIT_BAD_USAGE;
	}
	status = session_begin(&session, o);
	if (status != EXIT_DONE)
		return status;
	signals_begin();
	snapshot_init(&c.snapshot);
	if (((struct capture_options *)o)->redacts)
		c.redactor = redactor_new();
	status = run(&c);
	redactor_free(c.redactor);
	strbuf_release(&c.notes);
	snapshot_release(&c.snapshot);
	session_end(&session);
	return status;
}

static const struct option_row own_rows[] = {
	{ 0, "redact", NULL, "hide file paths and command lines", .group = OPTIONS_OUTPUT,
	  .flag = offsetof(struct capture_options, redacts) },
	{ 0 },
};

const struct cmd cmd_capture = {
	.name = "capture",
	.args = "[-p PID|NAME] [OPTIONS] DIR|FILE.tar",
	.summary = "save the /proc files of processes, for use with --procfs",
	.shared = "pid tree procfs",
	.own = own_rows,
	.options_size = sizeof(struct capture_options),
	.max_args = 1,
	.run = capture_run,
};
