/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream - write standard output in whole rows or samples. If the output is a file, a
 * partly written row or sample is removed by truncating the file.
 */
#ifndef MS_CMD_CORE_STREAM_H
#define MS_CMD_CORE_STREAM_H

#include "base/strbuf.h"

/*
 * Write the text and empty the buffer. Return 0, or print a message and return -errno.
 * If the reader has closed the pipe, return -EPIPE without a message. Lines of text, but
 * not of CSV and JSON, are wrapped to the width of the terminal.
 */
int stream_write(struct strbuf *text);

/* Write like stream_write(), but without wrapping lines. */
int stream_write_file(struct strbuf *text);

/*
 * Write the remaining text at the end of a command, with a pager if it is text that is
 * longer than the screen. Return `status` if everything was written, otherwise another
 * enum exit_status. If the reader has closed the pipe, the program ends with SIGPIPE.
 */
int stream_finish(struct strbuf *text, int status);

/* End the program with SIGPIPE, as usual for programs that write to a closed pipe. */
_Noreturn void stream_die_of_pipe(void);

#endif
