/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/option.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/core/message.h"
#include "cmd/core/options.h"

#define MEMBER(member) offsetof(struct options, member)

/*
 * Add the targets in a list such as "1,sshd,3". A target that consists of digits is a
 * pid; any other is a name.
 */
static int add_targets(const struct option_row *row, char *list, struct options *o)
{
	struct targets *t = &o->targets;
	char *part;
	int pid;

	(void)row;
	while ((part = strsep(&list, ","))) {
		if (part[0] == '\0') {
			message_usage(o->verb, "-p: an empty pid or name");
			return -ECANCELED;
		}
		if (part[strspn(part, "0123456789")] != '\0') {
			t->names = xgrow(t->names, &o->name_capacity, t->name_count + 1,
					 sizeof(*t->names));
			t->names[t->name_count++] = part;
			continue;
		}
		if (num_parse_pid(part, &pid) < 0) {
			message_usage(o->verb, "-p: '%s' is not a process id", part);
			return -ECANCELED;
		}
		t->pids = xgrow(t->pids, &o->pid_capacity, t->pid_count + 1,
				sizeof(*t->pids));
		t->pids[t->pid_count++] = (struct target_pid){ .pid = pid };
	}
	return 0;
}

static int set_format(struct options *o, enum format format)
{
	if (o->format != FORMAT_AUTO && o->format != format) {
		message_usage(o->verb, "--text, --csv and --json exclude each other");
		return -ECANCELED;
	}
	o->format = format;
	return 0;
}

static int set_text(const struct option_row *row, char *arg, struct options *o)
{
	(void)row, (void)arg;
	return set_format(o, FORMAT_TEXT);
}

static int set_csv(const struct option_row *row, char *arg, struct options *o)
{
	(void)row, (void)arg;
	return set_format(o, FORMAT_CSV);
}

static int set_json(const struct option_row *row, char *arg, struct options *o)
{
	(void)row, (void)arg;
	return set_format(o, FORMAT_JSON);
}

static int set_max_share(const struct option_row *row, char *arg, struct options *o)
{
	uint64_t thousandths;

	(void)row;
	if (num_parse_thousandths(arg, &thousandths) < 0 || thousandths < 100 ||
	    thousandths > 100000)
		return -EINVAL;
	o->max_share_per_mille = (unsigned int)(thousandths / 100);
	return 0;
}

int option_set_heap(const struct option_row *row, char *arg, struct options *o)
{
	static const char *const modes[] = {
		[HEAP_AUTO] = "auto",
		[HEAP_WALK] = "walk",
		[HEAP_HELPER] = "helper",
		[HEAP_OFF] = "off",
	};

	(void)row;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(arg, modes[i]) == 0) {
			o->heap = (enum heap_mode)i;
			return 0;
		}
	return -EINVAL;
}

static int set_keep(const struct option_row *row, char *arg, struct options *o)
{
	(void)row;
	if (units_parse_bytes(arg, &o->recording.keep.bytes) == 0 ||
	    units_parse_duration(arg, &o->recording.keep.ns) == 0)
		return 0;
	return -EINVAL;
}

static int set_metric(const struct option_row *row, char *arg, struct options *o)
{
	(void)row;
	return profile_metric_find(arg, &o->stacks.metric);
}

/*
 * Store a rule unparsed. Rules are parsed after all files with sets of rules have
 * been found.
 */
static int add_rule(struct stacks_options *stacks, const char *arg, bool is_file)
{
	stacks->rules = xgrow(stacks->rules, &stacks->rule_capacity,
			      stacks->rule_count + 1, sizeof(*stacks->rules));
	stacks->rules[stacks->rule_count++] = (struct stacks_rule){ is_file, arg };
	return 0;
}

static int add_transform(const struct option_row *row, char *arg, struct options *o)
{
	(void)row;
	return add_rule(&o->stacks, arg, false);
}

static int add_transforms(const struct option_row *row, char *arg, struct options *o)
{
	(void)row;
	return add_rule(&o->stacks, arg, true);
}

/* The options that several commands share. */
static const struct option_row shared_rows[] = {
	{ 'p', "pid", "PID|NAME[,...]",
	  "these processes, by id or by name; may be repeated", .set = add_targets },
	{ 0, "cgroup", "PATH|ID",
	  "this group: its folder, its path, or 12 or more digits of its container's id",
	  .set = option_set_word, .value = MEMBER(cgroup) },
	{ 't', "tree", NULL, "their children too, and theirs",
	  .flag = MEMBER(targets.with_children) },
	{ 0, "text", NULL, "one report, then end", .set = set_text },
	{ 0, "csv", NULL, "CSV, RFC 4180", .set = set_csv },
	{ 'J', "json", NULL, "JSON, one object per line", .set = set_json },
	{ 'i', "interval", "T",
	  "time between samples: 500ms, 2s, 1m; a bare number is seconds (default 1)",
	  .flag = MEMBER(has_interval), .set = option_set_duration,
	  .value = MEMBER(interval_ns), .min = NS_PER_MS,
	  .want = "a time of 1ms or more, as 500ms, 2s or 1m" },
	{ 'n', "samples", "N",
	  "end after N samples (default: when the target ends, or ^C)",
	  .set = option_set_number, .value = MEMBER(sample_count), .min = 1,
	  .want = "a number from 1" },
	{ 'o', "output", "COL[,...]",
	  "these columns; +COL[,...] adds to the default ones", .set = option_set_word,
	  .value = MEMBER(output) },
	{ 0, "output-all", NULL, "every column", .flag = MEMBER(output_all) },
	{ 0, "list-columns", NULL, "say what columns there are",
	  .flag = MEMBER(list_columns) },
	{ 0, "no-headings", NULL, "leave the line of headings out",
	  .flag = MEMBER(no_headings) },
	{ 'b', "bytes", NULL, "exact bytes instead of 1.5M",
	  .flag = MEMBER(exact_bytes) },
	{ 's', "sort", "[-]COL", "sort by a column; - for the other direction",
	  .set = option_set_word, .value = MEMBER(sort) },
	{ 0, "top", "N", "so many lines of each list (default 10; all in CSV and JSON)",
	  .set = option_set_number, .value = MEMBER(top), .min = 1,
	  .want = "a number from 1" },
	{ 0, "max-share", "PERCENT",
	  "most of the time that reading may keep a target's memory map busy "
	  "(default 2; 100 never slows down)",
	  .set = set_max_share, .want = "a percentage from 0.1 to 100" },
	{ 0, "procfs", "DIR", "a captured tree, or another mount of /proc",
	  .set = option_set_word, .value = MEMBER(procfs_root) },
	{ 0, "max-pause", "T",
	  "the longest that the process may stand still (default 1s)",
	  .set = option_set_duration, .value = MEMBER(max_pause_ns),
	  .want = "a time, as 500ms or 2s" },
	{ 0, "no-stop", NULL,
	  "read the heap while the process runs: it is never stopped, and figures "
	  "are approximate",
	  .flag = MEMBER(no_stop) },
	{ 0, "allow-stall", NULL,
	  "with --heap helper: ask even if that keeps the process from allocating "
	  "for long",
	  .flag = MEMBER(allow_stall) },
	{ 0, "record", "FILE",
	  "save the samples too, to be shown again with --replay; goes on where a "
	  "recording ended",
	  .set = option_set_word, .value = MEMBER(recording.record) },
	{ 0, "keep", "T|BYTES",
	  "of --record, keep the last 1h, or so much as fits in 200M; the oldest "
	  "samples go first",
	  .set = set_keep, .needs = "record",
	  .want = "a time as 90s, 1h or 1d, or bytes as 64M or 1G" },
	{ 0, "replay", "FILE", "show what is in this recording, instead of what runs",
	  .set = option_set_word, .value = MEMBER(recording.replay) },
	{ 0, "at", "TIME",
	  "of --replay, that moment (default the last one): 2026-11-21T08:15:30Z, "
	  "+90s after the first one, or -5m before the last one",
	  .set = option_set_word, .value = MEMBER(recording.at), .needs = "replay" },
	{ 0, "metric", "NAME",
	  "of stacks, what is shown: allocations (default), bytes (default of "
	  "samples), temporary, live_blocks, live or peak (defaults of --live)",
	  .flag = MEMBER(stacks.has_metric), .set = set_metric,
	  .want = "allocations, bytes, temporary, live_blocks, live or peak" },
	{ 0, "transform", "RULE",
	  "change the stacks: 'filter RE', 'remove RE', 'replace RE => TEXT', 'hide "
	  "RE', 'from RE', 'to RE', or a set of such rules: A, allocation wrappers, "
	  "or short, names; may be repeated",
	  .set = add_transform },
	{ 0, "transforms", "FILE",
	  "the rules in this file, and the sets in it by their names; may be repeated",
	  .set = add_transforms },
	{ 0, "flame-graph", "FILE",
	  "draw the stacks too, as a picture (FILE.svg) or as a page in which they "
	  "can be searched and changed (FILE.html)",
	  .set = option_set_word, .value = MEMBER(stacks.flame_graph) },
	{ 'h', "help", NULL, "say this, then end", .flag = MEMBER(help) },
	{ 'V', "version", NULL, "say the version, then end", .flag = MEMBER(version) },
};

const struct option_row *option_find_shared(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(shared_rows) / sizeof(shared_rows[0]); i++)
		if (strncmp(shared_rows[i].name, name, length) == 0 &&
		    shared_rows[i].name[length] == '\0')
			return &shared_rows[i];
	return NULL;
}
