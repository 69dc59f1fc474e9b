/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ui - run the interactive screen. */
#ifndef MS_UI_UI_H
#define MS_UI_UI_H

#include <stdbool.h>

#include "model/settings.h"
#include "ui/data/options.h"

/*
 * Return true if standard input and standard output are a terminal on which the
 * screen can be shown.
 */
bool ui_can_run(void);

/*
 * Show the screen until the user leaves it. Return 0, the number of the signal that
 * ended the screen (SIGINT, SIGTERM, SIGHUP), or -errno. The terminal is always restored.
 * The caller must block SIGINT, SIGTERM, SIGHUP and SIGCHLD. *ret_changes contains the
 * settings that the user has changed on the screen, and the caller releases it.
 */
int ui_run(const struct ui_options *options, struct settings *ret_changes);

#endif
