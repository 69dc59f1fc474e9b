/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/process/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "cmd/process/settings.h"
#include "cmd/session/groups.h"
#include "cmd/session/heaps.h"
#include "cmd/session/session.h"
#include "ui/ui.h"

#define KEPT_BYTES 65536

/*
 * The session, and the pipe for the output of the command that memstate runs. On the
 * terminal, this output would garble the screen. The last KEPT_BYTES of the output are
 * kept until the screen is closed.
 */
struct watched {
	struct session *session;
	/* output_fd is the read end of the pipe, or -1 after the end of the output */
	struct ui_options options;
	struct strbuf kept;
	uint64_t dropped_bytes;
};

static void keep(struct watched *w, const char *bytes, size_t length)
{
	strbuf_add(&w->kept, bytes, length);
	if (w->kept.length <= 2 * KEPT_BYTES)
		return;
	w->dropped_bytes += w->kept.length - KEPT_BYTES;
	memmove(w->kept.text, w->kept.text + w->kept.length - KEPT_BYTES, KEPT_BYTES);
	strbuf_truncate(&w->kept, KEPT_BYTES);
}

/*
 * Read the command's output from the pipe, at most 64 times, because a command that
 * writes without end must not block the screen.
 */
static void drain(void *context)
{
	struct watched *w = context;
	char bytes[4096];

	for (int i = 0; i < 64 && w->options.output_fd >= 0; i++) {
		ssize_t n = read(w->options.output_fd, bytes, sizeof(bytes));

		if (n > 0) {
			keep(w, bytes, (size_t)n);
			continue;
		}
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		close(w->options.output_fd);
		w->options.output_fd = -1;
	}
}

static bool has_ended(void *context)
{
	struct watched *w = context;

	child_poll(&w->session->child);
	return w->session->child.has_ended;
}

static const struct cgroup *read_group(void *context)
{
	return groups_read(((struct watched *)context)->session);
}

static int start_command(struct watched *w)
{
	struct session *session = w->session;
	_cleanup_close_ int input_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct child_setup setup = { .input_fd = input_fd };
	int pipe_fds[2];
	int status;

	if (input_fd < 0 || pipe2(pipe_fds, O_CLOEXEC) < 0) {
		message_error(session->options->command[0], -errno);
		return EXIT_FAILED;
	}
	setup.output_fd = setup.error_fd = pipe_fds[1];
	status = session_start_command(session, &setup);
	close(pipe_fds[1]);
	if (status != EXIT_DONE) {
		close(pipe_fds[0]);
		return status;
	}
	fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK);
	w->options.output_fd = pipe_fds[0];
	w->options.command = session->options->command[0];
	w->options.command_has_ended = has_ended;
	w->options.drain_output = drain;
	return EXIT_DONE;
}

static void write_kept(struct watched *w)
{
	size_t length = w->kept.length;
	const char *text = strbuf_text(&w->kept);

	if (length > KEPT_BYTES) {
		w->dropped_bytes += length - KEPT_BYTES;
		text += length - KEPT_BYTES;
		length = KEPT_BYTES;
	}
	if (w->dropped_bytes > 0)
		message("%s: the first %llu bytes of its output were discarded",
			w->options.command, (unsigned long long)w->dropped_bytes);
	w->dropped_bytes = 0;
	(void)io_write_all(STDOUT_FILENO, text, length);
	strbuf_clear(&w->kept);
}

/*
 * Print the buffered output of the command after the screen is closed, and forward more
 * output until the command ends or the user interrupts it.
 */
static void finish_command(struct watched *w, int stop_signal)
{
	struct child *child = &w->session->child;
	int stops = signals_stop_count();

	/* the terminal has sent SIGINT to the command, too */
	if (stop_signal > 0 && stop_signal != SIGINT)
		child_signal(child, stop_signal);
	child_poll(child);
	drain(w);
	write_kept(w);
	if (!child->has_ended)
		message("%s: still running (PID %d); press ^C to terminate it",
			w->options.command, (int)child->pid);
	while (!child->has_ended && signals_stop_count() <= stops + 1) {
		signals_wait_for_input(w->options.output_fd,
				       clock_now_ns() + 60 * NS_PER_S);
		drain(w);
		write_kept(w);
		child_poll(child);
	}
	drain(w);
	write_kept(w);
	if (w->options.output_fd >= 0)
		close(w->options.output_fd);
	child_report(child, w->options.command);
}

/*
 * Check that the targets exist. If they do not, print a message instead of opening
 * a screen.
 */
static int check_targets(struct session *session)
{
	struct snapshot snapshot;
	int status;

	snapshot_init(&snapshot);
	status = session_list(session, NEED_STAT, &snapshot);
	if (status == EXIT_DONE)
		status = session_report_missing(session, &snapshot);
	snapshot_release(&snapshot);
	return status;
}

/*
 * Return the share of time that the screen may spend on reading processes, in
 * thousandths; 1000: no limit. If samples are recorded, too, the screen gets half of the
 * share in the options.
 */
static unsigned int share_of_screen(const struct session *session)
{
	unsigned int share = session->options->max_share_per_mille;

	return session->recorder && share < 1000 ? (share + 1) / 2 : share;
}

/*
 * Set the columns given with -o or --output-all; +COL adds to the columns from the
 * settings. ui->columns then points into *names, so *names must outlive *ui. Return
 * EXIT_DONE, or print a message and return EXIT_BAD_USAGE.
 */
static int set_columns(const struct options *o, struct ui_options *ui,
		       struct strbuf *names)
{
	struct column_list list = COLUMN_LIST_INIT;
	int status;

	if (!o->output && !o->output_all)
		return EXIT_DONE;
	status = session_columns(
		o, &process_columns,
		ui->columns ? ui->columns : process_columns.table_default, &list);
	if (status != EXIT_DONE)
		return status;
	column_list_format(&list, names);
	column_list_release(&list);
	ui->columns = names->text;
	return EXIT_DONE;
}

/* Start the command, or check that the targets exist. Return an exit status. */
static int begin_targets(struct watched *w)
{
	const struct options *o = w->session->options;

	if (o->command)
		return start_command(w);
	/*
	 * an empty cgroup may still be charged for memory, so do not require
	 * processes in a cgroup
	 */
	if (!o->targets.group && !w->session->replay)
		return check_targets(w->session);
	return EXIT_DONE;
}

/* Show the screen, and remember the settings that the user changed on it. */
static int show(struct watched *w, struct saved_settings *saved)
{
	struct settings changes;
	int r = ui_run(&w->options, &changes);

	if (r < 0)
		message_error("the screen", r);
	saved_settings_write(saved, &changes);
	settings_release(&changes);
	if (w->session->options->command)
		finish_command(w, r);
	return r;
}

int screen_run(struct session *session)
{
	const struct options *o = session->options;
	const struct cgroup_target group = { .name = o->cgroup };
	struct watched w = {
		.session = session,
		.options = {
			.sampler = session->sampler,
			.targets = &session->options->targets,
			.interval_ns = o->interval_ns,
			.max_share_per_mille = share_of_screen(session),
			.exact_bytes = o->exact_bytes,
			.is_live = session->fs.is_live && !session->replay,
			.replay = session->replay,
			.replay_index = session->replay_index,
			.opens_at_highlight = !o->recording.at,
			.recorder = session->recorder,
			.read_recorded_group = read_group,
			.context = &w,
			.procfs = &session->fs,
			.group = o->cgroup ? &group : NULL,
			.fs = o->heap == HEAP_OFF ? NULL : &session->fs,
			.max_pause_ns = o->max_pause_ns,
			.auto_pause_ns = heaps_auto_pause_ns(o),
			.pre_copy = o->heap == HEAP_WALK && !o->targets.group &&
						    !o->targets.with_children
					    ? o->pre_copy
					    : PRE_COPY_OFF,
			.no_stop = o->no_stop,
			.may_run = o->heap == HEAP_AUTO,
			.asks_helper = o->heap == HEAP_HELPER,
			.may_inject =
				o->heap == HEAP_HELPER && !o->command && !o->no_stop,
			.theme = o->theme,
			.sort = o->sort,
			.output_fd = -1,
		},
	};
	_cleanup_strbuf_ struct strbuf columns = STRBUF_INIT;
	struct saved_settings saved;
	struct sort_key key;
	bool has_key;
	int status;

	status = session_sort_key(o, &process_columns, NULL, &key, &has_key);
	if (status != EXIT_DONE)
		return status;
	saved_settings_begin(&saved, o, &w.options);
	status = set_columns(o, &w.options, &columns);
	if (status == EXIT_DONE)
		status = begin_targets(&w);
	if ((status == EXIT_DONE || status == EXIT_PARTIAL) && show(&w, &saved) < 0)
		status = EXIT_FAILED;
	saved_settings_release(&saved);
	strbuf_release(&w.kept);
	return status;
}
