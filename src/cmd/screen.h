/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen - the targets on the screen, and what a command of ours prints meanwhile.
 */
#ifndef MS_CMD_SCREEN_H
#define MS_CMD_SCREEN_H

struct session;

/* Returns an exit status. */
int screen_run(struct session *session);

#endif
