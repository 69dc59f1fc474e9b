/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals - waiting that a signal ends, and nothing else that a signal ends: outside of
 * signals_wait_until() they are held back, so that every row is written whole.
 */
#ifndef MS_CMD_SIGNALS_H
#define MS_CMD_SIGNALS_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Hold back INT, TERM, HUP and CHLD; and PIPE, for which stream_die_of_pipe() ends the
 * program when what is to be given back has been. Programs started later need
 * signals_reset_in_child().
 */
void signals_begin(void);

/* Between fork and exec: the signals as memstate itself found them. */
void signals_reset_in_child(void);

/* Sleep until due_ns on the monotonic clock, or until a signal comes. */
void signals_wait_until(uint64_t due_ns);

/* The same, or until fd (-1: none) can be read or has nothing more to come. */
void signals_wait_for_input(int fd, uint64_t due_ns);

/* The same, or until poll(2) has something to say of these. */
void signals_poll(struct pollfd *polled, size_t count, uint64_t due_ns);

/* How often INT, TERM or HUP came, and the last of them (0: none). */
int signals_stop_count(void);
int signals_last_stop(void);

#endif
