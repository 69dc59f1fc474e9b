/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "base/xalloc.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/stream.h"
#include "cmd/session/heaps.h"
#include "cmd/session/session.h"
#include "proc/process/file.h"
#include "render/heap/explain_report.h"
#include "sample/heap/reader.h"

#define ADDRESSES_MAX 4096

struct explain {
	struct session *session;
	uint64_t *addrs;
	size_t count;
	struct heap_reader reader;
	struct mapping_list mappings;
	struct heap heap;
	struct root_list roots;
	int pagemap_fd;
	struct strbuf out;
};

static int parse_addresses(struct explain *x, const struct options *o)
{
	if (o->arg_count == 0) {
		message_usage("explain", "which address?");
		return EXIT_BAD_USAGE;
	}
	x->addrs = xcalloc((size_t)o->arg_count, sizeof(*x->addrs));
	for (int i = 0; i < o->arg_count; i++) {
		if (num_parse_hex(o->args[i], &x->addrs[x->count++]) == 0)
			continue;
		message_usage("explain",
			      "'%s' is not an address such as 7f12a4c3b010 or "
			      "0x7f12a4c3b010",
			      o->args[i]);
		return EXIT_BAD_USAGE;
	}
	return EXIT_DONE;
}

/*
 * Print a description of the memory at one address. Return 0, or print a message and
 * return -errno.
 */
static int explain_one(struct explain *x, const struct usage *u,
		       const struct explain_input *input, uint64_t addr)
{
	struct explanation e;
	struct explain_report report = {
		.usage = u,
		.explanation = &e,
		.symbols = x->reader.names.symbols,
		.types = x->reader.names.types,
	};
	int r = explain_address(input, addr, &e);

	if (r == -EFAULT) {
		message("%d: nothing is mapped at %llx", u->process.pid,
			(unsigned long long)addr);
	} else if (r == 0) {
		if (!input->is_heap_known && !e.heap)
			report.problem = x->heap.problem ? x->heap.problem
							 : "the heap was not read";
		e.is_page_known = peek_page(x->pagemap_fd, addr, &e.page) == 0;
		if (x->session->options->format == FORMAT_JSON)
			explain_report_add_json(&x->out, &report);
		else
			explain_report_add_text(&x->out, &report);
	}
	explanation_release(&e);
	return r;
}

static int explain_all(struct explain *x, const struct usage *u)
{
	struct mark_input mark = {
		.blocks = &x->reader.blocks,
		.roots = &x->roots,
		.words = x->reader.words,
		.word_count = x->reader.word_count,
	};
	struct explain_input input = {
		.mappings = &x->mappings,
		.heap = &x->heap,
		.mark = &mark,
		.threads = x->reader.threads,
		.thread_count = x->reader.thread_count,
		.is_heap_known = x->heap.quality == QUALITY_EXACT,
	};
	size_t explained = 0;

	if (input.is_heap_known)
		roots_find(&x->reader.blocks, &x->mappings, x->reader.threads,
			   x->reader.thread_count, &x->roots);
	names_begin(&x->reader.names, &x->mappings);
	for (size_t i = 0; i < x->count; i++)
		explained += explain_one(x, u, &input, x->addrs[i]) == 0;
	root_list_release(&x->roots);
	if (explained == x->count)
		return EXIT_DONE;
	return explained > 0 ? EXIT_PARTIAL : EXIT_FAILED;
}

static int show_process(struct explain *x, struct usage *u)
{
	int status, r;

	r = heaps_read_in_turn(&x->session->fs, &x->reader, u, &x->mappings, &x->heap);
	if (u->error)
		return EXIT_FAILED;
	if (x->mappings.count == 0) {
		if (process_has_memory(&u->process))
			message_process_error(u->process.pid, r < 0 ? r : -ESRCH);
		else
			heaps_report_failure(x->session, u, &x->heap, r);
		return EXIT_FAILED;
	}
	if (r < 0)
		heaps_report_failure(x->session, u, &x->heap, r);
	else
		heaps_report_skipped(u->process.pid, &x->mappings, true);
	x->pagemap_fd = proc_file_open(&x->session->fs, u->process.pid, PROC_PAGEMAP);
	status = explain_all(x, u);
	if (x->pagemap_fd >= 0)
		close(x->pagemap_fd);
	return status == EXIT_DONE && r < 0 ? EXIT_PARTIAL : status;
}

static int show(struct explain *x)
{
	struct session *session = x->session;
	struct snapshot snapshot;
	int status;

	snapshot_init(&snapshot);
	status = session_list(session, NEED_STAT, &snapshot);
	if (status == EXIT_DONE && snapshot.count > 1) {
		message_usage("explain",
			      "%zu processes selected, but an address belongs to one "
			      "process; select it with -p PID",
			      snapshot.count);
		status = EXIT_BAD_USAGE;
	} else if (status == EXIT_DONE) {
		int shown = snapshot.count ? show_process(x, &snapshot.usages[0])
					   : EXIT_DONE;

		snapshot.unreadable_count = snapshot.count &&
					    snapshot.usages[0].error != 0;
		status = session_report_missing(session, &snapshot);
		if (status == EXIT_DONE)
			status = shown;
	}
	snapshot_release(&snapshot);
	return stream_finish(&x->out, status);
}

static int explain_run(struct options *o)
{
	struct session session;
	struct explain x = { .session = &session };
	int status;

	status = parse_addresses(&x, o);
	if (status == EXIT_DONE)
		status = session_begin(&session, o);
	if (status == EXIT_DONE) {
		heap_reader_init(&x.reader, &session.fs, session.sampler,
				 o->max_pause_ns);
		x.reader.copies_roots = true;
		x.reader.pre_copy = o->pre_copy;
		heap_init(&x.heap);
		status = show(&x);
		heap_release(&x.heap);
		heap_reader_release(&x.reader);
		mapping_list_release(&x.mappings);
		session_end(&session);
	}
	strbuf_release(&x.out);
	free(x.addrs);
	return status;
}

const struct cmd cmd_explain = {
	.name = "explain",
	.args = "{PID|-p PID|NAME} [OPTIONS] ADDRESS...",
	.summary = "show what an address belongs to, and what points to it",
	.requires_pid = true,
	.reads_heap = true,
	.accepts_pid_first = true,
	.shared = "pid text json procfs max-pause pre-copy",
	.max_args = ADDRESSES_MAX,
	.run = explain_run,
};
