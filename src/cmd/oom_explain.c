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
#include "cmd/stream.h"
#include "cmd/text.h"
#include "proc/kmsg_oom.h"
#include "render/oom_explain.h"

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

	if (!path)
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

static bool is_meant(const struct options *o, const struct oom_kill *kill)
{
	if (!o->cgroup)
		return true;
	return is_within(kill->limit_path, o->cgroup) || is_within(kill->victim_path, o->cgroup) ||
	       strstr(kill->victim_path, o->cgroup);
}

static int check_usage(const struct options *o)
{
	if (!targets_are_all(&o->targets)) {
		message_usage("oom", "explain: -p means processes that run: --cgroup chooses among kills");
		return EXIT_BAD_USAGE;
	}
	if (o->format == FORMAT_CSV || o->has_interval || o->sample_count > 0 || o->output ||
	    o->output_all) {
		message_usage("oom", "explain takes --text or --json, and no -i, -n or -o");
		return EXIT_BAD_USAGE;
	}
	return EXIT_DONE;
}

static void add_kill(struct strbuf *out, const struct options *o, const struct oom_kill *kill,
		     bool is_first)
{
	struct oom_explain_options options = {
		.top = o->top ? (size_t)o->top : OPTIONS_TEXT_TOP,
	};

	struct oom_evidence evidence;

	oom_evidence_init(&evidence);
	oom_evidence_set_kill(&evidence, kill);
	if (o->format == FORMAT_JSON) {
		oom_explain_add_json(out, &evidence);
		return;
	}
	if (!is_first)
		strbuf_add_char(out, '\n');
	text_fit_terminal(&options.table);
	oom_explain_add_text(out, &evidence, &options);
}

int oom_explain_run(const struct options *o)
{
	_cleanup_strbuf_ struct strbuf log = STRBUF_INIT, out = STRBUF_INIT;
	struct oom_kill_list list = OOM_KILL_LIST_INIT;
	const char *name = o->kmsg ? o->kmsg : DEVICE;
	size_t shown = 0;
	int status = check_usage(o), r;

	if (status != EXIT_DONE)
		return status;
	r = read_log(o->kmsg, &log);
	if (r < 0) {
		message_error(name, r);
		if (!o->kmsg)
			message("hint: only root may read it here: --kmsg FILE takes what dmesg, "
				"journalctl -k or a syslog have, - standard input");
		return EXIT_FAILED;
	}
	kmsg_oom_parse(strbuf_text(&log), log.length, &list);
	for (size_t i = 0; i < list.count; i++)
		if (is_meant(o, &list.items[i]))
			add_kill(&out, o, &list.items[i], shown++ == 0);
	if (shown == 0)
		message("%s: no process%s was killed for want of memory, as far as this log goes", name,
			o->cgroup ? " of that group" : "");
	oom_kill_list_release(&list);
	return shown == 0 ? EXIT_FAILED : stream_finish(&out, EXIT_DONE);
}
