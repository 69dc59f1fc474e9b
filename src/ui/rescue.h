/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rescue - the terminal as it was, also when the program dies: by a crash, abort(), or
 * for want of memory.
 */
#ifndef MS_UI_RESCUE_H
#define MS_UI_RESCUE_H

#include <stddef.h>

struct termios;

/*
 * Before the terminal is changed: note its modes, and the bytes to send that bring it
 * back, and catch the signals of a crash.
 */
void rescue_begin(const struct termios *modes, const char *bytes, size_t length);

/* Curses has restored the terminal itself: the signals are as they were. */
void rescue_end(void);

/* Restore the terminal, once. May be called from a signal handler. */
void rescue_terminal(void);

#endif
