/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/heap/heap_conclusion.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/progress.h"
#include "cmd/core/stream.h"
#include "cmd/core/terminal.h"
#include "cmd/session/heaps.h"
#include "cmd/session/next.h"
#include "cmd/session/session.h"
#include "render/heap/leak_report.h"
#include "render/table/conclusion.h"
#include "sample/heap/leak_scan.h"
#include "store/capture/block_list.h"

struct leaks_options {
	struct options common;
	uint64_t block_limit, byte_limit; /* limits given with --fail-above */
	bool has_block_limit, has_byte_limit;
	/* names of the files from --snapshot and --since, or NULL */
	const char *snapshot, *since;
};

static const struct leaks_options *own_options(const struct options *o)
{
	return (const struct leaks_options *)o;
}

struct leaks {
	struct session *session;
	struct heap_reader reader;
	struct mapping_list mappings;
	struct heap heap;
	struct leak_scan scan;
	struct block_groups fresh;
	/* list of blocks from the file of --since; empty without --since */
	struct block_list since;
	struct strbuf out;
	struct next next;
	struct leaking_list leaking;
	bool is_above; /* true if a figure exceeds the limit of --fail-above */
	/* true if a figure is only a bound, so the limit may or may not be exceeded */
	bool is_bound;
};

/*
 * Find the new blocks: blocks that are not leaked and not in the list of --since. Both
 * lists are sorted by address, so they can be merged.
 */
static void find_fresh(struct leaks *l)
{
	struct block_list *since = &l->since;
	struct block_place place = { 0 };
	struct block block;
	bool has_old = block_list_next(since);

	while (blocks_next(&l->reader.blocks, &place, &block)) {
		struct leak leak = { .addr = block.addr, .bytes = block.bytes };

		if (block.state != BLOCK_LIVE ||
		    !bit_is_set(l->scan.mark.reached, block.bit))
			continue;
		while (has_old && since->addr < block.addr)
			has_old = block_list_next(since);
		if (has_old && since->addr == block.addr && since->bytes == block.bytes)
			continue;
		leak_scan_add(&l->reader, &l->scan, &l->fresh, &leak);
	}
}

static int save_snapshot(struct leaks *l, const struct usage *u)
{
	const char *path = own_options(l->session->options)->snapshot;
	struct block_list_writer writer = BLOCK_LIST_WRITER_INIT;
	struct block_list_head head = {
		.pid = u->process.pid,
		.start_ticks = u->process.start_ticks,
		.unix_ms = clock_unix_ms(),
	};
	struct block_place place = { 0 };
	struct block block;
	int r;

	while (blocks_next(&l->reader.blocks, &place, &block))
		if (block.state == BLOCK_LIVE)
			block_list_add(&writer, block.addr, block.bytes);
	r = block_list_save(&writer, &head, path);
	if (r < 0)
		message_error(path, r);
	block_list_writer_release(&writer);
	return r;
}

static void compare_with_limit(struct leaks *l)
{
	const struct leaks_options *o = own_options(l->session->options);
	const struct mark *mark = &l->scan.mark;
	uint64_t count = mark->direct.count + mark->indirect.count;
	uint64_t bytes = mark->direct.bytes + mark->indirect.bytes;

	if ((o->has_block_limit && count > o->block_limit) ||
	    (o->has_byte_limit && bytes > o->byte_limit)) {
		l->is_above = l->is_above || l->scan.quality == QUALITY_EXACT;
		l->is_bound = l->is_bound || l->scan.quality != QUALITY_EXACT;
	}
}

static void add_text(struct leaks *l, const struct leak_report *report)
{
	const struct mark *mark = &report->scan->mark;

	if (l->out.length > 0)
		strbuf_add_char(&l->out, '\n');
	leak_report_add_text(&l->out, report);
	/*
	 * the next command examines the process with the largest leak or, without leaks,
	 * with the largest heap
	 */
	next_offer(&l->next, report->conclusion,
		   mark->direct.count > 0 ? UINT64_MAX / 2 + mark->direct.bytes
					  : mark->live.bytes);
}

static void add_leaking(struct leaks *l, const struct usage *u)
{
	struct leaking_list *list = &l->leaking;
	const struct mark *mark = &l->scan.mark;

	if (mark->direct.count + mark->indirect.count == 0)
		return;
	list->items = xgrow(list->items, &list->capacity, list->count + 1,
			    sizeof(*list->items));
	list->items[list->count++] = (struct leaking_process){
		.process = u->process,
		.bytes = mark->direct.bytes + mark->indirect.bytes,
		.is_bound = l->scan.quality == QUALITY_BOUND,
	};
}

static void report(struct leaks *l, const struct usage *u)
{
	const struct options *o = l->session->options;
	struct leak_report report = {
		.usage = u,
		.scan = &l->scan,
		.image = &l->reader.image,
		.fresh = own_options(o)->since ? &l->fresh : NULL,
		.since_unix_ms = l->since.head.unix_ms,
		.top = o->top ? (size_t)o->top : OPTIONS_TEXT_TOP,
		.exact_bytes = o->exact_bytes,
	};
	_cleanup_conclusion_ struct conclusion conclusion = CONCLUSION_INIT;
	struct table_options terminal;

	leaks_conclude(&conclusion, u, &l->scan, report.fresh, &l->next.place);
	report.conclusion = &conclusion;
	terminal_fit(&terminal);
	report.width = terminal.max_width;
	report.colour = terminal.colour;
	if (o->format == FORMAT_JSON)
		leak_report_add_json(&l->out, &report);
	else if (o->format == FORMAT_CSV)
		leak_report_add_csv(&l->out, &report);
	else
		add_text(l, &report);
}

/*
 * Stop the process, copy its memory, and resume the process. Walk the copy, mark
 * reachable blocks, and group the leaks. Return 0 or -errno.
 */
static int scan(struct leaks *l, struct usage *u)
{
	struct progress progress;
	const struct mark_progress callback = { progress_report, &progress };
	int r;

	r = heaps_read_in_turn(&l->session->fs, &l->reader, u, &l->mappings, &l->heap);
	if (r < 0)
		return r;
	progress_begin(&progress, "searching for leaks");
	r = leak_scan_mark(&l->reader, &l->mappings, &l->heap, &callback, &l->scan);
	if (l->scan.quality == QUALITY_UNKNOWN)
		l->heap.problem = l->scan.problem;
	if (r == 0)
		r = leak_scan_group(&l->reader, &l->scan);
	progress_end(&progress);
	return r < 0 || l->scan.quality != QUALITY_UNKNOWN ? r : -EOPNOTSUPP;
}

/* Show the leaks of one process. Return 0, or print a message and return -errno. */
static int show_process(struct leaks *l, struct usage *u)
{
	const struct leaks_options *o = own_options(l->session->options);
	int r;

	r = scan(l, u);
	if (r < 0 && !u->error)
		heaps_report_failure(l->session, u, &l->heap, r);
	if (r == 0) {
		heaps_report_skipped(u->process.pid, &l->mappings, true);
		if (o->since)
			find_fresh(l);
		block_groups_sort(&l->fresh);
		compare_with_limit(l);
		add_leaking(l, u);
		report(l, u);
		if (o->snapshot)
			r = save_snapshot(l, u);
	}
	block_groups_release(&l->fresh);
	leak_scan_release(&l->scan);
	heap_release(&l->heap);
	mapping_list_release(&l->mappings);
	return r;
}

static const struct {
	int err;
	const char *text;
} list_errors[] = {
	{ -EBADMSG, "not a snapshot of blocks, or damaged" },
	{ -EPROTONOSUPPORT, "a snapshot of an unsupported version" },
	{ -EFBIG, "too large for a snapshot of blocks" },
};

/* Load the list of blocks named by --since. Return an enum exit_status. */
static int load_since(struct leaks *l)
{
	const char *path = own_options(l->session->options)->since;
	int r;

	if (!path)
		return EXIT_DONE;
	r = block_list_load(path, &l->since);
	if (r == 0)
		return EXIT_DONE;
	for (size_t i = 0; i < sizeof(list_errors) / sizeof(list_errors[0]); i++)
		if (list_errors[i].err == r) {
			message("%s: %s", path, list_errors[i].text);
			return EXIT_FAILED;
		}
	message_error(path, r);
	return EXIT_FAILED;
}

/*
 * If an option requires a single process, check that only one is selected, and that
 * --since names a snapshot of this process. Return an enum exit_status.
 */
static int check_one(const struct leaks *l, const struct snapshot *snapshot)
{
	const struct leaks_options *o = own_options(l->session->options);
	const struct block_list_head *head = &l->since.head;
	const struct process *p;

	if (snapshot->count == 0 ||
	    (!o->since && !o->snapshot && o->common.format != FORMAT_CSV))
		return EXIT_DONE;
	if (snapshot->count > 1) {
		message_usage(
			"leaks",
			"%zu processes selected, but %s supports only one; select it "
			"with -p PID",
			snapshot->count,
			o->since      ? "--since"
			: o->snapshot ? "--snapshot"
				      : "--csv");
		return EXIT_BAD_USAGE;
	}
	p = &snapshot->usages[0].process;
	if (o->since && (head->pid != p->pid || head->start_ticks != p->start_ticks)) {
		if (head->pid == p->pid)
			message("%s: the snapshot is of a different process: PID %d has "
				"been reused",
				o->since, head->pid);
		else
			message("%s: the snapshot is of a different process: PID %d, not "
				"%d",
				o->since, head->pid, p->pid);
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}

/* Write the report. For several processes, begin with a sentence about all of them. */
static int finish(struct leaks *l, size_t process_count, int status)
{
	_cleanup_conclusion_ struct conclusion conclusion = CONCLUSION_INIT;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct table_options terminal;

	l->leaking.process_count = process_count;
	if (process_count > 1 && l->out.length > 0 &&
	    l->session->options->format != FORMAT_CSV &&
	    l->session->options->format != FORMAT_JSON) {
		leaks_conclude_all(&conclusion, &l->leaking);
		terminal_fit(&terminal);
		conclusion_add_opening(&out, &conclusion, &terminal);
		strbuf_add_char(&out, '\n');
	}
	strbuf_add(&out, strbuf_text(&l->out), l->out.length);
	next_add(&l->next, &out);
	return stream_finish(&out, status);
}

static int show_all(struct leaks *l, struct snapshot *snapshot)
{
	size_t *unknown_count = &l->leaking.unknown_count;
	int status;

	for (size_t i = 0; i < snapshot->count; i++) {
		if (show_process(l, &snapshot->usages[i]) == 0)
			continue;
		(*unknown_count)++;
		snapshot->unreadable_count += snapshot->usages[i].error != 0;
	}
	status = session_report_missing(l->session, snapshot);
	if (status == EXIT_DONE && *unknown_count > 0)
		status = *unknown_count < snapshot->count ? EXIT_PARTIAL : EXIT_FAILED;
	if (status == EXIT_DONE && l->is_bound) {
		message("--fail-above: cannot be checked: swapped-out memory may "
			"contain pointers");
		status = EXIT_PARTIAL;
	}
	return status == EXIT_DONE && l->is_above ? EXIT_ABOVE_LIMIT : status;
}

static int show(struct leaks *l)
{
	struct snapshot snapshot;
	int status;

	snapshot_init(&snapshot);
	status = session_list(l->session, NEED_STAT, &snapshot);
	if (status == EXIT_DONE)
		status = check_one(l, &snapshot);
	if (status == EXIT_DONE)
		status = show_all(l, &snapshot);
	status = finish(l, snapshot.count, status);
	snapshot_release(&snapshot);
	return status;
}

static int leaks_run(struct options *o)
{
	struct session session;
	struct leaks l = { .session = &session };
	int status;

	status = session_begin(&session, o);
	if (status != EXIT_DONE)
		return status;
	next_begin(&l.next, &session);
	status = load_since(&l);
	if (status == EXIT_DONE) {
		heap_reader_init(&l.reader, &session.fs, session.sampler,
				 o->max_pause_ns);
		l.reader.copies_roots = true;
		l.reader.pre_copy = o->pre_copy;
		status = show(&l);
		heap_reader_release(&l.reader);
	}
	block_list_release(&l.since);
	strbuf_release(&l.out);
	free(l.leaking.items);
	next_end(&l.next);
	session_end(&session);
	return status;
}

static int set_limit(const struct option_row *row, char *arg, struct options *o)
{
	struct leaks_options *own = (struct leaks_options *)o;

	(void)row;
	if (num_parse_u64(arg, &own->block_limit) == 0)
		own->has_block_limit = true;
	else if (units_parse_bytes(arg, &own->byte_limit) == 0)
		own->has_byte_limit = true;
	else
		return -EINVAL;
	return 0;
}

static const struct option_row own_rows[] = {
	{ 0, "fail-above", "N|BYTES", "exit with status 4 if more than this is leaked",
	  .group = OPTIONS_LIMITS, .set = set_limit,
	  .want = "a number of blocks, or bytes such as 512B, 64K, 1.5M or 2G" },
	{ 0, "snapshot", "FILE", "save the list of live blocks, for use with --since",
	  .group = OPTIONS_RECORDINGS, .set = option_set_word,
	  .value = offsetof(struct leaks_options, snapshot) },
	{ 0, "since", "FILE", "also list blocks allocated since this snapshot",
	  .group = OPTIONS_RECORDINGS, .set = option_set_word,
	  .value = offsetof(struct leaks_options, since) },
	{ 0 },
};

const struct cmd cmd_leaks = {
	.name = "leaks",
	.args = "-p PID|NAME [OPTIONS]",
	.summary = "find allocated blocks that are no longer reachable",
	.requires_pid = true,
	.reads_heap = true,
	.shared = "pid text csv json bytes top procfs max-pause pre-copy",
	.own = own_rows,
	.options_size = sizeof(struct leaks_options),
	.run = leaks_run,
};
