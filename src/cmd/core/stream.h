/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream - write standard output in whole rows or samples. If the output is a file, a row
 * or sample that was written only in part is removed by truncating the file.
 */
#ifndef MS_CMD_CORE_STREAM_H
#define MS_CMD_CORE_STREAM_H

#include "base/strbuf.h"

/*
 * Write the text and empty the buffer. Returns 0, or prints a message and returns -errno.
 * If the reader has closed the pipe, returns -EPIPE and prints nothing. Lines of text,
 * but not of CSV and JSON, are wrapped to the width of the terminal.
 */
int stream_write(struct strbuf *text);

/* Write as stream_write() does, but without wrapping lines. */
int stream_write_file(struct strbuf *text);

/*
 * Write the remaining text at the end of a command, with a pager if it is a text that is
 * longer than the screen. Returns `status` if everything was
 * written, otherwise another enum exit_status. If the reader has closed the pipe, the
 * program ends with SIGPIPE.
 */
int stream_finish(struct strbuf *text, int status);

/*
 * Terminate the program with SIGPIPE, as is usual for programs that write to a closed
 * pipe.
 */
_Noreturn void stream_die_of_pipe(void);

#endif
