/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd - a command of memstate. Each command has a source file that defines a struct cmd.
 */
#ifndef MS_CMD_CORE_CMD_H
#define MS_CMD_CORE_CMD_H

#include <stdbool.h>

#include "cmd/core/options.h"

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_BAD_USAGE = 2,
	/* some targets are gone or unreadable; a message reports them */
	EXIT_PARTIAL = 3,
	EXIT_ABOVE_LIMIT = 4, /* a figure exceeded a limit set by the user */
};

struct cmd {
	/*
	 * one or two words, such as "map" or "oom explain"; NULL: memstate without a verb
	 */
	const char *name;
	const char *args; /* the command's arguments, as shown in --help */
	const char *summary;
	/* names of the shared options that the command accepts, such as "pid csv json" */
	const char *shared;
	const struct option_row *own; /* the command's own options, or NULL */
	/*
	 * size of the command's own options struct, which begins with a struct options;
	 * 0: the command uses struct options itself
	 */
	size_t options_size;
	/* default values of the command's own options struct; NULL: all zeros */
	const void *defaults;
	bool takes_command; /* true if the command accepts "-- COMMAND" */
	bool requires_pid;
	bool reads_heap; /* true if the command reads heaps and reports on them */
	/*
	 * true if the first of two or more arguments may be a PID, provided that no
	 * option selects processes
	 */
	bool accepts_pid_first;
	int max_args;
	/* the columns that option -o accepts; NULL: the command has no columns */
	const struct column_set *columns;
	/* chooses the columns according to the options; NULL: always use `columns` */
	const struct column_set *(*find_columns)(const struct options *options);
	/* runs the command; returns an enum exit_status */
	int (*run)(struct options *options);
};

/*
 * Hint that is printed if the user gives a recording to a command that
 * requires a process.
 */
#define CMD_LIVE_HINT                                                                  \
	"; this command requires a running process ('memstate --replay FILE' shows a " \
	"recording)"

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
extern const struct cmd cmd_exporter;
extern const struct cmd cmd_help;

#endif
