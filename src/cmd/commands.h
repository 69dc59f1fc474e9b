/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commands - all commands of memstate, and main().
 */
#ifndef MS_CMD_COMMANDS_H
#define MS_CMD_COMMANDS_H

#include "cmd/core/cmd.h"

/* NULL-terminated list of all commands that have a name. */
extern const struct cmd *const cmds[];

/* Find the command with the given one-word or two-word name. second may be NULL. */
const struct cmd *cmd_find(const char *first, const char *second);

/*
 * Report an unknown command as a usage error of the command `verb`, and suggest similar
 * commands. `parent` is the first word of a two-word name, or NULL.
 */
void cmd_report_unknown(const char *verb, const char *parent, const char *word);

/* Parse the command line and run the command. Return the exit status for main(). */
int cmd_main(int argc, char **argv);

#endif
