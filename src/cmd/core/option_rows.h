/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * option_rows - the table of options. The output of --help, the shell completion and the
 * check of the man page are derived from it.
 */
#ifndef MS_CMD_CORE_OPTION_ROWS_H
#define MS_CMD_CORE_OPTION_ROWS_H

#include "base/strbuf.h"

enum option_id {
	OPTION_PID,
	OPTION_CGROUP,
	OPTION_KMSG,
	OPTION_ARM,
	OPTION_YES,
	OPTION_TREE,
	OPTION_TEXT,
	OPTION_CSV,
	OPTION_JSON,
	OPTION_INTERVAL,
	OPTION_SAMPLES,
	OPTION_OUTPUT,
	OPTION_OUTPUT_ALL,
	OPTION_LIST_COLUMNS,
	OPTION_NO_HEADINGS,
	OPTION_BYTES,
	OPTION_SORT,
	OPTION_TOP,
	OPTION_MAX_SHARE,
	OPTION_PROCFS,
	OPTION_REDACT,
	OPTION_HEAP,
	OPTION_MAX_PAUSE,
	OPTION_NO_STOP,
	OPTION_ALLOW_STALL,
	OPTION_MALLOC_INFO,
	OPTION_FAIL_ABOVE,
	OPTION_SNAPSHOT,
	OPTION_SINCE,
	OPTION_PRELOAD,
	OPTION_RUNS,
	OPTION_WARM_UP,
	OPTION_WORKLOAD,
	OPTION_READY,
	OPTION_SETTLE,
	OPTION_STOP_SIGNAL,
	OPTION_ABOVE,
	OPTION_HTML,
	OPTION_COUNT,
	OPTION_OUTPUT_DIR,
	OPTION_CALLS_ONLY, /* counting options start here … */
	OPTION_ITERATIONS,
	OPTION_CHECK,
	OPTION_TEST,
	OPTION_UPDATE,
	OPTION_SCALE,
	OPTION_SIZES,
	OPTION_MAX_EXPONENT,
	OPTION_PROBE,
	OPTION_STACKS,
	OPTION_SAMPLE,
	OPTION_LIVE,
	OPTION_RECORD,
	OPTION_REPLAY, /* … and end here */
	OPTION_METRIC,
	OPTION_MIN,
	OPTION_TRANSFORM,
	OPTION_TRANSFORMS,
	OPTION_FOLDED,
	OPTION_SPEEDSCOPE,
	OPTION_FLAME_GRAPH,
	OPTION_DEPTH,
	OPTION_DIFF_MIN,
	OPTION_DIFF_FAIL_ABOVE,
	OPTION_KEEP_GENERICS,
	OPTION_RECORD_SAMPLES,
	OPTION_KEEP,
	OPTION_REPLAY_SAMPLES,
	OPTION_AT,
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_COUNT_
};

/* A row of the table. The scopes are defined in cmd/core/options.h. */
struct option_row {
	char letter; /* 0: no short option */
	const char *name;
	const char *arg; /* NULL: takes no argument */
	unsigned int scope;
	const char *help;
};

extern const struct option_row option_rows[OPTION_COUNT_];

/* Append the aligned options of this scope (enum option_scope), for --help. */
void options_add_help(unsigned int scope, struct strbuf *out);

#endif
