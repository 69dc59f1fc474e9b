/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals - waits that signals can interrupt. Signals stay blocked except in
 * signals_wait_until() and its variants, so that no signal interrupts the writing of
 * a row.
 */
#ifndef MS_CMD_CORE_SIGNALS_H
#define MS_CMD_CORE_SIGNALS_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Block INT, TERM, HUP and CHLD. Also block PIPE, so that a write to a closed pipe fails
 * with EPIPE; stream_die_of_pipe() then ends the program with SIGPIPE after the cleanup.
 * Programs started later must call signals_reset_in_child() before exec.
 */
void signals_begin(void);

/*
 * Restore the signal mask and actions that memstate inherited. Call this function between
 * fork and exec.
 */
void signals_reset_in_child(void);

/* Sleep until due_ns on the monotonic clock or until a signal arrives. */
void signals_wait_until(uint64_t due_ns);

/*
 * Sleep like signals_wait_until(), but also return when fd is readable or at end of file.
 * fd may be -1.
 */
void signals_wait_for_input(int fd, uint64_t due_ns);

/*
 * Sleep like signals_wait_until(), but also return when poll(2) reports an event for one
 * of the given descriptors.
 */
void signals_poll(struct pollfd *polled, size_t count, uint64_t due_ns);

/*
 * signals_stop_count() returns how many times INT, TERM or HUP has arrived.
 * signals_last_stop() returns the last of these signals, or 0 if none has arrived.
 */
int signals_stop_count(void);
int signals_last_stop(void);

#endif
