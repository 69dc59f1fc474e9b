/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/options.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/option_rows.h"
#include "cmd/core/options_count.h"

#define RUNS_MAX 1000

#define COMPARE_DEFAULTS                                                           \
	{                                                                          \
		.run_count = 3, .settle_ns = 5 * NS_PER_S, .stop_signal = SIGTERM, \
		.above_bytes = BYTES_UNKNOWN,                                      \
	}

/* Signals for --stop-signal that end programs. */
static const struct {
	const char *name;
	int number;
} signal_names[] = {
	{ "HUP", SIGHUP },   { "INT", SIGINT },	  { "QUIT", SIGQUIT },
	{ "KILL", SIGKILL }, { "USR1", SIGUSR1 }, { "USR2", SIGUSR2 },
	{ "TERM", SIGTERM }, { "ALRM", SIGALRM },
};

/* getopt value of an option without a letter: LONG_ONLY + its id */
#define LONG_ONLY 0x100

static void build_getopt(unsigned int scope, struct option longs[OPTION_COUNT_ + 1],
			 char letters[1 + 2 * OPTION_COUNT_ + 1])
{
	size_t count = 0;

	*letters++ = ':';
	for (int id = 0; id < OPTION_COUNT_; id++) {
		const struct option_row *row = &option_rows[id];

		if (!(row->scope & scope))
			continue;
		longs[count++] = (struct option){
			.name = row->name,
			.has_arg = row->arg ? required_argument : no_argument,
			.val = LONG_ONLY + id,
		};
		if (row->letter)
			*letters++ = row->letter;
		if (row->letter && row->arg)
			*letters++ = ':';
	}
	longs[count] = (struct option){ 0 };
	*letters = '\0';
}

static int find_id(int value)
{
	if (value >= LONG_ONLY)
		return value - LONG_ONLY;
	for (int id = 0; id < OPTION_COUNT_; id++)
		if (option_rows[id].letter == value)
			return id;
	return -1;
}

static void add_pid(struct options *o, int pid)
{
	struct targets *t = &o->targets;

	t->pids = xgrow(t->pids, &o->pid_capacity, t->pid_count + 1, sizeof(*t->pids));
	t->pids[t->pid_count++] = (struct target_pid){ .pid = pid };
}

static void add_name(struct options *o, char *name)
{
	struct targets *t = &o->targets;

	t->names =
		xgrow(t->names, &o->name_capacity, t->name_count + 1, sizeof(*t->names));
	t->names[t->name_count++] = name;
}

/*
 * Add the targets in a list such as "1,sshd,3". Digits are a pid,
 * anything else is a name.
 */
static int add_targets(const struct cmd *cmd, char *list, struct options *o)
{
	char *part;

	while ((part = strsep(&list, ","))) {
		int pid;

		if (part[0] == '\0') {
			message_usage(cmd->name, "-p: an empty pid or name");
			return -EINVAL;
		}
		if (part[strspn(part, "0123456789")] != '\0') {
			add_name(o, part);
			continue;
		}
		if (num_parse_pid(part, &pid) < 0) {
			message_usage(cmd->name, "-p: '%s' is not a process id", part);
			return -EINVAL;
		}
		add_pid(o, pid);
	}
	return 0;
}

static int set_format(const struct cmd *cmd, struct options *o, enum format format)
{
	if (o->format != FORMAT_AUTO && o->format != format) {
		message_usage(cmd->name, "--text, --csv and --json exclude each other");
		return -EINVAL;
	}
	o->format = format;
	return 0;
}

static int refuse(const struct cmd *cmd, int id, const char *arg, const char *want)
{
	message_usage(cmd->name, "--%s: '%s' is not %s", option_rows[id].name, arg, want);
	return -EINVAL;
}

/* Return the member for a flag without argument, or NULL. */
static bool *find_flag(struct options *o, enum option_id id)
{
	switch (id) {
	case OPTION_TREE: return &o->targets.with_children;
	case OPTION_OUTPUT_ALL: return &o->output_all;
	case OPTION_LIST_COLUMNS: return &o->list_columns;
	case OPTION_NO_HEADINGS: return &o->no_headings;
	case OPTION_BYTES: return &o->exact_bytes;
	case OPTION_REDACT: return &o->redact;
	case OPTION_NO_STOP: return &o->no_stop;
	case OPTION_COUNT: return &o->compare.count;
	case OPTION_ALLOW_STALL: return &o->allow_stall;
	case OPTION_MALLOC_INFO: return &o->malloc_info;
	case OPTION_YES: return &o->yes;
	case OPTION_HELP: return &o->help;
	case OPTION_VERSION: return &o->version;
	case OPTION_KEEP_GENERICS: return &o->diff.keeps_generics;
	default: return options_count_flag(&o->count, id);
	}
}

static int set_heap(const struct cmd *cmd, const char *arg, struct options *o)
{
	static const char *const modes[] = {
		[HEAP_AUTO] = "auto",
		[HEAP_WALK] = "walk",
		[HEAP_HELPER] = "helper",
		[HEAP_OFF] = "off",
	};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(arg, modes[i]) == 0) {
			o->heap = (enum heap_mode)i;
			return 0;
		}
	return refuse(cmd, OPTION_HEAP, arg, "auto, walk, helper or off");
}

static int set_keep(const struct cmd *cmd, const char *arg, struct recording_bounds *keep)
{
	if (units_parse_bytes(arg, &keep->bytes) == 0 ||
	    units_parse_duration(arg, &keep->ns) == 0)
		return 0;
	return refuse(cmd, OPTION_KEEP, arg,
		      "a time as 90s, 1h or 1d, or bytes as 64M or 1G");
}

static int set_limit(const struct cmd *cmd, const char *arg, struct options *o)
{
	if (num_parse_u64(arg, &o->block_limit) == 0)
		o->has_block_limit = true;
	else if (units_parse_bytes(arg, &o->byte_limit) == 0)
		o->has_byte_limit = true;
	else
		return refuse(cmd, OPTION_FAIL_ABOVE, arg,
			      "a number of blocks, or bytes as 512B, 64K, 1.5M or 2G");
	return 0;
}

static int set_metric(const struct cmd *cmd, const char *arg, struct options *o)
{
	o->has_metric = true;
	if (profile_metric_find(arg, &o->metric) < 0)
		return refuse(cmd, OPTION_METRIC, arg,
			      "allocations, bytes, temporary, live_blocks, live or peak");
	return 0;
}

/* Return the member for an option whose argument is stored unparsed, or NULL. */
static const char **find_word(struct options *o, enum option_id id)
{
	switch (id) {
	case OPTION_OUTPUT: return &o->output;
	case OPTION_SORT: return &o->sort;
	case OPTION_SNAPSHOT: return &o->snapshot;
	case OPTION_SINCE: return &o->since;
	case OPTION_PROCFS: return &o->procfs_root;
	case OPTION_PRELOAD: return &o->preload;
	case OPTION_CGROUP: return &o->cgroup;
	case OPTION_KMSG: return &o->kmsg;
	case OPTION_ARM: return &o->arm;
	case OPTION_WORKLOAD: return &o->compare.workload;
	case OPTION_HTML: return &o->compare.html;
	case OPTION_OUTPUT_DIR: return &o->compare.output_dir;
	case OPTION_FLAME_GRAPH: return &o->flame_graph;
	case OPTION_RECORD_SAMPLES: return &o->recording.record;
	case OPTION_REPLAY_SAMPLES: return &o->recording.replay;
	case OPTION_AT: return &o->recording.at;
	case OPTION_DEPTH: return &o->diff.depth;
	case OPTION_DIFF_MIN: return &o->diff.minimum;
	case OPTION_DIFF_FAIL_ABOVE: return &o->diff.fail_above;
	default: return options_count_word(&o->count, id);
	}
}

/* Parse "TERM", "SIGTERM" or "15". */
static int parse_signal(const char *text, int *ret)
{
	uint64_t number;

	if (num_parse_u64(text, &number) == 0) {
		if (number == 0 || number > (uint64_t)SIGRTMAX)
			return -ERANGE;
		*ret = (int)number;
		return 0;
	}
	if (strncmp(text, "SIG", 3) == 0)
		text += 3;
	for (size_t i = 0; i < sizeof(signal_names) / sizeof(signal_names[0]); i++)
		if (strcmp(signal_names[i].name, text) == 0) {
			*ret = signal_names[i].number;
			return 0;
		}
	return -EINVAL;
}

/*
 * Set an option of --preload with several allocators, except those that
 * find_word() handles.
 */
static int set_compare(const struct cmd *cmd, int id, const char *arg,
		       struct compare_options *c)
{
	switch ((enum option_id)id) {
	case OPTION_RUNS:
		c->has_run_count = true;
		if (num_parse_u64(arg, &c->run_count) < 0 || c->run_count == 0 ||
		    c->run_count > RUNS_MAX)
			return refuse(cmd, id, arg, "a number from 1 to 1000");
		return 0;
	case OPTION_WARM_UP:
		if (num_parse_u64(arg, &c->warm_up_count) < 0 ||
		    c->warm_up_count > RUNS_MAX)
			return refuse(cmd, id, arg, "a number from 0 to 1000");
		return 0;
	case OPTION_READY:
		c->has_ready = true;
		if (units_parse_duration(arg, &c->ready_ns) < 0)
			return refuse(cmd, id, arg, "a time, as 500ms or 2s");
		return 0;
	case OPTION_SETTLE:
		c->has_settle = true;
		if (units_parse_duration(arg, &c->settle_ns) < 0)
			return refuse(cmd, id, arg, "a time, as 500ms or 2s");
		return 0;
	case OPTION_STOP_SIGNAL:
		c->has_stop_signal = true;
		if (parse_signal(arg, &c->stop_signal) < 0)
			return refuse(cmd, id, arg,
				      "a signal that ends programs, as TERM, INT or 15");
		return 0;
	case OPTION_ABOVE:
		if (units_parse_bytes(arg, &c->above_bytes) < 0)
			return refuse(cmd, id, arg, "bytes, as 64K, 512M or 2G");
		return 0;
	default: return -EINVAL;
	}
}

static bool is_compare_option(int id)
{
	return id >= OPTION_RUNS && id <= OPTION_OUTPUT_DIR;
}

/* Set a numeric option for counting or for a comparison. */
static int set_number(const struct cmd *cmd, int id, const char *arg, struct options *o)
{
	const char *want = NULL;

	if (options_count_value(&o->count, (enum option_id)id, arg, &want) == 0)
		return 0;
	return want ? refuse(cmd, id, arg, want) : set_compare(cmd, id, arg, &o->compare);
}

static int set_option(const struct cmd *cmd, int id, char *arg, struct options *o)
{
	bool *flag = find_flag(o, (enum option_id)id);
	const char **word = find_word(o, (enum option_id)id);
	uint64_t thousandths;

	if (is_compare_option(id))
		o->compare.first_said = option_rows[id].name;
	if (flag) {
		*flag = true;
		return 0;
	}
	if (word) {
		*word = arg;
		return 0;
	}
	switch ((enum option_id)id) {
	case OPTION_PID: return add_targets(cmd, arg, o);
	case OPTION_TEXT: return set_format(cmd, o, FORMAT_TEXT);
	case OPTION_CSV: return set_format(cmd, o, FORMAT_CSV);
	case OPTION_JSON: return set_format(cmd, o, FORMAT_JSON);
	case OPTION_INTERVAL:
		o->has_interval = true;
		if (units_parse_duration(arg, &o->interval_ns) < 0 ||
		    o->interval_ns < NS_PER_MS)
			return refuse(cmd, id, arg,
				      "a time of 1ms or more, as 500ms, 2s or 1m");
		return 0;
	case OPTION_SAMPLES:
		if (num_parse_u64(arg, &o->sample_count) < 0 || o->sample_count == 0)
			return refuse(cmd, id, arg, "a number from 1");
		return 0;
	case OPTION_TOP:
		if (num_parse_u64(arg, &o->top) < 0 || o->top == 0)
			return refuse(cmd, id, arg, "a number from 1");
		return 0;
	case OPTION_MAX_SHARE:
		if (num_parse_thousandths(arg, &thousandths) < 0 || thousandths < 100 ||
		    thousandths > 100000)
			return refuse(cmd, id, arg, "a percentage from 0.1 to 100");
		o->max_share_per_mille = (unsigned int)(thousandths / 100);
		return 0;
	case OPTION_HEAP: return set_heap(cmd, arg, o);
	case OPTION_KEEP: return set_keep(cmd, arg, &o->recording.keep);
	case OPTION_MAX_PAUSE:
		o->has_max_pause = true;
		if (units_parse_duration(arg, &o->max_pause_ns) < 0)
			return refuse(cmd, id, arg, "a time, as 500ms or 2s");
		return 0;
	case OPTION_FAIL_ABOVE: return set_limit(cmd, arg, o);
	case OPTION_METRIC: return set_metric(cmd, arg, o);
	default: return set_number(cmd, id, arg, o);
	}
}

static int parse_options(const struct cmd *cmd, int argc, char **argv, struct options *o)
{
	struct option longs[OPTION_COUNT_ + 1];
	char letters[1 + 2 * OPTION_COUNT_ + 1];
	int value, r;

	build_getopt(cmd->scope, longs, letters);
	opterr = 0;
	optind = 0; /* reset getopt's state from an earlier command line */
	while ((value = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (value == ':') {
			message_usage(cmd->name, "option '%s' wants an argument",
				      argv[optind - 1]);
			return -EINVAL;
		}
		if (value == '?') {
			if (optopt > 0 && optopt < LONG_ONLY)
				message_usage(cmd->name, "there is no option -%c here",
					      optopt);
			else if (optopt >= LONG_ONLY)
				message_usage(cmd->name, "option --%s takes no argument",
					      option_rows[optopt - LONG_ONLY].name);
			else
				message_usage(cmd->name, "there is no option '%s' here",
					      argv[optind - 1]);
			return -EINVAL;
		}
		r = set_option(cmd, find_id(value), optarg, o);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Return the index of "--", which precedes a command with options of its own; argc if
 * there is no "--".
 */
static int find_command(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return i;
	return argc;
}

static int set_command(const struct cmd *cmd, char **command, struct options *o)
{
	if (!cmd->takes_command) {
		message_usage(cmd->name, "'--': a command to run has no place here");
		return -EINVAL;
	}
	if (!command[0]) {
		message_usage(cmd->name, "'--' wants a command after it");
		return -EINVAL;
	}
	o->command = command;
	return 0;
}

int options_parse(const struct cmd *cmd, int argc, char **argv, struct options *ret)
{
	struct options o = {
		.verb = cmd->name,
		.interval_ns = NS_PER_S,
		.max_share_per_mille = 20,
		.max_pause_ns = NS_PER_S,
		.compare = COMPARE_DEFAULTS,
		.count.iterations = 1,
		.procfs_root = "/proc",
	};
	int own_argc = find_command(argc, argv);
	int r;

	r = parse_options(cmd, own_argc, argv, &o);
	if (r == 0 && own_argc < argc)
		r = set_command(cmd, argv + own_argc + 1, &o);
	if (r < 0) {
		options_release(&o);
		return r;
	}
	o.args = argv + optind;
	o.arg_count = own_argc - optind;
	*ret = o;
	return 0;
}

void options_release(struct options *o)
{
	free(o->count.rules);
	free(o->targets.pids);
	free(o->targets.names);
	o->targets.pids = NULL;
	o->targets.names = NULL;
}
