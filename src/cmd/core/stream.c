/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/stream.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/pager.h"
#include "cmd/core/terminal.h"
#include "render/table/fit.h"

/* Wrap the lines of a text report that are wider than the terminal. */
static void prepare_text(struct strbuf *text)
{
	struct table_options options = { 0 };
	struct strbuf prepared = STRBUF_INIT;

	if (text->length == 0 || !terminal_has_text())
		return;
	terminal_fit(&options);
	if (options.max_width == 0)
		return;
	fit_add_lines(&prepared, text->text, (size_t)options.max_width, options.ascii);
	strbuf_release(text);
	*text = prepared;
}

int stream_write(struct strbuf *text)
{
	prepare_text(text);
	return stream_write_file(text);
}

int stream_write_file(struct strbuf *text)
{
	struct stat before;
	int r;

	if (fstat(STDOUT_FILENO, &before) < 0)
		before.st_mode = 0;
	r = io_write_all(STDOUT_FILENO, strbuf_text(text), text->length);
	strbuf_clear(text);
	if (r == 0 || r == -EPIPE)
		return r;
	/*
	 * if the disk became full, remove the part of the text that was already written
	 */
	if (S_ISREG(before.st_mode) && ftruncate(STDOUT_FILENO, before.st_size) < 0)
		message("standard output: the last line may be incomplete");
	message_error("standard output", r);
	return r;
}

int stream_finish(struct strbuf *text, int status)
{
	int r;

	prepare_text(text);
	if (terminal_needs_pager(strbuf_text(text)) &&
	    pager_show(text->text, text->length) == 0) {
		strbuf_clear(text);
		return status;
	}
	r = stream_write_file(text);
	if (r == -EPIPE)
		stream_die_of_pipe();
	return r < 0 ? EXIT_FAILED : status;
}

_Noreturn void stream_die_of_pipe(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(SIGPIPE);
	_exit(1);
}
