/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commands - all commands of memstate, and main().
 */
#ifndef MS_CMD_COMMANDS_H
#define MS_CMD_COMMANDS_H

#include "cmd/core/cmd.h"

/* All commands that have a name. NULL ends the list. */
extern const struct cmd *const cmds[];

/* Parse the command line and run the command. Returns the exit status for main(). */
int cmd_main(int argc, char **argv);

#endif
