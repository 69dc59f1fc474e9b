/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options - a command line, parsed by the table of options.
 */
#ifndef MS_CMD_OPTIONS_H
#define MS_CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"
#include "sample/sampler.h"
#include "store/recording.h"

/* Which commands take an option. */
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
	SCOPE_PROCESSES = SCOPE_ALL & ~(SCOPE_COUNT | SCOPE_DIFF), /* that look at any that run */
};

enum format {
	FORMAT_AUTO, /* the screen on a terminal, else text */
	FORMAT_TEXT,
	FORMAT_CSV,
	FORMAT_JSON,
};

/* Where figures of heaps come from. */
enum heap_mode {
	HEAP_AUTO, /* walked where that may be done, of processes that were named */
	HEAP_WALK, /* from outside, while the process stands still; it is said where it fails */
	HEAP_HELPER, /* walked, and the allocator is asked, inside the process */
	HEAP_OFF,
};

/* Lines of each list in a text, unless --top says otherwise: all fits on a screen or two. */
#define OPTIONS_TEXT_TOP 10

/* Of a command that is run under several allocators. */
struct compare_options {
	uint64_t run_count, warm_up_count;
	bool has_run_count;
	const char *workload; /* a shell script; NULL: the command ends by itself */
	uint64_t ready_ns;
	bool has_ready;
	uint64_t settle_ns;
	bool has_settle;
	int stop_signal;
	bool has_stop_signal;
	uint64_t above_bytes; /* BYTES_UNKNOWN: not said */
	const char *html;	/* a file, or NULL */
	const char *output_dir; /* or NULL */
	bool count;		/* allocations too */
	const char *first_said; /* the name of one of these options that was said; NULL: none was */
};

/* Of counting allocations. */
struct count_options {
	bool calls_only;
	const char *probe; /* how a process that runs is counted; NULL: not said */
	uint64_t iterations; /* 1: not said */
	const char *check;   /* a file of limits, or NULL */
	const char *test;    /* which of them; NULL: those of the program */
	bool update;
	const char *scale, *sizes; /* or NULL */
	uint64_t max_exponent_thousandths;
	bool has_max_exponent;
	unsigned int min; /* of PROFILE_MIN_UNIT */
	bool has_min;
	struct count_rule {
		bool is_file; /* with rules, or one rule */
		const char *text;
	} *rules; /* in the order in which they were said */
	size_t rule_count, rule_capacity;
	const char *folded, *speedscope; /* files, or NULL */
	bool stacks; /* or what goes with them only: see options_count_records_stacks() */
	bool live;
	uint64_t sample_bytes; /* 0: each allocation */
	const char *record, *replay; /* files, or NULL */
};

/* Of recordings; NULL: not said. */
struct recording_options {
	const char *record, *replay; /* files */
	struct recording_bounds keep;
	const char *at;
};

/* Of comparing two profiles, as they were said; NULL: were not. */
struct diff_options {
	const char *depth, *minimum, *fail_above;
	bool keeps_generics;
};

struct options {
	const char *verb; /* the command's name for messages; NULL: memstate itself */
	struct targets targets;
	size_t pid_capacity, name_capacity;
	char **command; /* NULL, or argv of the program to run */
	char **args;	/* what is left: neither option nor command */
	int arg_count;

	enum format format;
	uint64_t interval_ns;
	bool has_interval;
	uint64_t sample_count; /* 0: no end */
	const char *output;    /* -o, or NULL */
	bool output_all;
	bool list_columns;
	bool no_headings;
	bool exact_bytes;
	const char *sort; /* -s, or NULL */
	uint64_t top;	  /* lines of each list; 0: not said, see OPTIONS_TEXT_TOP */
	unsigned int max_share_per_mille;
	enum heap_mode heap;
	uint64_t max_pause_ns;
	bool has_max_pause;
	bool no_stop;
	bool allow_stall;
	bool malloc_info;
	uint64_t block_limit, byte_limit; /* of --fail-above */
	bool has_block_limit, has_byte_limit;
	const char *snapshot, *since; /* files, or NULL */
	const char *preload; /* allocators, or NULL */
	const char *cgroup; /* a folder, path or id, or NULL */
	const char *kmsg; /* a file, "-", or NULL */
	const char *arm;  /* "high", "freeze", "trace", or NULL */
	bool yes;
	struct compare_options compare;
	struct count_options count;
	struct diff_options diff;
	struct recording_options recording;
	const char *flame_graph; /* a file, or NULL */
	enum profile_metric metric; /* of profiles */
	bool has_metric;
	const char *procfs_root;
	bool redact;
	bool help;
	bool version;
};

struct cmd;

/*
 * Parse argv[1…]. Returns 0, or -EINVAL after the message has been given. Strings are
 * borrowed from argv.
 */
int options_parse(const struct cmd *cmd, int argc, char **argv, struct options *ret);
void options_release(struct options *options);

#endif
