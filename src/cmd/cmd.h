/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd - the commands: one file each, ending in one struct cmd; and their table.
 */
#ifndef MS_CMD_CMD_H
#define MS_CMD_CMD_H

#include <stdbool.h>

#include "cmd/options.h"

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_BAD_USAGE = 2,
	EXIT_PARTIAL = 3, /* some targets gone or unreadable; said on stderr */
	EXIT_ABOVE_LIMIT = 4, /* a limit that the user set */
};

struct cmd {
	const char *name; /* NULL: memstate without a verb */
	const char *args; /* after the name, for --help */
	const char *summary;
	unsigned int scope;	 /* its bit of enum option_scope */
	bool takes_command;	 /* "-- COMMAND" */
	int max_args;
	const struct column_set *columns; /* NULL: none */
	int (*run)(struct options *options); /* enum exit_status */
};

extern const struct cmd cmd_watch;
extern const struct cmd cmd_map;
extern const struct cmd cmd_heap;
extern const struct cmd cmd_leaks;
extern const struct cmd cmd_explain;
extern const struct cmd cmd_count;
extern const struct cmd cmd_diff;
extern const struct cmd cmd_oom;
extern const struct cmd cmd_capture;
extern const struct cmd cmd_doctor;

/* All that have a name; ends with NULL. */
extern const struct cmd *const cmds[];

/* Parse and run: what main() does. */
int cmd_main(int argc, char **argv);

#endif
