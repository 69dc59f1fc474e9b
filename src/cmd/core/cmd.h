/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd - a command of memstate. Each command is one file that defines a struct cmd.
 */
#ifndef MS_CMD_CORE_CMD_H
#define MS_CMD_CORE_CMD_H

#include <stdbool.h>

#include "cmd/core/options.h"

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_BAD_USAGE = 2,
	EXIT_PARTIAL = 3,     /* some targets gone or unreadable; reported on stderr */
	EXIT_ABOVE_LIMIT = 4, /* a limit set by the user was exceeded */
};

struct cmd {
	/* one or two words, as "map" or "oom explain"; NULL: memstate without a verb */
	const char *name;
	const char *args; /* shown after the name in --help */
	const char *summary;
	const char *shared; /* the shared options that it takes, "pid csv json" */
	const struct option_row *own; /* its own options, or NULL */
	/* size of its own struct, which begins with struct options; 0: it has none */
	size_t options_size;
	const void *defaults; /* a struct with its own options' defaults; NULL: zeros */
	bool takes_command;   /* accepts "-- COMMAND" */
	bool requires_pid;
	int max_args;
	const struct column_set *columns; /* NULL: the command has no columns */
	/* choose the columns by the options; NULL: always `columns` */
	const struct column_set *(*find_columns)(const struct options *options);
	int (*run)(struct options *options); /* returns an enum exit_status */
};

extern const struct cmd cmd_watch;
extern const struct cmd cmd_map;
extern const struct cmd cmd_heap;
extern const struct cmd cmd_leaks;
extern const struct cmd cmd_explain;
extern const struct cmd cmd_count;
extern const struct cmd cmd_diff;
extern const struct cmd cmd_oom;
extern const struct cmd cmd_oom_explain;
extern const struct cmd cmd_oom_predict;
extern const struct cmd cmd_oom_watch;
extern const struct cmd cmd_capture;
extern const struct cmd cmd_doctor;

#endif
