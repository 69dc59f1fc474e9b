/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options - parse a command line according to the table of options.
 */
#ifndef MS_CMD_CORE_OPTIONS_H
#define MS_CMD_CORE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"
#include "sample/process/sampler.h"
#include "store/recording/recording.h"

/* The commands that accept an option. */
enum option_scope {
	SCOPE_WATCH = 1 << 0, /* memstate without a verb */
	SCOPE_MAP = 1 << 1,
	SCOPE_CAPTURE = 1 << 2,
	SCOPE_DOCTOR = 1 << 3,
	SCOPE_HEAP = 1 << 4,
	SCOPE_LEAKS = 1 << 5,
	SCOPE_EXPLAIN = 1 << 6,
	SCOPE_COUNT = 1 << 7,
	SCOPE_DIFF = 1 << 8,
	SCOPE_OOM = 1 << 9,
	SCOPE_ALL = (1 << 10) - 1,
	/* commands that look at any running process */
	SCOPE_PROCESSES = SCOPE_ALL & ~(SCOPE_COUNT | SCOPE_DIFF),
};

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

/* Options for running a command under several allocators. */
struct compare_options {
	uint64_t run_count, warm_up_count;
	bool has_run_count;
	const char *workload; /* a shell script; NULL: the command ends on its own */
	uint64_t ready_ns;
	bool has_ready;
	uint64_t settle_ns;
	bool has_settle;
	int stop_signal;
	bool has_stop_signal;
	uint64_t above_bytes;	/* BYTES_UNKNOWN: not given */
	const char *html;	/* file name, or NULL */
	const char *output_dir; /* folder, or NULL */
	bool count;		/* count allocations too */
	const char *first_said; /* name of the first of these options given; NULL: none */
};

/* Options for counting allocations. */
struct count_options {
	bool calls_only;
	const char *probe;   /* method for counting a running process; NULL: not given */
	uint64_t iterations; /* 1: not given */
	const char *check;   /* file of limits, or NULL */
	const char *test;    /* which test of the file; NULL: the limits of the program */
	bool update;
	const char *scale, *sizes; /* or NULL */
	uint64_t max_exponent_thousandths;
	bool has_max_exponent;
	unsigned int min; /* out of PROFILE_MIN_UNIT */
	bool has_min;
	struct count_rule {
		bool is_file; /* text names a file with rules, otherwise it is a rule */
		const char *text;
	} * rules; /* in command-line order */
	size_t rule_count, rule_capacity;
	const char *folded, *speedscope; /* file names, or NULL */
	/* --stacks; see options_count_records_stacks() for options that imply it */
	bool stacks;
	bool live;
	uint64_t sample_bytes;	     /* 0: record every allocation */
	const char *record, *replay; /* file names, or NULL */
};

/* Options for recordings; NULL: not given. */
struct recording_options {
	const char *record, *replay; /* file names */
	struct recording_bounds keep;
	const char *at;
};

/* Options for comparing two profiles, unparsed; NULL: not given. */
struct diff_options {
	const char *depth, *minimum, *fail_above;
	bool keeps_generics;
};

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
	uint64_t block_limit, byte_limit; /* from --fail-above */
	bool has_block_limit, has_byte_limit;
	const char *snapshot, *since; /* file names, or NULL */
	const char *preload;	      /* list of allocators, or NULL */
	const char *cgroup;	      /* folder, path or id, or NULL */
	const char *kmsg;	      /* file name, "-", or NULL */
	const char *arm;	      /* "high", "freeze", "trace", or NULL */
	bool yes;
	struct compare_options compare;
	struct count_options count;
	struct diff_options diff;
	struct recording_options recording;
	const char *flame_graph;    /* file name, or NULL */
	enum profile_metric metric; /* for profiles */
	bool has_metric;
	const char *procfs_root;
	bool redact;
	bool help;
	bool version;
};

struct cmd;

/*
 * Parse argv[1…]. Returns 0, or -EINVAL after a message. The strings in *ret are
 * borrowed from argv.
 */
int options_parse(const struct cmd *cmd, int argc, char **argv, struct options *ret);
void options_release(struct options *options);

#endif
