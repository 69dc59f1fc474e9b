/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "probe/borrow/gates.h"
#include "probe/borrow/mapped_code.h"
#include "probe/borrow/segment.h"
#include "probe/count/hook_places.h"
#include "probe/count/hooks_blind.h"
#include "probe/count/hooks_counts.h"
#include "probe/count/hooks_names.h"
#include "probe/count/hooks_orphans.h"
#include "probe/count/hooks_parcel.h"
#include "probe/count/hooks_stacks.h"
#include "probe/count/hooks_switch.h"
#include "probe/count/hooks_visit.h"
#include "proc/process/stat.h"
#include "proc/process/status.h"
#include "proc/smaps/maps.h"
#include "tracee/ptrace/trace.h"

/* Time between two searches for newly loaded libraries. */
#define SEARCH_NS NS_PER_S

struct injected {
	struct probe_request request;
	struct hooks_visit visit;
	struct landmarks marks;
	struct hooks_parcel parcel;
	struct hooks_orphan orphans[HOOKS_ORPHANS_MAX];
	struct hooks_wanted wanted;
	struct count_inject_cost cost;
	/* number of patched addresses and calls, and number of files that contain them */
	size_t place_count, file_count;
	struct hooks_blind unseen;
	/* true if memstate has searched the libraries again since counting began */
	bool has_searched_again;
	/*
	 * records of all patched calls and addresses; array of HOOKS_RECORD_MAX elements
	 */
	struct hooks_record *records;
	size_t record_count;
	struct hooks_stacks stacks;
	uint64_t mapped; /* checksum of the mapped code at the time of the last search */
	uint64_t next_search_ns;
	struct hooks_counts counts;
};

/* Call work(), which injects or removes the hooks, and add its cost to the total. */
static int visit(struct injected *i, int (*work)(struct hooks_visit *),
		 struct strbuf *why)
{
	int r = work(&i->visit);

	i->cost.one.stops += i->visit.cost.stops;
	i->cost.one.stopped_ns += i->visit.cost.stopped_ns;
	i->cost.one.tries += i->visit.cost.tries;
	if (r < 0)
		strbuf_add_text(why, i->visit.reason);
	return r;
}

static struct hooks_switch switch_of(const struct injected *i)
{
	return (struct hooks_switch){
		.request = &i->request,
		.process_fd = i->visit.process_fd,
		.base_addr = i->visit.base_addr,
		.gates_addr = i->visit.gates_addr,
		.code_bytes = i->parcel.head ? i->parcel.head->code_bytes : 0,
		.mem_fd = i->visit.mem_fd,
		.records = i->records,
		.record_count = i->record_count,
	};
}

static void add_cost(struct injected *i, const struct hooks_switch *s)
{
	i->cost.pauses += s->stop_count;
	i->cost.paused_ns += s->pause_ns;
}

static int switch_on(struct injected *i, const struct hook_places *places,
		     struct strbuf *why)
{
	struct hooks_switch s = switch_of(i);
	size_t count = 0;
	int r;

	gates_use_hooks(i->parcel.gates, i->parcel.head, i->visit.base_addr);
	/*
	 * skip new gates (jumps to hooks), whose targets hooks_install() has already set
	 */
	s.gates = i->visit.has_own_gates ? NULL : i->parcel.gates;
	for (size_t n = 0; n < places->count; n++)
		i->visit.keeps_gates = i->visit.keeps_gates ||
				       !places->items[n].is_for_calls;
	r = hooks_switch_on(&s, i->parcel.head, places, &count);

	add_cost(i, &s);
	i->place_count += count;
	i->record_count = s.record_count;
	if (r < 0)
		strbuf_add_text(why, hooks_switch_explain(r));
	return r;
}

/*
 * Redirect the calls that lead to the hooks of a killed memstate back to the original
 * functions. Call this function before searching for the calls to count.
 */
static int disarm_orphans(struct injected *i, const struct mapping_list *mappings,
			  struct strbuf *why)
{
	const struct hooks_search search = { i->request.fs, mappings, i->visit.mem_fd,
					     0 };
	int owner_pid;
	size_t found = hooks_orphans_find(&search, i->orphans, &owner_pid);
	int r = 0;

	if (owner_pid != 0)
		return hooks_orphans_refuse(&search, owner_pid, why);
	for (size_t n = 0; r == 0 && n < found; n++) {
		struct hooks_switch s = switch_of(i);

		r = hooks_orphan_disarm(&s, &search, i->orphans[n].addr);
		add_cost(i, &s);
		/*
		 * if a thread is executing orphaned hooks, leave these hooks in the
		 * process, where they do no harm
		 */
		if (r == -EAGAIN)
			r = 0;
		else if (r == 0)
			i->orphans[i->visit.orphan_count++] = i->orphans[n];
	}
	if (r < 0)
		strbuf_add_text(why, "the probe of an earlier memstate cannot be "
				     "removed");
	return r;
}

/* Find the function addresses and calls that do not lead to the hooks yet. */
static int read_places(const struct injected *i, const struct mapping_list *mappings,
		       struct hook_places *ret, const char **ret_reason)
{
	const struct hook_places_source source = {
		.process_fd = i->visit.process_fd,
		.mem_fd = i->visit.mem_fd,
		.mappings = mappings,
		.there = { .base_addr = i->visit.base_addr,
			   .gates_addr = i->visit.gates_addr,
			   .originals = i->visit.base_addr ? i->parcel.head->originals
							   : NULL },
		.searches_heap = !i->visit.base_addr,
	};

	return hook_places_read(&source, ret, ret_reason);
}

static int find_places(struct injected *i, const struct mapping_list *mappings,
		       struct hook_places *ret, struct strbuf *why)
{
	const char *reason = "its libraries cannot be read";
	int r;

	r = landmarks_read_code(i->visit.process_fd, mappings, &i->marks, &reason);
	if (r == 0)
		r = disarm_orphans(i, mappings, why);
	if (r == 0)
		r = read_places(i, mappings, ret, &reason);
	if (r == 0 && ret->count == 0) {
		reason = "it does not call malloc through a table";
		r = -ENOENT;
	}
	if (r < 0 && why->length == 0)
		strbuf_add_text(why, reason);
	return r;
}

static int make_parcel(struct injected *i, const struct mapping_list *mappings,
		       const struct hook_places *places, struct strbuf *why)
{
	const struct hooks_search search = { i->request.fs, mappings, i->visit.mem_fd,
					     0 };
	int r;

	hooks_blind_begin(&i->unseen, places);
	i->records = xcalloc(HOOKS_RECORD_MAX, sizeof(*i->records));
	r = hooks_parcel_make(&i->wanted, i->visit.process_fd, places, &i->parcel);
	if (r == 0)
		i->visit.gates_addr = hooks_orphans_find_gates(&search, &i->parcel.gates);
	if (!hooks_visit_set_sites(&i->visit, places, mappings)) {
		free(i->parcel.gates);
		i->parcel.gates = NULL;
		i->visit.gates_addr = 0;
	}
	i->visit.has_own_gates = !i->visit.gates_addr;
	if (r == 0 && i->visit.has_own_gates)
		i->parcel.gates = gates_make();
	if (r < 0)
		strbuf_add_text(why, r == -EOPNOTSUPP
					     ? "this memstate was built without it"
					     : "System V shared memory is not available");
	return r;
}

/*
 * Fail if another memstate is counting the calls of the process. If two memstate
 * processes start to count at the same time, both fail.
 */
static int check_alone(struct injected *i, struct strbuf *why)
{
	struct mapping_list mappings = MAPPING_LIST_INIT;
	const struct hooks_search search = { i->request.fs, &mappings, i->visit.mem_fd,
					     i->visit.base_addr };
	struct hooks_orphan found[HOOKS_ORPHANS_MAX];
	int owner_pid = 0;
	int r = proc_maps_read(i->visit.process_fd, &mappings);

	if (r == 0)
		(void)hooks_orphans_find(&search, found, &owner_pid);
	i->mapped = mapped_code_sum(&mappings);
	i->stacks = (struct hooks_stacks){ .wanted = &i->wanted,
					   .parcel = &i->parcel,
					   .process_fd = i->visit.process_fd,
					   .mem_fd = i->visit.mem_fd,
					   .base_addr = i->visit.base_addr };
	if (r == 0 && i->parcel.nodes)
		r = hooks_stacks_update(&i->stacks, &mappings);
	mapping_list_release(&mappings);
	return r == 0 && owner_pid != 0 ? hooks_orphans_refuse(&search, owner_pid, why)
					: r;
}

/* Fill in the process's struct hooks_private, which contained only zeros until now. */
static int fill_private(struct injected *i)
{
	uint64_t addr = i->visit.base_addr + HOOKS_PRIVATE_OFFSET;
	const uint32_t own_pid = proc_status_read_own_number(i->visit.process_fd, 0);
	int r = own_pid ? 0 : -ESRCH;

	if (r == 0 && i->parcel.nodes)
		r = hooks_stacks_fill(&i->stacks, addr);
	/* write own_pid last, because the hooks start counting when it is set */
	addr += offsetof(struct hooks_private, own_pid);
	return r < 0 ? r
		     : trace_write_memory(i->request.pid, addr, &own_pid,
					  sizeof(own_pid));
}

static int begin(struct injected *i, const struct hook_places *places, struct strbuf *why)
{
	int r = check_alone(i, why);

	if (r < 0)
		return r;
	r = fill_private(i);
	if (r < 0) {
		strbuf_add_text(why, "the process's memory cannot be written");
		return r;
	}
	i->file_count = places->file_count;
	return switch_on(i, places, why);
}

/*
 * Remove the hooks. Return 0, or -errno after appending to `why` a description of what
 * remains in the process.
 */
static int leave(struct injected *i, struct strbuf *why)
{
	struct hooks_switch s = switch_of(i);
	bool is_inside = false;
	int r = 0;

	if (!i->visit.base_addr)
		return 0;
	gates_bypass_hooks(i->parcel.gates, i->parcel.head->originals);
	s.gates = i->parcel.gates;
	if (s.record_count > 0)
		r = hooks_switch_off(&s, &is_inside);
	add_cost(i, &s);
	if (r == 0 && is_inside) {
		strbuf_add_text(why,
				"a thread is in the probe, which stays but no longer "
				"counts; the next memstate that counts removes it");
		return -EBUSY;
	}
	if (r == 0)
		return visit(i, hooks_remove, why);
	if (r != -ESRCH)
		strbuf_addf(why,
			    "%s: the probe stays, and keeps counting; the next "
			    "memstate that counts the process removes it",
			    hooks_switch_explain(r));
	return r;
}

static void injected_free(struct injected *i)
{
	hooks_parcel_release(&i->parcel);
	free(i->records);
	landmarks_release(&i->marks);
	if (i->visit.mem_fd >= 0)
		close(i->visit.mem_fd);
	if (i->visit.process_fd >= 0)
		close(i->visit.process_fd);
	hooks_counts_release(&i->counts);
	free(i);
}

static int check(struct injected *i, struct strbuf *why)
{
	const char *reason = "it cannot be read";
	bool is_shared = false;
	int r = gates_check(&i->request, i->visit.process_fd, &reason);

	if (r == 0) {
		i->visit.mem_fd = gates_open_memory(i->visit.process_fd, &reason);
		r = i->visit.mem_fd < 0 ? i->visit.mem_fd : 0;
	}
	if (r == 0)
		r = segment_is_shared_with(i->visit.process_fd, &is_shared);
	if (r == 0 && !is_shared) {
		reason = "it is in another IPC namespace";
		r = -EOPNOTSUPP;
	}
	if (r < 0)
		strbuf_add_text(why, reason);
	return r;
}

static int open_inject(const struct count_place *where, void **ret_state,
		       struct strbuf *why)
{
	const struct count_request *request = where->request;
	struct injected *i = xcalloc(1, sizeof(*i));
	struct hook_places places = HOOK_PLACES_INIT;
	_cleanup_strbuf_ struct strbuf unused = STRBUF_INIT;
	int r;

	*i = (struct injected){
		.request = { .fs = request->fs,
			     .pid = request->pid,
			     .start_ticks = request->start_ticks,
			     .may_inject = true,
			     .limit_ns = request->limit_ns,
			     .step = request->step,
			     .context = request->context },
		.visit = { .request = &i->request,
			   .marks = &i->marks,
			   .parcel = &i->parcel,
			   .orphans = i->orphans,
			   .process_fd = fcntl(where->process_fd, F_DUPFD_CLOEXEC, 0),
			   .mem_fd = -1 },
		.wanted = { .fs = request->fs,
			    .pid = request->pid,
			    .has_stacks = request->wants_stacks,
			    .sample_bytes = request->sample_bytes },
		.marks = LANDMARKS_INIT,
		.parcel = HOOKS_PARCEL_INIT,
	};
	r = check(i, why);
	if (r == 0 && request->wants_stacks && request->wants_live) {
		strbuf_add_text(why,
				"it does not record which blocks of a stack are freed");
		r = -EOPNOTSUPP;
	}
	if (r == 0)
		r = find_places(i, where->mappings, &places, why);
	if (r == 0)
		r = make_parcel(i, where->mappings, &places, why);
	if (r == 0)
		r = visit(i, hooks_install, why);
	if (r == 0)
		r = begin(i, &places, why);
	hook_places_release(&places);
	if (r == 0) {
		hooks_blind_look_at_heap(&i->unseen, i->visit.process_fd);
		*ret_state = i;
		return 0;
	}
	(void)leave(i, &unused);
	injected_free(i);
	return r;
}

/*
 * Patch the calls in newly loaded libraries, and earlier calls whose target could not be
 * determined before.
 */
static void search_again(struct injected *i)
{
	_cleanup_strbuf_ struct strbuf unused = STRBUF_INIT;
	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct hook_places places = HOOK_PLACES_INIT;
	uint64_t now_ns = clock_now_ns(), sum;
	const char *reason;

	hooks_name_threads(i->parcel.counts, i->visit.process_fd, i->request.pid);
	if (now_ns < i->next_search_ns)
		return;
	i->next_search_ns = now_ns + SEARCH_NS;
	if (proc_maps_read(i->visit.process_fd, &mappings) == 0 &&
	    ((sum = mapped_code_sum(&mappings)) != i->mapped ||
	     i->unseen.other_count > 0 || !i->has_searched_again) &&
	    read_places(i, &mappings, &places, &reason) == 0) {
		bool is_new = sum != i->mapped;

		if (is_new && i->parcel.nodes)
			(void)hooks_stacks_update(&i->stacks, &mappings);
		if (places.count == 0 || switch_on(i, &places, &unused) == 0) {
			i->mapped = sum;
			i->has_searched_again = true;
			i->unseen.other_count = places.other_count;
			i->unseen.late_file_count += is_new ? places.file_count : 0;
		}
	}
	hook_places_release(&places);
	mapping_list_release(&mappings);
}

static int read_inject(void *state, struct count_program *ret)
{
	struct injected *i = state;
	int r;

	if (!ret->has_ended) {
		search_again(i);
		hooks_blind_look_at_heap(&i->unseen, i->visit.process_fd);
	}
	r = hooks_counts_read(&i->counts, i->parcel.counts, i->request.pid, ret);
	if (r == 0)
		hooks_blind_check_growth(&i->unseen, ret);
	return r;
}

static int read_stacks_inject(void *state, struct stacks *ret)
{
	struct injected *i = state;

	return i->parcel.nodes ? hooks_stacks_read(&i->stacks, ret) : -EOPNOTSUPP;
}

static void add_description(const void *state, struct strbuf *out)
{
	const struct injected *i = state;
	size_t files = i->file_count + i->unseen.late_file_count;

	strbuf_addf(out, "an injected probe, called from %zu places in %zu %s",
		    i->place_count, files, files == 1 ? "file" : "files");
}

static void add_unseen(const void *state, struct strbuf *out)
{
	hooks_blind_add(&((const struct injected *)state)->unseen, out);
}

static void add_missed(const void *state, struct strbuf *out)
{
	hooks_blind_add_missed(&((const struct injected *)state)->unseen, out);
}

static int close_inject(void *state, struct strbuf *why)
{
	struct injected *i = state;
	int r = leave(i, why);

	injected_free(i);
	/* -ESRCH means that the process has ended, together with its hooks */
	return r == -ESRCH ? 0 : r;
}

struct count_inject_cost count_inject_cost(const void *state)
{
	return ((const struct injected *)state)->cost;
}

const struct count_backend count_backend_inject = {
	.open = open_inject,
	.add_description = add_description,
	.add_unseen = add_unseen,
	.add_missed = add_missed,
	.read = read_inject,
	.read_stacks = read_stacks_inject,
	.close = close_inject,
};
