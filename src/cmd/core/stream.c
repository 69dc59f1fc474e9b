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

int stream_write(struct strbuf *text)
{
	struct stat before;
	int r;

	if (fstat(STDOUT_FILENO, &before) < 0)
		before.st_mode = 0;
	r = io_write_all(STDOUT_FILENO, strbuf_text(text), text->length);
	strbuf_clear(text);
	if (r == 0 || r == -EPIPE)
		return r;
	/* if the disk became full, remove the part of the text that was written */
	if (S_ISREG(before.st_mode) && ftruncate(STDOUT_FILENO, before.st_size) < 0)
		message("standard output: the last line may be incomplete");
	message_error("standard output", r);
	return r;
}

int stream_finish(struct strbuf *text, int status)
{
	int r = stream_write(text);

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
