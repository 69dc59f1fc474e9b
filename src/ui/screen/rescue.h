/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rescue - restore the terminal even if memstate crashes or runs out of memory. */
#ifndef MS_UI_SCREEN_RESCUE_H
#define MS_UI_SCREEN_RESCUE_H

#include <stddef.h>

struct termios;

/*
 * Save the terminal's modes and the escape sequences that reset the terminal, and catch
 * crash signals. The caller must call this function before it changes the terminal.
 */
void rescue_begin(const struct termios *modes, const char *bytes, size_t length);

/*
 * Restore the previous signal handlers. The caller must call this function after curses
 * has restored the terminal.
 */
void rescue_end(void);

/* Restore the terminal; later calls do nothing. Async-signal-safe. */
void rescue_terminal(void);

#endif
