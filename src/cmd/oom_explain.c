/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/oom_explain.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/strbuf.h"
#include "cmd/cmd.h"
#include "cmd/message.h"
#include "cmd/recordings.h"
#include "cmd/stream.h"
#include "cmd/text.h"
#include "proc/kmsg_oom.h"
#include "render/oom_explain.h"
#include "sample/oom_ends.h"

#define LOG_BYTES_MAX	 ((size_t)256 << 20)
#define RECORD_BYTES_MAX 8192
#define DEVICE		 "/dev/kmsg"

/* Each read gives one record; one that was overwritten meanwhile is an error of its own. */
static int read_device(struct strbuf *out)
{
	_cleanup_close_ int fd = open(DEVICE, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char record[RECORD_BYTES_MAX];

	if (fd < 0)
		return -errno;
	while (out->length < LOG_BYTES_MAX) {
		ssize_t n = read(fd, record, sizeof(record));

		if (n < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (n == 0)
			return 0;
		strbuf_add(out, record, (size_t)n);
	}
	return 0;
}

static int read_log(const char *path, struct strbuf *out)
{
	_cleanup_close_ int fd = -1;

	if (!path || strcmp(path, DEVICE) == 0)
		return read_device(out);
	if (strcmp(path, "-") == 0)
		return io_read_all(STDIN_FILENO, LOG_BYTES_MAX, out);
	fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : io_read_all(fd, LOG_BYTES_MAX, out);
}

/* The group itself, or one below it. */
static bool is_within(const char *path, const char *group)
{
	size_t length = strlen(group);

	while (length > 0 && group[length - 1] == '/')
		length--;
	return strncmp(path, group, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

/* Without --cgroup all are. */
static bool is_meant(const struct options *o, const char *limit_path, const char *victim_path)
{
	return !o->cgroup || is_within(limit_path, o->cgroup) ||
	       is_within(victim_path, o->cgroup) || strstr(victim_path, o->cgroup);
}

static int check_usage(const struct options *o)
{
	const struct recording_options *r = &o->recording;
	const char *problem = NULL;

	if (r->replay || r->at || r->keep.ns > 0 || r->keep.bytes > 0)
		problem = "explain reads all of the recording that --record names";
	else if (!r->record && !targets_are_all(&o->targets))
		problem = "explain: -p goes with --record: --cgroup chooses among kills of a log";
	else if (o->format == FORMAT_CSV || o->has_interval || o->sample_count > 0 || o->output ||
		 o->output_all)
		problem = "explain takes --text or --json, and no -i, -n or -o";
	if (!problem)
		return EXIT_DONE;
	message_usage("oom", "%s", problem);
	return EXIT_BAD_USAGE;
}

/* Returns EXIT_DONE, or how to end after the message. */
static int read_kills(const struct options *o, struct oom_kill_list *ret)
{
	_cleanup_strbuf_ struct strbuf log = STRBUF_INIT;
	int r = read_log(o->kmsg, &log);

	if (r < 0) {
		message_error(o->kmsg ? o->kmsg : DEVICE, r);
		if (!o->kmsg)
			message("hint: only root may read it here: --kmsg FILE takes what dmesg, "
				"journalctl -k or a syslog have, - standard input");
		return EXIT_FAILED;
	}
	kmsg_oom_parse(strbuf_text(&log), log.length, ret);
	return EXIT_DONE;
}

static void add_evidence(struct strbuf *out, const struct options *o,
			 const struct oom_evidence *evidence)
{
	struct oom_explain_options options = {
		.top = o->top ? (size_t)o->top : OPTIONS_TEXT_TOP,
	};

	if (o->format == FORMAT_JSON) {
		oom_explain_add_json(out, evidence);
		return;
	}
	if (out->length > 0)
		strbuf_add_char(out, '\n');
	text_fit_terminal(&options.table);
	oom_explain_add_text(out, evidence, &options);
}

/* Each kill of the log. */
static int explain_log(const struct options *o, const struct oom_kill_list *kills,
		       struct strbuf *out)
{
	for (size_t i = 0; i < kills->count; i++) {
		const struct oom_kill *kill = &kills->items[i];
		struct oom_evidence evidence;

		if (!is_meant(o, kill->limit_path, kill->victim_path))
			continue;
		oom_evidence_init(&evidence);
		oom_evidence_set_kill(&evidence, kill);
		add_evidence(out, o, &evidence);
	}
	if (out->length > 0)
		return EXIT_DONE;
	message("%s: no process%s was killed for want of memory, as far as this log goes",
		o->kmsg ? o->kmsg : DEVICE, o->cgroup ? " of that group" : "");
	return EXIT_FAILED;
}

/* Each end in the recording, with what the log, if there is one, says of it. */
static int explain_recording(const struct options *o, const struct oom_kill_list *kills,
			     struct strbuf *out)
{
	const char *path = o->recording.record;
	struct replay *replay;
	struct oom_ends ends;
	size_t unused;
	int status = recordings_open_file("oom", path, NULL, &replay, &unused), r;

	if (status != EXIT_DONE)
		return status;
	r = oom_ends_read(replay, kills, &o->targets, &ends);
	replay_close(replay);
	if (r < 0) {
		if (r == -ESRCH)
			message("%s: has none of these processes", path);
		else
			recordings_report(path, r);
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < ends.count; i++)
		if (is_meant(o, ends.items[i].limit_path, ends.items[i].victim_path))
			add_evidence(out, o, &ends.items[i]);
	oom_ends_release(&ends);
	if (out->length > 0)
		return EXIT_DONE;
	message("%s: is not of that group", path);
	return EXIT_FAILED;
}

int oom_explain_run(const struct options *o)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct oom_kill_list kills = OOM_KILL_LIST_INIT;
	int status = check_usage(o);

	if (status != EXIT_DONE)
		return status;
	/* a recording may be of another machine: its log is to be named */
	if (o->kmsg || !o->recording.record)
		status = read_kills(o, &kills);
	if (status == EXIT_DONE)
		status = o->recording.record ? explain_recording(o, &kills, &out)
					     : explain_log(o, &kills, &out);
	oom_kill_list_release(&kills);
	return status == EXIT_DONE ? stream_finish(&out, EXIT_DONE) : status;
}
