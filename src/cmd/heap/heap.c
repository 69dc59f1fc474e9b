/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "classify/heap/heap_conclusion.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "cmd/core/stream.h"
#include "cmd/core/terminal.h"
#include "cmd/session/heaps.h"
#include "cmd/session/next.h"
#include "cmd/session/session.h"
#include "render/heap/report.h"
#include "sample/heap/reader.h"

struct show {
	struct session *session;
	struct heap_reader reader;
	struct strbuf out;
	struct next next;
};

static void add_report(struct show *show, const struct usage *u, const struct heap *heap,
		       const struct heap_detail *detail)
{
	const struct options *o = show->session->options;
	struct heap_report_options options = {
		.exact_bytes = o->exact_bytes,
		.top = (size_t)o->top,
		.answer = show->reader.helpers ? &show->reader.answer : NULL,
	};
	_cleanup_conclusion_ struct conclusion conclusion = CONCLUSION_INIT;
	struct strbuf *out = &show->out;
	struct table_options terminal;

	switch (o->format) {
	case FORMAT_JSON: heap_report_add_json(out, u, heap, detail, &options); return;
	case FORMAT_CSV:
		if (out->length == 0 && !o->no_headings)
			heap_report_add_csv_header(out);
		heap_report_add_csv(out, u, heap, detail, &options);
		return;
	default:
		terminal_fit(&terminal);
		options.ascii = terminal.ascii;
		options.colour = terminal.colour;
		options.width = terminal.max_width;
		options.is_short = options.top == 0;
		if (options.is_short)
			options.top = OPTIONS_TEXT_TOP;
		heap_conclude(&conclusion, u, heap, &show->next.place);
		options.conclusion = &conclusion;
		heap_report_add_text(out, u, heap, detail, &options);
		next_offer(&show->next, &conclusion, u->total.bytes[SMAPS_RSS]);
	}
}

/* Show the heap of one process. Return 0, or print a message and return -errno. */
static int show_process(struct show *show, struct usage *u)
{
	struct heap_reader *reader = &show->reader;

	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct heap_detail detail;
	struct heap heap;
	int r;

	r = heaps_read_in_turn(&show->session->fs, reader, u, &mappings, &heap);
	if (r == 0 && heap_total_quality(&heap) == QUALITY_UNKNOWN)
		r = -EOPNOTSUPP;
	if (!u->error)
		heaps_report_not_asked(u);
	if (r < 0 && !u->error)
		heaps_report_failure(show->session, u, &heap, r);
	if (r == 0)
		heaps_report_skipped(u->process.pid, &mappings, false);
	if (r == 0 && heap.is_reported) {
		add_report(show, u, &heap, NULL);
	} else if (r == 0) {
		heap_reader_detail(reader, &heap, &mappings, &detail);
		add_report(show, u, &heap, &detail);
		heap_detail_release(&detail);
	}
	heap_release(&heap);
	mapping_list_release(&mappings);
	return r;
}

/*
 * Return true if a signal asks memstate to stop. With --heap helper, signals are
 * blocked while a process may contain the helper library, so deliver the pending
 * signals between two processes.
 */
static bool is_stop_requested(const struct options *o)
{
	if (o->heap == HEAP_HELPER)
		signals_wait_until(0);
	return signals_stop_count() > 0;
}

static int show_targets(struct session *session)
{
	struct show show = { .session = session, .out = STRBUF_INIT };
	struct options *o = session->options;
	struct snapshot snapshot;
	size_t unknown_count = 0;
	int status;

	snapshot_init(&snapshot);
	next_begin(&show.next, session);
	heap_reader_init(&show.reader, &session->fs, session->sampler, o->max_pause_ns);
	show.reader.use = HEAP_USE_DETAIL;
	show.reader.is_running = o->no_stop;
	show.reader.pre_copy = o->pre_copy;
	if (o->heap == HEAP_HELPER && session->fs.is_live)
		show.reader.helpers = heaps_make_helpers(session);
	status = session_list(session, NEED_STAT, &snapshot);
	for (size_t i = 0;
	     status == EXIT_DONE && i < snapshot.count && !is_stop_requested(o); i++) {
		if (show_process(&show, &snapshot.usages[i]) == 0)
			continue;
		unknown_count++;
		snapshot.unreadable_count += snapshot.usages[i].error != 0;
	}
	helpers_free(show.reader.helpers, session_report_left, NULL);
	heap_reader_release(&show.reader);
	if (status == EXIT_DONE)
		status = session_report_missing(session, &snapshot);
	if (status == EXIT_DONE && unknown_count > 0)
		status = unknown_count < snapshot.count ? EXIT_PARTIAL : EXIT_FAILED;
	snapshot_release(&snapshot);
	next_add(&show.next, &show.out);
	status = stream_finish(&show.out, status);
	strbuf_release(&show.out);
	next_end(&show.next);
	return status;
}

static int heap_run(struct options *o)
{
	struct session session;
	int status;

	if (o->heap == HEAP_OFF) {
		message_usage("heap", "--heap off cannot be combined with this command");
		return EXIT_BAD_USAGE;
	}
	status = heaps_check_options(o);
	if (status != EXIT_DONE)
		return status;
	/*
	 * block signals that would end memstate while a process still contains
	 * the helper library
	 */
	if (o->heap == HEAP_HELPER)
		signals_begin();
	status = session_begin(&session, o);
	if (status == EXIT_DONE) {
		status = show_targets(&session);
		session_end(&session);
	}
	return status;
}

static const struct option_row own_rows[] = {
	{ 0, "heap", "auto|walk|helper|off",
	  "choose the source of the figures (default auto)", .group = OPTIONS_HEAP,
	  .set = option_set_heap, .want = OPTION_HEAP_WANT },
	{ 0, "malloc-info", NULL, "also print malloc_info(3), with --heap helper",
	  .group = OPTIONS_HEAP, .flag = offsetof(struct options, malloc_info) },
	{ 0 },
};

const struct cmd cmd_heap = {
	.name = "heap",
	.args = "-p PID|NAME [OPTIONS]",
	.summary = "show the contents of malloc's heap, and what a trim would return",
	.requires_pid = true,
	.reads_heap = true,
	.shared = "pid text csv json no-headings bytes top procfs max-pause "
		  "pre-copy no-stop allow-stall",
	.own = own_rows,
	.run = heap_run,
};
