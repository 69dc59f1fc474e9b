/* SPDX-License-Identifier: GPL-2.0-or-later */
/* next - choose the command that a report suggests to run next. */
#ifndef MS_CMD_SESSION_NEXT_H
#define MS_CMD_SESSION_NEXT_H

#include "cmd/session/session.h"
#include "model/conclusion.h"

/*
 * The command to run next after a report on one or more processes. The command examines
 * the process with the highest rank, for example with the largest Rss.
 */
struct next {
	struct next_place place; /* how the next command can access the processes */
	struct strbuf place_options;
	/*
	 * the next command for the process with the highest rank; only the member `next`
	 * is set
	 */
	struct conclusion best;
	uint64_t best_rank;
};

void next_begin(struct next *next, const struct session *session);
void next_end(struct next *next);

/*
 * Keep the next command in `conclusion` if its process has the highest rank so far. An
 * unknown rank counts as 0.
 */
void next_offer(struct next *next, const struct conclusion *conclusion, uint64_t rank);

/* Append the line with the next command, if any, to the report. */
void next_add(const struct next *next, struct strbuf *out);

/* Append the command that memstate runs, quoted for a shell. */
void next_add_command(struct strbuf *out, char *const *command);

#endif
