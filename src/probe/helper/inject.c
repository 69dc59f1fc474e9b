/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/helper/inject.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "probe/borrow/borrow.h"
#include "probe/borrow/gates.h"
#include "probe/borrow/orphans.h"
#include "probe/borrow/parcel.h"
#include "probe/borrow/segment.h"
#include "probe/helper/parcel_place.h"
#include "proc/process/dir.h"
#include "proc/process/stat.h"
#include "proc/process/status.h"
#include "proc/smaps/maps.h"
#include "tracee/ptrace/trace.h"

/*
 * Time limit for the start of the helper. On a CPU with 16 runnable threads, the helper's
 * thread may have to wait a long time.
 */
#define READY_LIMIT_NS (5 * NS_PER_S)
#define LEAVE_LIMIT_NS (5 * NS_PER_S)
#define FIND_LIMIT_NS (2 * NS_PER_S)
/*
 * Maximum time to wait for another memstate to stop tracing the process. A tracer that
 * stays attached longer is probably a debugger, and waiting for it is pointless.
 */
#define TURN_LIMIT_NS (1 * NS_PER_S)
#define LEAVE_LOOK_NS (100 * NS_PER_US)

/*
 * Time that the tracing thread may take in addition to request.limit_ns, which limits the
 * wait for a safe moment.
 */
#define TRACE_EXTRA_NS (20 * NS_PER_S)

struct injection {
	struct probe_request request;
	int process_fd, mem_fd;
	struct landmarks marks;
	/* address of the helper's parcel (code, page and stack); 0 if it is not mapped */
	uint64_t base_addr;
	/* id of the helper's thread in memstate's pid namespace; 0 if unknown */
	int helper_tid;
	/* registers of the borrowed thread at its first stop */
	struct machine_state *found;
	int found_tid;
	/*
	 * addresses of the helpers left by killed memstate processes, to be removed
	 * together with this helper
	 */
	uint64_t orphans[ORPHANS_MAX];
	size_t orphan_count;
};

struct load {
	struct injection *injection;
	struct borrow borrow;
	struct parcel_place place;
};

static struct orphans_search make_search(const struct injection *injection,
					 uint64_t own_addr)
{
	return (struct orphans_search){ .request = &injection->request,
					.marks = &injection->marks,
					.process_fd = injection->process_fd,
					.mem_fd = injection->mem_fd,
					.own_addr = own_addr };
}

/*
 * Inject the helper's code, page and stack (the parcel), using a borrowed thread of the
 * process. On failure, remove the parcel, unless the borrowed thread may still be using
 * it.
 */
static int load_borrowed(struct load *load)
{
	struct injection *injection = load->injection;
	int r;

	load->place.borrow = &load->borrow;
	r = parcel_place(&load->place);
	injection->base_addr = load->place.addr;
	if (r < 0 && r != -ETIMEDOUT && r != -ESRCH && injection->base_addr)
		(void)parcel_remove(&load->borrow, injection->base_addr);
	return r;
}

static int load(void *context)
{
	struct load *l = context;
	int r, ended;

	r = borrow_begin(&l->borrow);
	if (r < 0)
		return r;
	r = load_borrowed(l);
	ended = borrow_end(&l->borrow);
	(void)trace_sign(NULL);
	return r < 0 ? r : ended;
}

/*
 * Unmap the helper's code, page and stack (the parcel), if they are still at addr in the
 * process.
 */
static int remove_parcel(struct load *load, uint64_t addr)
{
	const struct injection *injection = load->injection;

	if (!parcel_exists(injection->mem_fd, addr, &injection->marks))
		return 0;
	return parcel_remove(&load->borrow, addr);
}

/*
 * Remove the helpers of killed memstate processes that record_orphans() found. Search for
 * them again first, because another memstate may have injected its own helper at the same
 * address in the meantime.
 */
static int take_out_orphans(struct load *load)
{
	const struct injection *injection = load->injection;
	const struct orphans_search search = make_search(injection, 0);
	struct mapping_list mappings = MAPPING_LIST_INIT;
	uint64_t found[ORPHANS_MAX];
	size_t count;
	int r = proc_maps_read(injection->process_fd, &mappings);

	count = r == 0 ? orphans_find(&search, &mappings, found) : 0;
	mapping_list_release(&mappings);
	for (size_t i = 0; r == 0 && i < injection->orphan_count; i++)
		for (size_t k = 0; r == 0 && k < count; k++)
			if (injection->orphans[i] == found[k])
				r = parcel_remove(&load->borrow, found[k]);
	return r;
}

static int unload(void *context)
{
	struct load *l = context;
	int r, ended;

	r = borrow_begin(&l->borrow);
	if (r < 0)
		return r;
	r = remove_parcel(l, l->injection->base_addr);
	if (r == 0 && l->injection->orphan_count > 0)
		r = take_out_orphans(l);
	ended = borrow_end(&l->borrow);
	return r < 0 ? r : ended;
}

static struct injection *injection_new(const struct probe_request *request)
{
	struct injection *injection = xcalloc(1, sizeof(*injection));

	*injection = (struct injection){ .request = *request,
					 .process_fd = -1,
					 .mem_fd = -1,
					 .marks = LANDMARKS_INIT };
	return injection;
}

static void injection_free(struct injection *injection)
{
	landmarks_release(&injection->marks);
	machine_state_free(injection->found);
	if (injection->process_fd >= 0)
		close(injection->process_fd);
	if (injection->mem_fd >= 0)
		close(injection->mem_fd);
	free(injection);
}

static int run(int (*work)(void *), struct load *load, struct probe_cost *ret_cost,
	       const char **ret_reason)
{
	struct injection *injection = load->injection;
	int r;

	load->borrow.request = &injection->request;
	load->borrow.marks = &injection->marks;
	load->borrow.process_fd = injection->process_fd;
	load->borrow.mem_fd = injection->mem_fd;
	load->borrow.reason = "the kernel refused it";
	load->borrow.earlier = injection->found;
	load->borrow.earlier_tid = injection->found_tid;
	r = trace_run(work, load, injection->request.limit_ns + TRACE_EXTRA_NS);
	*ret_cost = load->borrow.cost;
	if (r < 0)
		*ret_reason = r == -EUSERS || r == -ENOBUFS ? gates_error_text(r)
							    : load->borrow.reason;
	if (!injection->found) {
		injection->found = load->borrow.state;
		injection->found_tid = load->borrow.tid;
		load->borrow.state = NULL;
	}
	borrow_release(&load->borrow);
	return r;
}

/* Create the System V segment for the shared page before memstate stops any thread. */
static int prepare(struct load *load, const char **ret_reason)
{
	struct injection *injection = load->injection;
	const struct probe_request *request = &injection->request;
	int64_t user = segment_user_of(injection->process_fd);
	bool has_ours = false;
	int r;

	load->place.page_segment = -1;
	load->place.user = (uid_t)user;
	load->borrow.calls_libc = true;
	r = user < 0 ? (int)user
		     : segment_is_shared_with(injection->process_fd, &has_ours);
	*ret_reason = "its namespaces cannot be read";
	if (r < 0 || !has_ours)
		return r;
	*ret_reason = "System V shared memory is not available for the helper";
	return ctlpage_make(request->fs, request->pid, request->start_ticks,
			    load->place.page, &load->place.page_segment);
}

static int put_in(struct injection *injection, struct ctlpage *ret_page,
		  struct probe_cost *ret_cost, const char **ret_reason)
{
	struct ctlpage page = CTLPAGE_INIT;
	struct load l = { .injection = injection, .place = { .page = &page } };
	int r;

	r = prepare(&l, ret_reason);
	if (r == 0 && page.page)
		page.page->owner_pid =
			proc_status_read_own_number(injection->process_fd, 0);
	if (r == 0)
		r = run(load, &l, ret_cost, ret_reason);
	page.addr = parcel_page_addr(injection->base_addr);
	if (r < 0)
		ctlpage_close(&page);
	else
		*ret_page = page;
	return r;
}

static int open_process(struct injection *injection, const char **ret_reason)
{
	const struct probe_request *request = &injection->request;
	int r;

	injection->process_fd = proc_dir_open(request->fs, request->pid);
	if (injection->process_fd < 0) {
		*ret_reason = gates_error_text(injection->process_fd);
		return injection->process_fd;
	}
	r = gates_check(request, injection->process_fd, ret_reason);
	if (r < 0)
		return r;
	injection->mem_fd = gates_open_memory(injection->process_fd, ret_reason);
	return injection->mem_fd < 0 ? injection->mem_fd : 0;
}

/*
 * Find the address range (parcel) of the helper that this memstate takes over, whose page
 * is at own_addr, and the ranges of the other helpers that killed memstate processes left
 * behind. These are removed together with this memstate's helper. If own_addr is 0, this
 * memstate does not take over a helper.
 */
static void record_orphans(struct injection *injection,
			   const struct mapping_list *mappings, uint64_t own_addr)
{
	const struct orphans_search search = make_search(injection, own_addr);
	uint64_t found[ORPHANS_MAX];
	size_t count = orphans_find(&search, mappings, found);

	for (size_t i = 0; i < count; i++) {
		if (own_addr && parcel_page_addr(found[i]) == own_addr)
			injection->base_addr = found[i];
		else if (orphans_is_empty(&search, found[i]))
			injection->orphans[injection->orphan_count++] = found[i];
	}
}

/*
 * Read the mappings of the process, and find its functions and code ranges (struct
 * landmarks). own_addr is described in struct orphans_search.
 */
static int read_process(struct injection *injection, uint64_t own_addr,
			const char **ret_reason)
{
	struct mapping_list mappings = MAPPING_LIST_INIT;
	int r;

	r = open_process(injection, ret_reason);
	if (r < 0)
		return r;
	*ret_reason = "its mappings cannot be read";
	r = proc_maps_read(injection->process_fd, &mappings);
	if (r == 0)
		r = landmarks_read(injection->process_fd, &mappings, &injection->marks,
				   ret_reason);
	if (r == 0)
		record_orphans(injection, &mappings, own_addr);
	mapping_list_release(&mappings);
	return r;
}

/*
 * Find the helper's thread, whose stack pointer, according to the kernel, is in the
 * helper's memory. The page also contains the thread id, but other processes can write to
 * the page. The kernel reports the stack pointer because a ready helper sleeps.
 */
static void find_helper(struct injection *injection)
{
	const struct timespec search = { .tv_nsec = (long)LEAVE_LOOK_NS };
	uint64_t deadline_ns = clock_now_ns() + FIND_LIMIT_NS;

	do
		injection->helper_tid =
			parcel_find_thread(injection->process_fd, injection->base_addr);
	while (injection->helper_tid == 0 && clock_now_ns() < deadline_ns &&
	       nanosleep(&search, NULL) == 0);
}

/*
 * Return true if the process has ended; any failure is then reported as
 * the end of the process.
 */
static bool has_ended(const struct injection *injection)
{
	const struct probe_request *request = &injection->request;
	struct process process;
	int r = proc_stat_read(request->fs, request->pid, &process);

	if (r < 0)
		return r == -ESRCH;
	return process.start_ticks != request->start_ticks || process_has_ended(&process);
}

int inject_load(const struct probe_request *request, struct injection **ret,
		struct ctlpage *ret_page, struct probe_cost *ret_cost,
		const char **ret_reason)
{
	struct injection *injection = injection_new(request);
	int r;

	*ret_cost = (struct probe_cost){ .stops = 0 };
	r = read_process(injection, 0, ret_reason);
	if (r == 0)
		r = put_in(injection, ret_page, ret_cost, ret_reason);
	if (r < 0) {
		/*
		 * -ENOENT means that the process has ended, because no other file that
		 * memstate opens here can be missing
		 */
		if (request->fs->is_live && (r == -ENOENT || has_ended(injection))) {
			*ret_reason = "the process has exited";
			r = -ESRCH;
		}
		injection_free(injection);
		return r;
	}
	r = ctlpage_await_ready(ret_page, READY_LIMIT_NS);
	find_helper(injection);
	if (r == 0) {
		*ret = injection;
		return 0;
	}
	(void)inject_unload(injection, ret_page, ret_cost, ret_reason);
	*ret_reason = "its helper has not started";
	return r;
}

struct injection *inject_adopt(const struct probe_request *request,
			       const struct ctlpage *page)
{
	struct injection *injection = injection_new(request);
	const char *unused;

	if (page->is_segment && !(page->page->flags & AGENT_PRELOADED) &&
	    read_process(injection, page->addr, &unused) == 0 && injection->base_addr) {
		find_helper(injection);
		return injection;
	}
	injection_free(injection);
	return NULL;
}

/*
 * Wait until the helper's thread has ended. If it does not end, the helper's memory must
 * remain in the process, because unmapping the stack of a running thread would crash the
 * process.
 */
static int await_end(const struct injection *injection, const char **ret_reason)
{
	const struct orphans_search own = make_search(injection, 0);
	const struct timespec search = { .tv_nsec = (long)LEAVE_LOOK_NS };
	uint64_t deadline_ns = clock_now_ns() + LEAVE_LIMIT_NS;

	*ret_reason = "the helper is still busy: it exits when it has finished";
	/* the helper may have exited before memstate found its thread id */
	if (injection->helper_tid == 0)
		return orphans_is_empty(&own, injection->base_addr) ? 0 : -EBUSY;
	while (proc_dir_has_thread(injection->process_fd, injection->helper_tid)) {
		if (clock_now_ns() > deadline_ns)
			return -EBUSY;
		nanosleep(&search, NULL);
	}
	return 0;
}

/*
 * Remove the helper. If another memstate is tracing the process, retry for a short time.
 */
static int unload_in_turn(struct injection *injection, struct probe_cost *ret_cost,
			  const char **ret_reason)
{
	const struct timespec search = { .tv_nsec = (long)LEAVE_LOOK_NS };
	uint64_t deadline_ns = clock_now_ns() + TURN_LIMIT_NS;
	int r;

	do {
		struct load l = { .injection = injection };

		r = run(unload, &l, ret_cost, ret_reason);
	} while (r == -EBUSY && clock_now_ns() < deadline_ns &&
		 nanosleep(&search, NULL) == 0);
	return r;
}

int inject_unload(struct injection *injection, struct ctlpage *page,
		  struct probe_cost *ret_cost, const char **ret_reason)
{
	struct ctlpage_answer answer = { .text = NULL };
	int r;

	*ret_cost = (struct probe_cost){ .stops = 0 };
	/* ignore a failed request, because the helper may already have exited */
	(void)ctlpage_ask(page, AGENT_EXIT, LEAVE_LIMIT_NS, &answer);
	free(answer.text);
	r = await_end(injection, ret_reason);
	if (r == 0)
		r = unload_in_turn(injection, ret_cost, ret_reason);
	ctlpage_close(page);
	injection_free(injection);
	/* -ESRCH means that the process has ended, together with its helper */
	return r == -ESRCH ? 0 : r;
}
