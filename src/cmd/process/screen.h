/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen - show the targets on the interactive screen, and hold back what memstate's
 * command prints meanwhile.
 */
#ifndef MS_CMD_PROCESS_SCREEN_H
#define MS_CMD_PROCESS_SCREEN_H

struct session;

/* Returns an exit status. */
int screen_run(struct session *session);

#endif
