/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/session/heaps.h"

#include <errno.h>

#include "base/units.h"
#include "classify/process/heap_problem.h"
#include "cmd/core/message.h"
#include "cmd/core/rights.h"
#include "cmd/session/turn.h"
#include "proc/process/tracer.h"

/*
 * Maximum pause in ns without an explicit request by the user, short enough
 * to go unnoticed.
 */
#define AUTO_PAUSE_NS (250 * NS_PER_MS)

static int read_heap(void *context, struct usage *u, struct mapping_list *mappings)
{
	return heap_keeper_read(context, u, mappings);
}

uint64_t heaps_auto_pause_ns(const struct options *o)
{
	return o->heap == HEAP_AUTO && !o->has_max_pause ? AUTO_PAUSE_NS
							 : o->max_pause_ns;
}

int heaps_check_options(const struct options *o)
{
	if (o->heap == HEAP_HELPER || (!o->allow_stall && !o->malloc_info))
		return EXIT_DONE;
	message_usage(o->verb, "--%s requires --heap helper",
		      o->allow_stall ? "allow-stall" : "malloc-info");
	return EXIT_BAD_USAGE;
}

struct helpers *heaps_make_helpers(const struct session *session)
{
	const struct options *o = session->options;
	struct helpers *helpers =
		helpers_new(&session->fs, o->allow_stall, o->malloc_info);

	/*
	 * memstate preloads the helper into a command that it runs, but must inject it
	 * into a running process, which stops a thread
	 */
	if (!o->command && !o->no_stop)
		helpers_allow(helpers, &o->targets);
	return helpers;
}

void heaps_begin(struct session *session)
{
	const struct options *o = session->options;
	enum heap_stops stops = o->heap == HEAP_AUTO ? STOPS_SHORT_OR_NONE : STOPS_SHORT;

	if (o->heap == HEAP_OFF || !session->fs.is_live ||
	    (targets_are_all(&o->targets) && !o->command))
		return;
	/*
	 * the user has not named the processes of a cgroup, so do not pause them without
	 * an explicit request
	 */
	if (o->targets.group && o->heap == HEAP_AUTO)
		return;
	if (o->no_stop)
		stops = STOPS_NONE;
	session->heaps = heap_keeper_new(&session->fs, session->sampler, stops,
					 heaps_auto_pause_ns(o), o->max_share_per_mille);
	/*
	 * copy the heap in advance only if the user requested the walk and named the
	 * process
	 */
	if (o->heap == HEAP_WALK && !o->targets.group && !o->targets.with_children)
		heap_keeper_set_pre_copy(session->heaps, o->pre_copy);
	if (o->heap == HEAP_HELPER)
		heap_keeper_set_helpers(session->heaps, heaps_make_helpers(session));
	sampler_set_heap_source(session->sampler, read_heap, session->heaps);
}

void heaps_keep_copies(struct session *session)
{
	if (session->heaps && session->options->sample_count != 1)
		heap_keeper_set_keeps_copies(session->heaps, true);
}

void heaps_set_patience(struct session *session, uint64_t patience_ns)
{
	if (session->heaps)
		heap_keeper_set_patience(session->heaps, patience_ns);
}

int heaps_read(struct session *session, struct usage *u, struct mapping_list *mappings)
{
	return session->heaps ? heap_keeper_read(session->heaps, u, mappings)
			      : sampler_read_mappings(session->sampler, u, mappings);
}

int heaps_read_in_turn(const struct procfs *fs, struct heap_reader *reader,
		       struct usage *u, struct mapping_list *mappings, struct heap *ret)
{
	int r;

	if (reader->is_running)
		return heap_reader_read(reader, u, mappings, ret);
	reader->waits_for_turn = turn_await(fs, u->process.pid);
	for (unsigned int tries = 1;; tries++) {
		r = heap_reader_read(reader, u, mappings, ret);
		/*
		 * do not retry a read with helpers, because a helper must not query the
		 * allocator twice
		 */
		if (r == 0 || reader->helpers || u->error ||
		    !turn_may_retry(fs, u->process.pid, r, tries))
			return r;
		heap_release(ret);
		mapping_list_release(mappings);
	}
}

static void report_tracer(const struct session *session, int pid,
			  const struct tracer_process *tracer)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	turn_add_tracer(&session->fs, tracer, &name);
	message("%d: heap not read: %s: %s", pid,
		proc_tracer_is_memstate(&session->fs, tracer)
			? "another memstate is reading it"
			: "another tracer is attached",
		strbuf_text(&name));
}

static void report(const struct session *session, const struct process *process,
		   int error, const char *problem, uint64_t expected_ns,
		   const char *pre_copy_problem)
{
	int pid = process->pid;
	struct tracer_process tracer;
	char pause[UNITS_TEXT_SIZE];

	if (rights_has_ended(&session->fs, process, error))
		error = -ESRCH;
	if (error == 0)
		message("%d: the heap could not be read: %s", pid, problem);
	else if (error == -EFBIG)
		message("%d: heap not read: the process would be paused for about %s; "
			"--max-pause permits a longer pause%s%s",
			pid, units_format_duration(expected_ns, pause),
			pre_copy_problem ? "; it cannot be copied while it runs: " : "",
			pre_copy_problem ? pre_copy_problem : "");
	else if (error == -EBUSY && proc_tracer_find(&session->fs, pid, &tracer))
		report_tracer(session, pid, &tracer);
	else
		message("%d: heap not read: %s", pid, heap_error_text(error));
	if (error == -EPERM || error == -EACCES)
		rights_report(&session->fs, pid, true);
}

void heaps_report_not_asked(const struct usage *u)
{
	if (!u->helper_problem)
		return;
	message("%d: its allocator was not queried: %s%s", u->process.pid,
		u->helper_problem,
		u->heap_quality != QUALITY_UNKNOWN ? "; its heap was walked instead"
						   : "");
}

int heaps_report_missing(const struct session *session, const struct snapshot *snapshot)
{
	size_t missing = 0;

	if (!session->heaps || session->options->heap == HEAP_AUTO)
		return EXIT_DONE;
	for (size_t i = 0; i < snapshot->count; i++) {
		const struct usage *u = &snapshot->usages[i];
		const char *problem = heap_problem_text(u);

		if (!u->error)
			heaps_report_not_asked(u);
		if (u->error || u->heap_quality != QUALITY_UNKNOWN || !problem)
			continue;
		report(session, &u->process, u->heap_error, problem, u->heap_expected_ns,
		       u->heap_pre_copy_problem);
		missing++;
	}
	return missing > 0 ? EXIT_PARTIAL : EXIT_DONE;
}

static void report_room(int pid, const struct heap *heap)
{
	char needed[UNITS_TEXT_SIZE], room[UNITS_TEXT_SIZE];

	message("%d: heap not read: the copy requires %s, more than three quarters of the "
		"available %s (limited by %s)",
		pid, units_format_bytes(heap->needed_bytes, needed),
		units_format_bytes(heap->room_bytes, room), heap->room_limit);
}

void heaps_report_failure(const struct session *session, const struct usage *u,
			  const struct heap *heap, int r)
{
	const char *no_memory = process_no_memory_text(&u->process);

	if (no_memory) {
		message("%d: heap not read: it is a %s", u->process.pid, no_memory);
		return;
	}
	if (r == -ENOMEM && heap->room_limit && *heap->room_limit) {
		report_room(u->process.pid, heap);
		return;
	}
	report(session, &u->process, heap->problem ? 0 : r, heap->problem,
	       heap->expected_ns, heap->pre_copy.problem);
}

void heaps_report_skipped(int pid, const struct mapping_list *mappings, bool with_roots)
{
	const struct mapping *first = NULL;
	char sum[UNITS_TEXT_SIZE];
	uint64_t bytes = 0;
	size_t count = 0;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];

		if (!mapping_is_skipped(m) || !(m->flags & MAPPING_READ) ||
		    (m->flags & MAPPING_SHARED && !with_roots))
			continue;
		first = first ? first : m;
		bytes += m->end_addr - m->start_addr;
		count++;
	}
	if (count == 0)
		return;
	message("%d: skipped %zu %s (%s) backed by FUSE, a network file system or "
		"userfaultfd, where a read can hang; the first is %s",
		pid, count, count == 1 ? "mapping" : "mappings",
		units_format_bytes(bytes, sum),
		first->name[0] ? first->name : "nameless");
}
