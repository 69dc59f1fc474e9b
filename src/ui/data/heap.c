/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/data/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "model/process_name.h"
#include "sample/heap/reader.h"
#include "sample/heap/walker.h"
#include "ui/data/data.h"
#include "ui/data/options.h"

/* Time in ns after which the copy of a heap is released if the heap is not read again. */
#define COPY_IDLE_NS (60 * NS_PER_S)

void data_heap_init(struct data_heap *h)
{
	memset(h, 0, sizeof(*h));
	h->carried = (struct carried_heap)CARRIED_HEAP_INIT;
	heap_findings_init(&h->findings);
}

void data_heap_release(struct data_heap *h)
{
	heap_walker_free(h->walker);
	heap_findings_release(&h->findings);
	carried_heap_release(&h->carried);
	free(h->allowed);
}

void data_heap_forget(struct data_heap *h)
{
	heap_findings_release(&h->findings);
	carried_heap_release(&h->carried);
	h->is_known = false;
	h->is_wanted = false;
	h->wishes = 0;
	h->is_reading = false;
	h->is_awaited = false;
}

static bool is_named(const struct targets *t, const struct data *d)
{
	const struct usage *u = data_detail(d);

	for (size_t i = 0; i < t->pid_count; i++)
		if (t->pids[i].pid == d->detail_pid)
			return true;
	for (size_t i = 0; u && i < t->name_count; i++)
		if (process_names_match_line(u->process.comm, u->command, t->names[i]))
			return true;
	return false;
}

/* Return the permissions that the user has given for the selected process, or NULL. */
static struct process_name *find_allowed(const struct data *d)
{
	const struct data_heap *h = &d->heap;

	for (size_t i = 0; i < h->allowed_count; i++)
		if (h->allowed[i].pid == d->detail_pid &&
		    h->allowed[i].start_ticks == d->detail_target.start_ticks)
			return &h->allowed[i];
	return NULL;
}

bool data_heap_is_allowed(const struct data *d)
{
	return find_allowed(d) || d->options->no_stop || is_named(d->options->targets, d);
}

static struct process_name *allow(struct data *d)
{
	struct data_heap *h = &d->heap;
	struct process_name *allowed = find_allowed(d);

	if (allowed)
		return allowed;
	h->allowed = xgrow(h->allowed, &h->allowed_capacity, h->allowed_count + 1,
			   sizeof(*h->allowed));
	allowed = &h->allowed[h->allowed_count++];
	*allowed = (struct process_name){ d->detail_pid, d->detail_target.start_ticks,
					  false };
	return allowed;
}

void data_heap_allow(struct data *d)
{
	if (!data_heap_is_allowed(d))
		allow(d);
}

static bool has_helper(const struct data *d)
{
	const struct process_name *allowed = find_allowed(d);

	return allowed && allowed->has_helper;
}

bool data_heap_is_asked(const struct data *d)
{
	return has_helper(d) ||
	       (d->options->asks_helper && is_named(d->options->targets, d));
}

void data_heap_ask(struct data *d)
{
	allow(d)->has_helper = true;
}

bool data_heap_can_be_read(const struct data *d)
{
	const struct usage *u = data_detail(d);

	return d->options->fs && d->options->is_live && u && !u->error &&
	       !d->detail_has_ended && process_has_memory(&u->process);
}

/* Round a duration up to one significant digit, because it is only an estimate. */
static uint64_t round_up(uint64_t ns)
{
	uint64_t unit = 1;

	if (!bytes_known(ns))
		return ns;
	while (ns / unit >= 10)
		unit *= 10;
	return (ns + unit - 1) / unit * unit;
}

uint64_t data_heap_estimate_ns(const struct data *d, unsigned int wishes)
{
	const struct heap_reader reader = {
		.is_running = d->options->no_stop,
		.copies_roots = wishes & HEAP_LEAKS,
	};
	const struct usage *u = data_detail(d);

	return u ? round_up(heap_reader_estimate_pause_ns(&reader, u, &d->mappings))
		 : BYTES_UNKNOWN;
}

void data_heap_read(struct data *d, unsigned int wishes)
{
	struct data_heap *h = &d->heap;

	if (!data_heap_can_be_read(d) || !data_heap_is_allowed(d))
		return;
	h->is_awaited = h->is_awaited || wishes & HEAP_AWAITED;
	/*
	 * no other read is needed if the read in progress includes everything requested
	 */
	if (h->is_reading &&
	    (wishes & ~h->reading_wishes & ~(unsigned int)HEAP_AWAITED) == 0)
		return;
	h->is_wanted = true;
	h->wishes |= wishes;
}

void data_heap_cancel(struct data *d)
{
	if (d->heap.is_reading && d->heap.walker)
		heap_walker_cancel(d->heap.walker);
	d->heap.is_wanted = false;
	d->heap.wishes = 0;
	d->heap.is_reading = false;
	d->heap.is_awaited = false;
}

static bool is_of_detail(const struct data *d, const struct process *p)
{
	return p->pid == d->detail_pid && p->start_ticks == d->detail_target.start_ticks;
}

/* Return true if the error of a heap read is temporary, so a later read may succeed. */
static bool may_pass(int error)
{
	return error == 0 || error == -ESTALE || error == -ETIMEDOUT;
}

uint64_t data_heap_wait_ns(const struct data *d, uint64_t interval_ns)
{
	const struct heap_findings *f = data_heap_findings(d);
	uint64_t wait_ns;

	if (!f)
		return interval_ns;
	/*
	 * limit the share of CPU time; this also limits the pauses, which are part of the
	 * CPU time
	 */
	wait_ns = heap_share_ns(f->cpu_ns, d->options->max_share_per_mille);
	return wait_ns > interval_ns ? wait_ns : interval_ns;
}

uint64_t data_heap_due_ns(const struct data *d, uint64_t interval_ns)
{
	const struct heap_findings *f = data_heap_findings(d);

	if (d->options->auto_pause_ns == 0 || d->heap.is_wanted || d->heap.is_reading ||
	    !data_heap_can_be_read(d) || !data_heap_is_allowed(d))
		return UINT64_MAX;
	if (!f)
		return 0;
	if (!may_pass(f->error))
		return UINT64_MAX;
	return f->taken_ns + data_heap_wait_ns(d, interval_ns);
}

void data_heap_add(const struct data *d, struct usage *u, struct mapping_list *mappings)
{
	if (u->source == SOURCE_SMAPS && d->heap.is_known)
		carried_heap_add(&d->heap.carried, u, mappings);
}

/*
 * Show the figures and mappings that the last heap walk read, unless those on the screen
 * are newer.
 */
static void show(struct data *d)
{
	const struct heap_findings *f = &d->heap.findings;
	struct usage *shown = d->detail.count > 0 ? &d->detail.usages[0] : NULL;
	char *command;

	if (!heap_findings_are_known(f) || !shown || f->usage.taken_ns < shown->taken_ns)
		return;
	command = shown->command;
	*shown = f->usage;
	shown->command = command;
	mapping_list_release(&d->mappings);
	for (size_t i = 0; i < f->mappings.count; i++)
		mapping_list_add(&d->mappings, &f->mappings.items[i]);
	carried_heap_add(&d->heap.carried, shown, &d->mappings);
	history_amend(&d->history, shown);
}

void data_heap_set(struct data *d, struct heap_findings *f)
{
	struct data_heap *h = &d->heap;

	if (!f->leaks.is_done) { /* keep the results of the previous leak scan */
		f->leaks = h->findings.leaks;
		h->findings.leaks = (struct heap_leaks){ .is_done = false };
	}
	heap_findings_release(&h->findings);
	h->findings = *f;
	heap_findings_init(f);
	h->is_known = true;
	h->is_reading = false;
	h->is_awaited = h->is_wanted && h->wishes & HEAP_AWAITED;
	carried_heap_update(&h->carried, &h->findings);
	show(d);
}

static bool collect_findings(struct data *d)
{
	struct data_heap *h = &d->heap;
	struct heap_findings found;

	if (!h->walker || !heap_walker_take(h->walker, &found))
		return false;
	if (!h->is_reading || !is_of_detail(d, &found.usage.process)) {
		heap_findings_release(&found);
		return false;
	}
	data_heap_set(d, &found);
	return true;
}

static enum heap_stops choose_stops(const struct data *d)
{
	if (d->options->no_stop)
		return STOPS_NONE;
	return d->options->may_run && !(d->heap.wishes & HEAP_AWAITED)
		       ? STOPS_SHORT_OR_NONE
		       : STOPS_SHORT;
}

/* Return true if the process is on the screen and its heap is read repeatedly. */
static bool is_followed(void *context, const struct process *process)
{
	const struct data *d = context;
	const struct heap_findings *f = data_heap_findings(d);

	return is_of_detail(d, process) &&
	       (d->heap.is_reading || d->heap.is_wanted ||
		(f && clock_now_ns() - f->taken_ns <
			      2 * data_heap_wait_ns(d, d->options->interval_ns) +
				      COPY_IDLE_NS));
}

/* Start the requested heap read. Return false if another read is still running. */
static bool begin(struct data *d)
{
	struct data_heap *h = &d->heap;
	struct heap_request request;
	struct heap_findings failure;
	int r;

	if (!h->walker)
		h->walker = heap_walker_new(d->options->fs);
	request = (struct heap_request){
		.process = &data_detail(d)->process,
		.stops = choose_stops(d),
		.max_pause_ns = h->wishes & HEAP_AWAITED ? d->options->max_pause_ns
							 : d->options->auto_pause_ns,
		.pre_copy = is_named(d->options->targets, d) ? d->options->pre_copy
							     : PRE_COPY_OFF,
		.keeps_copies = true,
		.wants_detail = h->wishes & HEAP_DETAIL,
		.wants_leaks = h->wishes & HEAP_LEAKS,
		.wants_helper = data_heap_is_asked(d),
		.may_inject = has_helper(d) || (d->options->may_inject &&
						is_named(d->options->targets, d)),
	};
	r = h->walker ? heap_walker_start(h->walker, &request) : -ENOMEM;
	if (r == -EBUSY)
		return false;
	h->reading_wishes = h->wishes;
	h->wishes = 0;
	h->is_wanted = false;
	h->is_reading = r == 0;
	h->progress_per_mille = -1;
	h->began_ns = clock_now_ns();
	if (r < 0) {
		heap_findings_init(&failure);
		failure.error = r;
		data_heap_set(d, &failure);
	}
	return true;
}

bool data_heap_poll(struct data *d)
{
	bool is_new = collect_findings(d);

	if (d->options->pre_copy != PRE_COPY_OFF && d->heap.walker &&
	    !heap_walker_is_running(d->heap.walker))
		heap_walker_prune(d->heap.walker, is_followed, d);

	if (d->heap.is_reading && d->heap.walker)
		d->heap.progress_per_mille =
			heap_walker_progress_per_mille(d->heap.walker);
	return (d->heap.is_wanted && begin(d)) || is_new;
}

const struct heap_findings *data_heap_findings(const struct data *d)
{
	return d->heap.is_known ? &d->heap.findings : NULL;
}

int data_heap_fd(const struct data *d)
{
	const struct heap_walker *walker = d->heap.walker;

	return walker && heap_walker_is_running(walker) ? heap_walker_fd(walker) : -1;
}
