/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals - waiting that signals can interrupt. Signals stay blocked outside
 * signals_wait_until() and its variants, so that every row is written whole.
 */
#ifndef MS_CMD_CORE_SIGNALS_H
#define MS_CMD_CORE_SIGNALS_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Block INT, TERM, HUP and CHLD. Also block PIPE: stream_die_of_pipe() ends the program
 * with SIGPIPE after the cleanup. Programs started later must call
 * signals_reset_in_child() before exec.
 */
void signals_begin(void);

/* Restore the signals to what memstate inherited; to be called between fork and exec. */
void signals_reset_in_child(void);

/* Sleep until due_ns on the monotonic clock or until a signal arrives. */
void signals_wait_until(uint64_t due_ns);

/* Do the same, but also return when fd (-1: none) is readable or at its end. */
void signals_wait_for_input(int fd, uint64_t due_ns);

/*
 * Do the same, but also return when poll(2) reports an event for one of
 * these descriptors.
 */
void signals_poll(struct pollfd *polled, size_t count, uint64_t due_ns);

/* Return how often INT, TERM or HUP arrived, and which came last (0: none). */
int signals_stop_count(void);
int signals_last_stop(void);

#endif
