/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream - write standard output in units of whole rows or samples. If the output is a
 * file, a unit that cannot be written completely is removed again.
 */
#ifndef MS_CMD_CORE_STREAM_H
#define MS_CMD_CORE_STREAM_H

#include "base/strbuf.h"

/*
 * Write the text and empty the buffer. Returns 0, or -errno after a message; there is no
 * message for -EPIPE, because a reader may stop reading at any time.
 */
int stream_write(struct strbuf *text);

/*
 * Write the remaining text as the last action of a command. Returns `status` if
 * everything was written, otherwise another enum exit_status. Ends the program by SIGPIPE
 * if the pipe's reader is gone.
 */
int stream_finish(struct strbuf *text, int status);

/* End the program by SIGPIPE, as programs that write into a closed pipe do. */
_Noreturn void stream_die_of_pipe(void);

#endif
