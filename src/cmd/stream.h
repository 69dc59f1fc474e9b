/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream - standard output in parts that are whole rows, or a whole sample: one that cannot be
 * written whole is taken back, where the output is a file.
 */
#ifndef MS_CMD_STREAM_H
#define MS_CMD_STREAM_H

#include "base/strbuf.h"

/*
 * Write the text and empty it. Returns 0, or -errno after saying so on stderr (not for
 * -EPIPE: the reader has gone, and that is not for us to judge).
 */
int stream_write(struct strbuf *text);

/*
 * Write what is left, as the last thing a command does. Returns the enum exit_status to
 * end with: the given one if all was written. Ends the program where nobody reads any
 * more.
 */
int stream_finish(struct strbuf *text, int status);

/* End as a program does that writes into a closed pipe: by SIGPIPE. */
_Noreturn void stream_die_of_pipe(void);

#endif
