/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/heaps.h"

#include <errno.h>

#include "base/units.h"
#include "cmd/message.h"

static const struct {
	int err;
	const char *text;
} reasons[] = {
	{ -EBUSY, "another tracer is there (a debugger, strace)" },
	{ -ETIMEDOUT, "it took longer than --max-pause" },
	{ -EAGAIN, "a thread of it is in a sleep that cannot be interrupted (vfork, a slow disk)" },
	{ -ENOMEM, "not enough free memory for a copy of it" },
	{ -ESTALE, "its memory changed while it stood still" },
	{ -EOPNOTSUPP, "only live 64-bit programs on x86-64 can be walked" },
};

static void explain(const struct usage *u, int r)
{
	int pid = u->process.pid;

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].err == r) {
			message("%d: heap not read: %s", pid, reasons[i].text);
			return;
		}
	message_process_error(pid, r);
	if (r == -EPERM || r == -EACCES)
		message("hint: reading its memory, stopped or not, needs the right to trace it: the "
			"same user and a kernel.yama.ptrace_scope that allows it, or CAP_SYS_PTRACE");
}

void heaps_report_failure(const struct usage *u, const struct heap *heap, int r)
{
	char pause[UNITS_TEXT_SIZE];

	if (heap->problem)
		message("%d: heap unknown: %s", u->process.pid, heap->problem);
	else if (r == -EFBIG)
		message("%d: heap not read: it would stand still for about %s (--max-pause allows "
			"more)",
			u->process.pid, units_format_duration(heap->pause_ns, pause));
	else
		explain(u, r);
}

void heaps_read(struct session *session, struct usage *u, struct mapping_list *mappings)
{
	const struct options *o = session->options;
	struct heap heap;
	int r;

	if (o->heap != HEAP_WALK || u->error || !process_has_memory(&u->process))
		return;
	if (!session->heap_reader.fs)
		heap_reader_init(&session->heap_reader, &session->fs, session->sampler,
				 o->max_pause_ns);
	session->heap_reader.is_running = o->no_stop;
	r = heap_reader_read(&session->heap_reader, u, mappings, &heap);
	if (!session->is_heap_failure_said && !u->error &&
	    (r < 0 || heap.quality == QUALITY_UNKNOWN))
		heaps_report_failure(u, &heap, r);
	heap_release(&heap);
}

void heaps_read_all(struct session *session, struct snapshot *snapshot)
{
	struct mapping_list mappings = MAPPING_LIST_INIT;

	for (size_t i = 0; i < snapshot->count; i++)
		heaps_read(session, &snapshot->usages[i], &mappings);
	session->is_heap_failure_said = true;
	mapping_list_release(&mappings);
}
