/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options - parse a command line according to the command's tables of options.
 */
#ifndef MS_CMD_CORE_OPTIONS_H
#define MS_CMD_CORE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "cmd/core/option.h"
#include "model/profile.h"
#include "model/settings.h"
#include "sample/heap/reader.h"
#include "sample/process/sampler.h"
#include "store/recording/recording.h"

enum format {
	FORMAT_AUTO, /* the interactive screen on a terminal, otherwise a text report */
	FORMAT_TEXT,
	FORMAT_CSV,
	FORMAT_JSON,
};

/* When to use colours in text reports. */
enum colour_mode {
	COLOUR_AUTO, /* use colours if standard output is a terminal that supports them */
	COLOUR_ALWAYS,
	COLOUR_NEVER,
};

/* How memstate obtains heap figures. */
enum heap_mode {
	HEAP_AUTO, /* walk the heaps of processes that the user named, where permitted */
	/* walk heaps from outside while the process is paused, and report failures */
	HEAP_WALK,
	HEAP_HELPER, /* walk heaps, and query the allocator inside the process */
	HEAP_OFF,
};

/*
 * Maximum number of rows per list in text output without --top. With this limit, the
 * report fits on one or two screens.
 */
#define OPTIONS_TEXT_TOP 10

struct option_list {
	const struct option_row **items;
	size_t count, capacity;
};

/* Options for the presentation of call stacks. */
struct stacks_options {
	enum profile_metric metric;
	bool has_metric;
	struct stacks_rule {
		/* true: text is the name of a file with rules; false: text is a rule */
		bool is_file;
		const char *text;
	} * rules; /* rules in command-line order */
	size_t rule_count, rule_capacity;
	const char *flame_graph; /* file name for the flame graph, or NULL */
};

/* Options for recordings. */
struct recording_options {
	/* file names from --record and --replay, or NULL */
	const char *record, *replay;
	struct recording_bounds keep;
	const char *at;
};

/*
 * Options that several commands share. A command with more options has its own struct,
 * which begins with a struct options.
 */
struct options {
	const char *verb; /* name of the command for messages; NULL: memstate itself */
	/* true if the command reads heaps and reports on them; copied from struct cmd */
	bool reads_heap;
	struct targets targets;
	size_t pid_capacity, name_capacity;
	char **command; /* program to run and its arguments, or NULL */
	char **args;	/* arguments that are neither options nor part of `command` */
	int arg_count;

	enum format format;
	uint64_t interval_ns;
	bool has_interval;
	uint64_t sample_count; /* number of samples to take; 0: no limit */
	const char *output;    /* argument of -o, or NULL */
	bool output_all;
	bool list_columns;
	bool no_headings;
	bool exact_bytes;
	const char *sort; /* argument of -s, or NULL */
	/* maximum number of rows per list; 0: not given, so OPTIONS_TEXT_TOP applies */
	uint64_t top;
	unsigned int max_share_per_mille;
	/* THEME_AUTO: use the theme in the settings, or the default theme */
	enum theme theme;
	bool no_config;
	enum heap_mode heap;
	uint64_t max_pause_ns;
	bool has_max_pause;
	enum pre_copy pre_copy;
	bool no_stop;
	bool allow_stall;
	bool malloc_info;
	const char *preload; /* comma-separated allocators to preload, or NULL */
	uint64_t run_count, warm_up_count;
	bool has_run_count;
	const char *html;   /* file name for the HTML page, or NULL */
	const char *cgroup; /* folder, path or id of a cgroup, or NULL */
	struct recording_options recording;
	struct stacks_options stacks;
	const char *procfs_root;
	enum colour_mode colour;
	bool no_pager;
	bool help;
	bool version;
	/* all options that were given; an option that was given twice is listed twice */
	struct option_list given;
};

struct cmd;

/* Return true if the command accepts the shared option with the given name. */
bool option_is_accepted(const struct cmd *cmd, const char *name);

/*
 * Parse the command line from argv[1] on. Return 0, or print a message and return
 * -EINVAL. The caller owns *ret; its strings are borrowed from argv.
 */
int options_parse(const struct cmd *cmd, int argc, char **argv, struct options **ret);
void options_free(struct options *options);

/*
 * Check that each given option comes with the option that it requires. Return 0, or
 * print a message and return -EINVAL.
 */
int options_check(const struct options *options);

/*
 * Return the name of the first given option that is in names, a list such as "runs
 * check". Return NULL if no option in the list is given.
 */
const char *options_find_given(const struct options *options, const char *names);

/*
 * Append a description of the command's options for --help, in aligned columns under
 * headings. Return false if the description omits rare options.
 */
bool options_add_help(const struct cmd *cmd, bool shows_rare, struct strbuf *out);

#endif
