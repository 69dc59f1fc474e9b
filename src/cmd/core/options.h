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
#include "sample/process/sampler.h"
#include "store/recording/recording.h"

enum format {
	FORMAT_AUTO, /* the screen on a terminal, otherwise text */
	FORMAT_TEXT,
	FORMAT_CSV,
	FORMAT_JSON,
};

/* Where heap figures come from. */
enum heap_mode {
	HEAP_AUTO, /* walk the heaps of named processes, where permitted */
	/* walk from outside while the process is paused; failures are reported */
	HEAP_WALK,
	HEAP_HELPER, /* walk, and query the allocator inside the process */
	HEAP_OFF,
};

/*
 * Rows per list in text output without --top, so that the report fits on
 * one or two screens.
 */
#define OPTIONS_TEXT_TOP 10

struct option_list {
	const struct option_row **items;
	size_t count, capacity;
};

/* Options for what to show of call stacks. */
struct stacks_options {
	enum profile_metric metric;
	bool has_metric;
	struct stacks_rule {
		bool is_file; /* text names a file with rules, otherwise it is a rule */
		const char *text;
	} * rules; /* in command-line order */
	size_t rule_count, rule_capacity;
	const char *flame_graph; /* file name, or NULL */
};

/* Options for recordings; NULL: not given. */
struct recording_options {
	const char *record, *replay; /* file names */
	struct recording_bounds keep;
	const char *at;
};

/*
 * The options that several commands share. A command with options of its own has a
 * struct that begins with this one.
 */
struct options {
	const char *verb; /* command name for messages; NULL: memstate itself */
	struct targets targets;
	size_t pid_capacity, name_capacity;
	char **command; /* argv of the program to run, or NULL */
	char **args;	/* remaining arguments: neither options nor command */
	int arg_count;

	enum format format;
	uint64_t interval_ns;
	bool has_interval;
	uint64_t sample_count; /* 0: no limit */
	const char *output;    /* -o, or NULL */
	bool output_all;
	bool list_columns;
	bool no_headings;
	bool exact_bytes;
	const char *sort; /* -s, or NULL */
	uint64_t top;	  /* rows per list; 0: not given, see OPTIONS_TEXT_TOP */
	unsigned int max_share_per_mille;
	enum heap_mode heap;
	uint64_t max_pause_ns;
	bool has_max_pause;
	bool no_stop;
	bool allow_stall;
	bool malloc_info;
	const char *preload; /* list of allocators, or NULL */
	uint64_t run_count, warm_up_count;
	bool has_run_count;
	const char *html;   /* file name, or NULL */
	const char *cgroup; /* folder, path or id, or NULL */
	struct recording_options recording;
	struct stacks_options stacks;
	const char *procfs_root;
	bool help;
	bool version;
	struct option_list given; /* an option appears each time it was given */
};

struct cmd;

/*
 * Parse argv[1…]. Returns 0, or -EINVAL after a message. The caller owns *ret; the
 * strings in it are borrowed from argv.
 */
int options_parse(const struct cmd *cmd, int argc, char **argv, struct options **ret);
void options_free(struct options *options);

/*
 * Check that no option lacks one that it needs. Returns 0, or -EINVAL after a message.
 */
int options_check(const struct options *options);

/* Return the first given option that is one of the names, "runs check", or NULL. */
const char *options_find_given(const struct options *options, const char *names);

/* Append the command's options, aligned, for --help. */
void options_add_help(const struct cmd *cmd, struct strbuf *out);

#endif
