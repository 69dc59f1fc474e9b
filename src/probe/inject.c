/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/blob.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "probe/borrow.h"
#include "probe/gates.h"
#include "probe/orphans.h"
#include "probe/own_number.h"
#include "probe/parcel.h"
#include "probe/segment.h"
#include "proc/proc_stat.h"
#include "target/trace.h"

/* A target with 16 threads to a CPU takes its time to get to run. */
#define READY_LIMIT_NS (5 * NS_PER_S)
#define LEAVE_LIMIT_NS (5 * NS_PER_S)
#define TURN_LIMIT_NS (1 * NS_PER_S) /* a debugger does not leave by itself */
#define LEAVE_LOOK_NS (100 * NS_PER_US)

/* What a tracing thread takes at most beyond the time that a safe moment is waited for. */
#define TRACE_EXTRA_NS (20 * NS_PER_S)

struct injection {
	struct probe_request request;
	int process_fd, mem_fd;
	struct landmarks marks;
	uint64_t base_addr; /* of the parcel; 0: it is not there */
	int helper_tid;	    /* in our own pid namespace; 0: not known */
	/* the thread that was borrowed, as it was found */
	struct machine_state *found;
	int found_tid;
	/* what others left, to be taken out with it */
	uint64_t orphans[ORPHANS_MAX];
	size_t orphan_count;
};

struct load {
	struct injection *injection;
	struct borrow borrow;
	struct ctlpage *page;
	struct parcel parcel;
	int page_segment; /* -1: the page is in the parcel */
};

static bool is_error(long result)
{
	return result < 0 && result > -4096;
}

static int fail(struct load *load, int error, const char *reason)
{
	load->borrow.reason = reason;
	return error;
}

/* Where it has no segment of ours, the memory is its own. */
static int place(struct load *load)
{
	const uint64_t attach[7] = { SYS_shmat, (uint64_t)load->parcel.segment, 0,
				     SHM_RDONLY | SHM_EXEC };
	const uint64_t map[7] = { SYS_mmap,
				  0,
				  PARCEL_BYTES,
				  PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
				  UINT64_MAX,
				  0 };
	long result;
	int r;

	r = borrow_syscall(&load->borrow, load->parcel.segment >= 0 ? attach : map, &result);
	if (r < 0)
		return r;
	if (is_error(result))
		return fail(load, (int)result, "the kernel gives it no memory for the helper");
	load->injection->base_addr = (uint64_t)result;
	return 0;
}

/* The parcel is read and written as one piece until its parts get their rights. */
static int adopt(struct load *load)
{
	const struct probe_request *request = &load->injection->request;
	uint64_t base_addr = load->injection->base_addr;
	const uint64_t protect[7] = { SYS_mprotect, base_addr, PARCEL_CODE_BYTES,
				      PROT_READ | PROT_EXEC };
	/* what can be shared is all of a mapping, from its start */
	const uint64_t page[7] = { SYS_mmap,
				   parcel_page_addr(base_addr),
				   AGENT_PAGE_BYTES,
				   PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED,
				   UINT64_MAX,
				   0 };
	long result;
	int r;

	r = parcel_adopt(load->injection->process_fd, base_addr, &load->parcel);
	if (r < 0)
		return fail(load, r, "it is in another ipc namespace, and its memory can only be "
				     "shared with CAP_CHECKPOINT_RESTORE");
	r = borrow_syscall(&load->borrow, protect, &result);
	if (r == 0 && is_error(result))
		return fail(load, (int)result, "it is not allowed to run code of ours");
	if (r == 0)
		r = borrow_syscall(&load->borrow, page, &result);
	if (r == 0 && is_error(result))
		return fail(load, (int)result, "the kernel gives it no memory for the helper");
	if (r == 0)
		r = ctlpage_adopt(request->fs, request->pid, request->start_ticks,
				  parcel_page_addr(base_addr), load->page);
	return r;
}

static int call(struct load *load)
{
	struct injection *injection = load->injection;
	struct machine_order *order;
	long result;
	int r;

	r = parcel_fill(&load->parcel, injection->base_addr, load->page_segment,
			&injection->marks);
	if (r < 0)
		return r;
	order = parcel_order(&load->parcel);
	order->tracer = trace_sign(&order->tracer_now);
	r = borrow_run(&load->borrow, parcel_stub_addr(injection->base_addr),
		       parcel_order_addr(injection->base_addr), &result);
	if (r < 0)
		return r;
	return is_error(result) ? fail(load, (int)result, "it cannot have another thread") : 0;
}

static int take_out(struct borrow *b, uint64_t addr)
{
	const uint64_t unmap[7] = { SYS_munmap, addr, PARCEL_BYTES };
	long result = 0;
	int r = borrow_syscall(b, unmap, &result);

	return r < 0 ? r : is_error(result) ? (int)result : 0;
}

/*
 * Only what is known to have failed is taken out again: a call that has not come back may
 * still do so.
 */
static int load_borrowed(struct load *load)
{
	struct injection *injection = load->injection;
	int r;

	r = place(load);
	if (r == 0 && load->parcel.segment < 0)
		r = adopt(load);
	if (r == 0)
		r = call(load);
	if (r < 0 && r != -ETIMEDOUT && r != -ESRCH && injection->base_addr)
		(void)take_out(&load->borrow, injection->base_addr);
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

static int unload(void *context)
{
	struct load *l = context;
	int r, ended;

	r = borrow_begin(&l->borrow);
	if (r < 0)
		return r;
	r = take_out(&l->borrow, l->injection->base_addr);
	for (size_t i = 0; r == 0 && i < l->injection->orphan_count; i++)
		r = take_out(&l->borrow, l->injection->orphans[i]);
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
		*ret_reason = load->borrow.reason;
	if (!injection->found) {
		injection->found = load->borrow.state;
		injection->found_tid = load->borrow.tid;
		load->borrow.state = NULL;
	}
	borrow_release(&load->borrow);
	return r;
}

/* Segments are made before anything is stopped. */
static int prepare(struct load *load, struct ctlpage *ret_page, const char **ret_reason)
{
	struct injection *injection = load->injection;
	const struct probe_request *request = &injection->request;
	uid_t uid = proc_stat_read_uid(request->fs, request->pid);
	bool has_ours = false;
	int r;

	load->page = ret_page;
	load->page_segment = -1;
	load->borrow.calls_libc = true;
	r = segment_is_shared_with(injection->process_fd, &has_ours);
	*ret_reason = "its namespaces cannot be read";
	if (r < 0 || !has_ours)
		return r;
	*ret_reason = "there is no System V shared memory for the helper";
	r = parcel_make(uid, &load->parcel);
	if (r == 0)
		r = ctlpage_make(request->fs, request->pid, request->start_ticks, uid, ret_page,
				 &load->page_segment);
	return r;
}

static int put_in(struct injection *injection, struct ctlpage *ret_page,
		  struct probe_cost *ret_cost, const char **ret_reason)
{
	struct load l = { .injection = injection, .parcel = PARCEL_INIT };
	struct ctlpage page = CTLPAGE_INIT;
	int r;

	r = prepare(&l, &page, ret_reason);
	if (r == 0 && page.page)
		page.page->owner_pid = own_number_read(injection->process_fd, ".");
	if (r == 0)
		r = run(load, &l, ret_cost, ret_reason);
	parcel_release(&l.parcel);
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

	injection->process_fd = procfs_open_file(request->fs, request->pid, "");
	if (injection->process_fd < 0) {
		*ret_reason = "it has ended";
		return injection->process_fd;
	}
	r = gates_check(request, injection->process_fd, ret_reason);
	if (r < 0)
		return r;
	/* the kernel asks for the same rights as it does for tracing */
	injection->mem_fd = openat(injection->process_fd, "mem", O_RDONLY | O_CLOEXEC);
	if (injection->mem_fd < 0) {
		*ret_reason = GATES_NOT_ALLOWED;
		return errno == EACCES ? -EPERM : -errno;
	}
	return 0;
}

/* A helper that is there still is asked, not taken away from. */
static void note_orphans(struct injection *injection, const struct mapping_list *mappings,
			 uint64_t own_addr)
{
	uint64_t found[ORPHANS_MAX];
	size_t count = orphans_find(mappings, own_addr, found);

	for (size_t i = 0; i < count; i++) {
		uint64_t page_addr = parcel_page_addr(found[i]);
		struct agent_page page;

		if (page_addr == own_addr)
			injection->base_addr = found[i];
		else if (pread(injection->mem_fd, &page, sizeof(page), (off_t)page_addr) ==
				 (ssize_t)sizeof(page) &&
			 (page.helper_tid == 0 ||
			  own_number_find_thread(injection->process_fd, page.helper_tid) == 0))
			injection->orphans[injection->orphan_count++] = found[i];
	}
}

/* own_addr: as orphans_find(). */
static int look_around(struct injection *injection, uint64_t own_addr, const char **ret_reason)
{
	struct mapping_list mappings = MAPPING_LIST_INIT;
	int r;

	r = open_process(injection, ret_reason);
	if (r < 0)
		return r;
	*ret_reason = "its mappings cannot be read";
	r = borrow_read_mappings(injection->process_fd, &mappings);
	if (r == 0)
		r = landmarks_read(injection->process_fd, &mappings, &injection->marks,
				   ret_reason);
	if (r == 0)
		note_orphans(injection, &mappings, own_addr);
	mapping_list_release(&mappings);
	return r;
}

/* Whatever failed, it did because there is no process any more. */
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
		struct ctlpage *ret_page, struct probe_cost *ret_cost, const char **ret_reason)
{
	struct injection *injection = injection_new(request);
	int r;

	*ret_cost = (struct probe_cost){ .stops = 0 };
	r = look_around(injection, 0, ret_reason);
	if (r == 0)
		r = put_in(injection, ret_page, ret_cost, ret_reason);
	if (r < 0) {
		/* nothing else that is looked at can be missing */
		if (request->fs->is_live && (r == -ENOENT || has_ended(injection))) {
			*ret_reason = "it has ended";
			r = -ESRCH;
		}
		injection_free(injection);
		return r;
	}
	r = ctlpage_await_ready(ret_page, READY_LIMIT_NS);
	if (r == 0) {
		injection->helper_tid =
			own_number_find_thread(injection->process_fd, ctlpage_helper_tid(ret_page));
		*ret = injection;
		return 0;
	}
	(void)inject_unload(injection, ret_page, ret_cost, ret_reason);
	*ret_reason = "the helper in it has not begun";
	return r;
}

struct injection *inject_adopt(const struct probe_request *request, const struct ctlpage *page)
{
	struct injection *injection = injection_new(request);
	const char *unused;

	if (page->is_segment && !(page->page->flags & AGENT_PRELOADED) &&
	    look_around(injection, page->addr, &unused) == 0 &&
	    injection->base_addr) {
		injection->helper_tid =
			own_number_find_thread(injection->process_fd, ctlpage_helper_tid(page));
		return injection;
	}
	injection_free(injection);
	return NULL;
}

/* Memory is taken from nobody: the helper's thread is gone, or all of it stays. */
static int await_end(const struct injection *injection, const char **ret_reason)
{
	const struct timespec look = { .tv_nsec = (long)LEAVE_LOOK_NS };
	uint64_t deadline_ns = clock_now_ns() + LEAVE_LIMIT_NS;
	char path[32];

	*ret_reason = "the helper is still at work: it leaves when it has done";
	if (injection->helper_tid == 0)
		return -EBUSY;
	snprintf(path, sizeof(path), "task/%d", injection->helper_tid);
	while (faccessat(injection->process_fd, path, F_OK, 0) == 0) {
		if (clock_now_ns() > deadline_ns)
			return -EBUSY;
		nanosleep(&look, NULL);
	}
	return 0;
}

/* Another memstate that is just then at work there has soon done. */
static int unload_in_turn(struct injection *injection, struct probe_cost *ret_cost,
			  const char **ret_reason)
{
	const struct timespec look = { .tv_nsec = (long)LEAVE_LOOK_NS };
	uint64_t deadline_ns = clock_now_ns() + TURN_LIMIT_NS;
	int r;

	do {
		struct load l = { .injection = injection, .parcel = PARCEL_INIT };

		r = run(unload, &l, ret_cost, ret_reason);
	} while (r == -EBUSY && clock_now_ns() < deadline_ns && nanosleep(&look, NULL) == 0);
	return r;
}

int inject_unload(struct injection *injection, struct ctlpage *page,
		  struct probe_cost *ret_cost, const char **ret_reason)
{
	struct ctlpage_answer answer = { .text = NULL };
	int r;

	*ret_cost = (struct probe_cost){ .stops = 0 };
	/* it may have left by itself */
	(void)ctlpage_ask(page, AGENT_EXIT, LEAVE_LIMIT_NS, &answer);
	free(answer.text);
	r = await_end(injection, ret_reason);
	if (r == 0)
		r = unload_in_turn(injection, ret_cost, ret_reason);
	ctlpage_close(page);
	injection_free(injection);
	/* with the process all of it is gone */
	return r == -ESRCH ? 0 : r;
}
