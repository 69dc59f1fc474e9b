/* SPDX-License-Identifier: GPL-2.0-or-later */
/* next - what the command that a report suggests needs to know of this session. */
#ifndef MS_CMD_SESSION_NEXT_H
#define MS_CMD_SESSION_NEXT_H

#include "cmd/session/session.h"
#include "model/conclusion.h"

/*
 * Set *ret to the place where the next command can examine the processes of this session.
 * Its options are borrowed from the buffer, which is empty before.
 */
void next_place_init(const struct session *session, struct strbuf *options,
		     struct next_place *ret);

/* Append the command that memstate runs, quoted for a shell. */
void next_add_command(struct strbuf *out, char *const *command);

#endif
