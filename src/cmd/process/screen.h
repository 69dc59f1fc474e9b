/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen - show the targets on the interactive screen. While the screen is open, the
 * output of the command that memstate runs is held back.
 */
#ifndef MS_CMD_PROCESS_SCREEN_H
#define MS_CMD_PROCESS_SCREEN_H

struct session;

/* Show the screen until the user closes it. Return an exit status. */
int screen_run(struct session *session);

#endif
