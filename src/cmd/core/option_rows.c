/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/option_rows.h"

#include "base/text.h"
#include "cmd/core/options.h"

const struct option_row option_rows[OPTION_COUNT_] = {
	[OPTION_PID] = { 'p', "pid", "PID|NAME[,...]",
			 SCOPE_PROCESSES | SCOPE_COUNT | SCOPE_DIFF,
			 "these processes, by id or by name; may be repeated" },
	[OPTION_CGROUP] = { 0, "cgroup", "PATH|ID", SCOPE_WATCH | SCOPE_OOM,
			    "this group: its folder, its path, or 12 or more digits of its "
			    "container's id" },
	[OPTION_KMSG] = { 0, "kmsg", "FILE", SCOPE_OOM,
			  "of oom explain: the kernel's log as dmesg, journalctl -k or a syslog have "
			  "it; - is standard input (default /dev/kmsg)" },
	[OPTION_ARM] = { 0, "arm", "high|freeze|trace", SCOPE_OOM,
			 "of oom watch: keep a victim for a moment, so that it can be read: slow the "
			 "group down below its limit (version 2), freeze it there (version 1), or "
			 "trace its processes; put back at the end" },
	[OPTION_YES] = { 0, "yes", NULL, SCOPE_OOM, "do not ask before --arm" },
	[OPTION_TREE] = { 't', "tree", NULL,
			  SCOPE_WATCH | SCOPE_CAPTURE | SCOPE_COUNT | SCOPE_DIFF,
			  "their children too, and theirs" },
	[OPTION_TEXT] = { 0, "text", NULL,
			  SCOPE_WATCH | SCOPE_HEAP | SCOPE_LEAKS | SCOPE_EXPLAIN |
				  SCOPE_COUNT | SCOPE_OOM | SCOPE_DIFF,
			  "one report, then end" },
	[OPTION_CSV] = { 0, "csv", NULL,
			 SCOPE_WATCH | SCOPE_MAP | SCOPE_HEAP | SCOPE_LEAKS |
				 SCOPE_COUNT | SCOPE_OOM | SCOPE_DIFF,
			 "CSV, RFC 4180" },
	[OPTION_JSON] = { 'J', "json", NULL,
			  SCOPE_WATCH | SCOPE_MAP | SCOPE_DOCTOR | SCOPE_HEAP |
				  SCOPE_LEAKS | SCOPE_EXPLAIN | SCOPE_COUNT | SCOPE_OOM |
				  SCOPE_DIFF,
			  "JSON, one line per sample" },
	[OPTION_INTERVAL] = { 'i', "interval", "T", SCOPE_WATCH | SCOPE_COUNT | SCOPE_OOM,
			      "time between samples: 500ms, 2s, 1m; a bare number is seconds "
			      "(default 1)" },
	[OPTION_SAMPLES] = { 'n', "samples", "N", SCOPE_WATCH | SCOPE_OOM | SCOPE_COUNT,
			     "end after N samples (default: when the target ends, or ^C)" },
	[OPTION_OUTPUT] = { 'o', "output", "COL[,...]",
			    SCOPE_WATCH | SCOPE_MAP | SCOPE_COUNT | SCOPE_OOM,
			    "these columns; +COL[,...] adds to the default ones" },
	[OPTION_OUTPUT_ALL] = { 0, "output-all", NULL,
				SCOPE_WATCH | SCOPE_MAP | SCOPE_COUNT | SCOPE_OOM,
				"every column" },
	[OPTION_LIST_COLUMNS] = { 0, "list-columns", NULL,
				  SCOPE_WATCH | SCOPE_MAP | SCOPE_COUNT | SCOPE_OOM,
				  "say what columns there are" },
	[OPTION_NO_HEADINGS] = { 0, "no-headings", NULL,
				 SCOPE_WATCH | SCOPE_MAP | SCOPE_HEAP | SCOPE_COUNT |
					 SCOPE_OOM | SCOPE_DIFF,
				 "leave the line of headings out" },
	[OPTION_BYTES] = { 'b', "bytes", NULL,
			   SCOPE_WATCH | SCOPE_MAP | SCOPE_HEAP | SCOPE_LEAKS |
				   SCOPE_COUNT | SCOPE_OOM | SCOPE_DIFF,
			   "exact bytes instead of 1.5M" },
	[OPTION_SORT] = { 's', "sort", "[-]COL", SCOPE_WATCH | SCOPE_MAP,
			  "sort by a column; - for the other direction" },
	[OPTION_TOP] = { 0, "top", "N",
			 SCOPE_HEAP | SCOPE_LEAKS | SCOPE_COUNT | SCOPE_OOM | SCOPE_DIFF,
			 "so many lines of each list (default 10; all in CSV and JSON)" },
	[OPTION_MAX_SHARE] = { 0, "max-share", "PERCENT", SCOPE_WATCH | SCOPE_OOM,
			       "most of the time that reading may keep a target's memory map busy "
			       "(default 2; 100 never slows down)" },
	[OPTION_PROCFS] = { 0, "procfs", "DIR", SCOPE_PROCESSES,
			    "a captured tree, or another mount of /proc" },
	[OPTION_REDACT] = { 0, "redact", NULL, SCOPE_CAPTURE,
			    "hide the paths of files and the command lines" },
	[OPTION_HEAP] = { 0, "heap", "auto|walk|helper|off", SCOPE_WATCH | SCOPE_HEAP,
			  "read the heaps of processes that were named; each is stopped while its "
			  "memory is copied (default auto: where that may be done); helper: ask the "
			  "allocator too, by a thread that is put into the process, or started with "
			  "COMMAND" },
	[OPTION_MAX_PAUSE] = { 0, "max-pause", "T",
			       SCOPE_WATCH | SCOPE_HEAP | SCOPE_LEAKS | SCOPE_EXPLAIN,
			       "leave the heap unread if that would stop the process for longer "
			       "(default 1s; 250ms with --heap auto)" },
	[OPTION_NO_STOP] = { 0, "no-stop", NULL, SCOPE_WATCH | SCOPE_HEAP,
			     "read the heap while the process runs: it is never stopped, and "
			     "figures are approximate" },
	[OPTION_ALLOW_STALL] = { 0, "allow-stall", NULL, SCOPE_WATCH | SCOPE_HEAP,
				 "with --heap helper: ask even if that keeps the process from "
				 "allocating for long" },
	[OPTION_MALLOC_INFO] = { 0, "malloc-info", NULL, SCOPE_HEAP,
				 "with --heap helper: the allocator's own report too, as "
				 "malloc_info(3) makes it" },
	[OPTION_FAIL_ABOVE] = { 0, "fail-above", "N|BYTES", SCOPE_LEAKS,
				"end with status 4 if more is leaked than N blocks, or than BYTES: "
				"a number with B, K, M or G; may be repeated, for both" },
	[OPTION_SNAPSHOT] = { 0, "snapshot", "FILE", SCOPE_LEAKS,
			      "write down which blocks there are, for a later --since" },
	[OPTION_SINCE] = { 0, "since", "FILE", SCOPE_LEAKS,
			   "show the blocks too that are new since that snapshot, and reachable" },
	[OPTION_PRELOAD] = { 0, "preload", "ALLOCATOR[:NAME=VALUE...][,...]",
			     SCOPE_WATCH | SCOPE_COUNT,
			     "run the command with this allocator: glibc, jemalloc, tcmalloc, "
			     "tcmalloc_minimal, mimalloc, or a path; with each of several, and "
			     "compare" },
	[OPTION_RUNS] = { 0, "runs", "N", SCOPE_WATCH | SCOPE_COUNT,
			  "compare N runs under each allocator (default 3)" },
	[OPTION_WARM_UP] = { 0, "warm-up", "N", SCOPE_WATCH | SCOPE_COUNT,
			     "N more before them that do not count (default 0)" },
	[OPTION_WORKLOAD] = { 0, "workload", "SCRIPT", SCOPE_WATCH,
			      "the command is a server: once it is idle run this shell script against it, "
			      "let it settle, then end it" },
	[OPTION_READY] = { 0, "ready", "T", SCOPE_WATCH,
			   "begin the workload T after the command (default: when it has been idle "
			   "for 200ms)" },
	[OPTION_SETTLE] = { 0, "settle", "T", SCOPE_WATCH,
			    "how long it is left idle after the workload (default 5s)" },
	[OPTION_STOP_SIGNAL] = { 0, "stop-signal", "SIGNAL", SCOPE_WATCH,
				 "what ends it then (default TERM); KILL 10s later" },
	[OPTION_ABOVE] = { 0, "above", "SIZE", SCOPE_WATCH,
			   "compare for how long Rss was above this, as 512M or 2G" },
	[OPTION_HTML] = { 0, "html", "FILE", SCOPE_WATCH | SCOPE_OOM,
			  "write the comparison too, all of --replay, or the kills of a log (oom explain), as one "
			  "page of HTML" },
	[OPTION_COUNT] = { 0, "count", NULL, SCOPE_WATCH,
			   "one more run under each allocator, in which allocations are counted" },
	[OPTION_OUTPUT_DIR] = { 0, "output-dir", "DIR", SCOPE_WATCH,
				"keep what each run writes, in a folder for each in this new or empty one" },
	[OPTION_CALLS_ONLY] = { 0, "calls-only", NULL, SCOPE_COUNT,
				"count calls and requested bytes, and nothing else: it slows the "
				"command down less" },
	[OPTION_ITERATIONS] = { 0, "iterations", "K", SCOPE_COUNT,
				"a run does the same work K times: show, and check, what one of them "
				"has" },
	[OPTION_CHECK] = { 0, "check", "FILE", SCOPE_COUNT,
			   "hold runs against the limits in this file: end with status 4 if one is "
			   "broken, with 125 if that cannot be told" },
	[OPTION_TEST] = { 0, "test", "NAME", SCOPE_COUNT,
			  "the limits of that name in the file (default: the program's name)" },
	[OPTION_UPDATE] = { 0, "update", NULL, SCOPE_COUNT,
			    "set the limits to what the runs have, and add what is missing" },
	[OPTION_SCALE] = { 0, "scale", "COMMAND", SCOPE_COUNT,
			   "run this shell command with each of --sizes in place of {N}, and say how "
			   "what it allocates grows with it" },
	[OPTION_SIZES] = { 0, "sizes", "N[,...]", SCOPE_COUNT,
			   "sizes of --scale, 4 or more" },
	[OPTION_MAX_EXPONENT] = { 0, "max-exponent", "X", SCOPE_COUNT,
				  "of --scale: end with status 4 if something grows faster than with "
				  "the size to this power" },
	[OPTION_PROBE] = { 0, "probe", "auto|inject|bpf|perf", SCOPE_COUNT,
			   "with -p: how the process is counted: by a probe that is put into it, "
			   "or by breakpoints at which the kernel counts, with BPF or without "
			   "(default auto: the first of these that can be had)" },
	[OPTION_STACKS] = { 0, "stacks", NULL, SCOPE_COUNT,
			    "by the stack that each allocation is made from: functions, those that "
			    "were compiled into others too, with their source lines" },
	[OPTION_SAMPLE] = { 0, "sample", "BYTES", SCOPE_COUNT,
			    "the stack of one allocation of so many bytes, chosen at random, and "
			    "estimates of all: at next to no cost with 512K" },
	[OPTION_LIVE] = { 0, "live", NULL, SCOPE_COUNT,
			  "by stacks, and of each what is not freed, and what it had when all had "
			  "most" },
	[OPTION_RECORD] = { 0, "record", "FILE", SCOPE_COUNT,
			    "save the allocations by stacks, as pprof reads them (gzipped "
			    "profile.proto)" },
	[OPTION_REPLAY] = { 0, "replay", "FILE", SCOPE_COUNT,
			    "show the allocations by stacks that are in this file, of pprof or as "
			    "lines of folded stacks, instead of counting" },
	[OPTION_METRIC] = { 0, "metric", "NAME", SCOPE_COUNT | SCOPE_DIFF,
			    "of stacks, what is shown: allocations (default), bytes (default of "
			    "samples), temporary, live_blocks, live or peak (defaults of --live)" },
	[OPTION_MIN] = { 0, "min", "PERCENT", SCOPE_COUNT,
			 "of functions and stacks, what has a smaller share is not shown "
			 "(default 1; 0 in CSV and JSON)" },
	[OPTION_TRANSFORM] = { 0, "transform", "RULE", SCOPE_COUNT | SCOPE_DIFF,
			       "change the stacks: 'filter RE', 'remove RE', 'replace RE => TEXT', "
			       "'hide RE', 'from RE', 'to RE', or a set of such rules: A, allocation "
			       "wrappers, or short, names; may be repeated" },
	[OPTION_TRANSFORMS] = { 0, "transforms", "FILE", SCOPE_COUNT | SCOPE_DIFF,
				"the rules in this file, and the sets in it by their names; may be "
				"repeated" },
	[OPTION_FOLDED] = { 0, "folded", "FILE", SCOPE_COUNT,
			    "write the stacks as lines too, as flamegraph.pl reads them; - is "
			    "standard output, instead of the report" },
	[OPTION_SPEEDSCOPE] = { 0, "speedscope", "FILE", SCOPE_COUNT,
				"write them as speedscope's JSON, likewise" },
	[OPTION_FLAME_GRAPH] = { 0, "flame-graph", "FILE", SCOPE_COUNT | SCOPE_DIFF,
				 "draw the stacks too, as a picture (FILE.svg) or as a page in which "
				 "they can be searched and changed (FILE.html)" },
	[OPTION_DEPTH] = { 0, "depth", "N", SCOPE_DIFF,
			   "stacks are the same if their N innermost functions are (default 8; 0: all)" },
	[OPTION_DIFF_MIN] = { 0, "min", "N|BYTES", SCOPE_DIFF,
			      "list stacks that have more than that in one of both (default 1000); "
			      "the others are summed" },
	[OPTION_DIFF_FAIL_ABOVE] = { 0, "fail-above", "N|BYTES", SCOPE_DIFF,
				     "end with status 4 if all together, or a stack, has grown by more" },
	[OPTION_KEEP_GENERICS] = { 0, "keep-generics", NULL, SCOPE_DIFF,
				   "functions that a template or a generic was made into are "
				   "different ones (default: one)" },
	[OPTION_RECORD_SAMPLES] = { 0, "record", "FILE", SCOPE_WATCH | SCOPE_OOM,
				    "save the samples too, to be shown again with --replay; goes on "
				    "where a recording ended; of oom explain, the recording to read" },
	[OPTION_KEEP] = { 0, "keep", "T|BYTES", SCOPE_WATCH | SCOPE_OOM,
			  "of --record, keep the last 1h, or so much as fits in 200M; the oldest "
			  "samples go first" },
	[OPTION_REPLAY_SAMPLES] = { 0, "replay", "FILE", SCOPE_WATCH | SCOPE_OOM,
				    "show what is in this recording, instead of what runs" },
	[OPTION_AT] = { 0, "at", "TIME", SCOPE_WATCH | SCOPE_OOM,
			"of --replay, that moment (default the last one): 2026-11-21T08:15:30Z, "
			"+90s after the first one, or -5m before the last one" },
	[OPTION_HELP] = { 'h', "help", NULL, SCOPE_ALL, "say this, then end" },
	[OPTION_VERSION] = { 'V', "version", NULL, SCOPE_ALL,
			     "say the version, then end" },
};

static const char verb_preload_help[] =
	"run the command with this allocator: glibc, jemalloc, tcmalloc, tcmalloc_minimal, "
	"mimalloc, or a path";
static const char verb_heap_help[] =
	"where figures come from: the memory, copied while the process stands still "
	"(auto, walk); or that and the allocator itself, which a thread that is put "
	"into the process asks (helper)";
static const char verb_runs_help[] =
	"count N runs, one after the other, and show in what they differ (default 3 with --check, "
	"1 of each size with --scale)";

/* Help texts that differ for verbs, which print no series. */
static const char *const verb_helps[OPTION_COUNT_] = {
	[OPTION_JSON] = "JSON, one object per line",
	[OPTION_PRELOAD] = verb_preload_help,
	[OPTION_HEAP] = verb_heap_help,
	[OPTION_RUNS] = verb_runs_help,
	[OPTION_MAX_PAUSE] = "the longest that the process may stand still (default 1s)",
};

/* Return the help for an option of a command with this scope. */
static const char *help_of(int option, unsigned int scope)
{
	return verb_helps[option] && !(scope & SCOPE_WATCH) ? verb_helps[option]
							    : option_rows[option].help;
}

void options_add_help(unsigned int scope, struct strbuf *out)
{
	const size_t indent = 30;

	for (int id = 0; id < OPTION_COUNT_; id++) {
		const struct option_row *row = &option_rows[id];
		size_t begin = out->length;

		if (!(row->scope & scope))
			continue;
		if (row->letter)
			strbuf_addf(out, "  -%c, --%s", row->letter, row->name);
		else
			strbuf_addf(out, "      --%s", row->name);
		if (row->arg)
			strbuf_addf(out, " %s", row->arg);
		if (out->length - begin > indent - 2) {
			strbuf_add_char(out, '\n');
			strbuf_add_repeat(out, " ", indent);
		} else {
			strbuf_add_repeat(out, " ", indent - (out->length - begin));
		}
		text_add_wrapped(out, help_of(id, scope), indent, 80);
	}
}
