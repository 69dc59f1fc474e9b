/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/hooks_switch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "probe/borrow/gates.h"
#include "probe/borrow/machine.h"
#include "probe/borrow/protected_write.h"
#include "proc/process/dir.h"
#include "proc/smaps/maps.h"
#include "tracee/ptrace/stop.h"
#include "tracee/ptrace/trace.h"

/* Pause between two attempts to stop the process. */
#define PAUSE_NS (5 * NS_PER_MS)

#define PAGE_BYTES 4096

/*
 * Maximum number of bytes of each thread's stack in which memstate searches for the frame
 * of a signal handler that interrupted a hook.
 */
#define STACK_LOOK_BYTES (UINT64_C(1) << 20)

struct work {
	struct hooks_switch *s;
	const struct mapping_list *mappings;
	const struct hooks_head *head;
	const struct hook_places *places;
	/* index of the first record in s->records that belongs to `places` */
	size_t first_record;
	size_t done, count;
	/* true once the gates (jumps to hooks) have been written to the process */
	bool has_gates;
	bool is_inside;
};

static void step(const struct hooks_switch *s, const char *name)
{
	if (s->request->step)
		s->request->step(s->request->context, name);
}

static uint64_t hook_addr(const struct work *w, const struct hook_place *place)
{
	if (place->is_for_calls)
		return w->s->base_addr + w->head->offsets[place->hook];
	return w->s->gates_addr + offsetof(struct gates, code) +
	       (uint64_t)place->hook * GATE_BYTES;
}

/*
 * Like trace_read_memory(), but return -ETIMEDOUT if the process was resumed during the
 * read. A read can block for a long time.
 */
static int read_stopped(const struct stop *stop, int pid, uint64_t addr, void *to,
			size_t length)
{
	int r = trace_read_memory(pid, addr, to, length);

	return stop_has_ended(stop) ? -ETIMEDOUT : r;
}

static int read_place(const struct stop *stop, int pid, uint64_t addr, bool is_call_site,
		      uint64_t *ret)
{
	int32_t distance;
	int r;

	if (!is_call_site)
		return read_stopped(stop, pid, addr, ret, sizeof(*ret));
	r = read_stopped(stop, pid, addr, &distance, sizeof(distance));
	if (r == 0)
		*ret = hook_place_target(addr, distance);
	return r;
}

/*
 * Patch a function address or a call. The displacement in a call has 4 bytes, but ptrace
 * writes 8, so the write includes the 4 adjacent bytes unchanged.
 */
static int write_place(const struct work *w, const struct stop *stop, uint64_t addr,
		       bool is_call_site, uint64_t target)
{
	/* choose 4 adjacent bytes on the same page, which is certainly mapped */
	uint64_t offset = is_call_site && addr % PAGE_BYTES >= sizeof(uint64_t) / 2 ? 4
										    : 0;
	uint8_t word[sizeof(uint64_t)];
	int32_t distance;
	uint64_t whole;
	int r;

	if (!is_call_site)
		return stop_write_word(stop, addr, target);
	if (!hook_place_distance(addr, target, &distance))
		return -ERANGE;
	r = read_stopped(stop, w->s->request->pid, addr - offset, word, sizeof(word));
	if (r < 0)
		return r;
	memcpy(word + offset, &distance, sizeof(distance));
	memcpy(&whole, word, sizeof(whole));
	return stop_write_word(stop, addr - offset, whole);
}

/*
 * Write the records of all addresses and calls to the process. This function must be
 * called before the first address or call is patched.
 */
static int record_places(struct work *w)
{
	struct hooks_switch *s = w->s;
	const struct protected_target target = { s->request->pid, s->process_fd,
						 s->mem_fd };
	uint64_t head_addr = s->base_addr + offsetof(struct hooks_head, record_count);
	size_t first = s->record_count;
	uint32_t count;
	int r;

	for (size_t i = 0; i < w->places->count; i++) {
		const struct hook_place *place = &w->places->items[i];

		s->records[s->record_count++] = (struct hooks_record){
			place->addr | (place->is_call_site ? HOOKS_RECORD_IS_CALL : 0),
			place->found
		};
	}
	w->first_record = first;
	count = (uint32_t)s->record_count;
	r = protected_write(&target,
			    s->base_addr + HOOKS_RECORDS_OFFSET +
				    first * sizeof(*s->records),
			    &s->records[first], w->places->count * sizeof(*s->records));
	return r < 0 ? r : protected_write(&target, head_addr, &count, sizeof(count));
}

static int redirect(struct work *w, const struct stop *stop, size_t index)
{
	const struct hook_place *place = &w->places->items[index];
	uint64_t now = 0;
	int r;

	r = read_place(stop, w->s->request->pid, place->addr, place->is_call_site, &now);
	if (r == -ETIMEDOUT)
		return r;
	/*
	 * skip an address if its library has been unloaded or the process has changed its
	 * contents
	 */
	if (r < 0 || (now != place->found && now != w->places->originals[place->hook]))
		return 0;
	w->s->records[w->first_record + index].original = now;
	step(w->s, "place");
	w->count++;
	return write_place(w, stop, place->addr, place->is_call_site,
			   hook_addr(w, place));
}

/*
 * Write the gates (jumps to hooks) while all threads are stopped, so that no thread reads
 * a half-written address.
 */
static int write_gates(struct work *w, const struct stop *stop)
{
	const struct hooks_switch *s = w->s;
	uint64_t addr = s->gates_addr + offsetof(struct gates, targets);
	int r = 0;

	if (!s->gates || w->has_gates)
		return 0;
	step(s, "gates");
	for (size_t i = 0; r == 0 && i < HOOK_MAX; i++)
		r = stop_write_word(stop, addr + i * sizeof(uint64_t),
				    s->gates->targets[i]);
	w->has_gates = r == 0;
	return r;
}

/*
 * Check that the hooks are still in the process. Return 0; -ESRCH if they are gone
 * because the process has called execve(2), in which case memstate must change nothing;
 * or -ETIMEDOUT.
 */
static int check_hooks(const struct work *w, const struct stop *stop)
{
	uint32_t magic;
	int r = read_stopped(stop, w->s->request->pid,
			     w->s->base_addr + offsetof(struct hooks_head, magic), &magic,
			     sizeof(magic));

	if (r == -ETIMEDOUT)
		return r;
	return r == 0 && magic == HOOKS_MAGIC ? 0 : -ESRCH;
}

/*
 * Redirect all addresses and calls to the hooks. If the time for this stop expires,
 * continue during the next stop.
 */
static int redirect_all(void *context, const struct stop *stop)
{
	struct work *w = context;
	int r = check_hooks(w, stop);

	if (r == 0)
		r = write_gates(w, stop);
	for (; r == 0 && w->done < w->places->count; w->done++) {
		if (clock_now_ns() > stop->deadline_ns)
			return -ETIMEDOUT;
		r = redirect(w, stop, w->done);
		if (r < 0)
			return r;
	}
	return r;
}

static bool is_in_hooks(const struct hooks_switch *s, uint64_t addr)
{
	return addr >= s->base_addr + sizeof(struct hooks_head) &&
	       addr < s->base_addr + s->code_bytes;
}

static bool is_ours(const struct hooks_switch *s, uint64_t addr)
{
	return is_in_hooks(s, addr) ||
	       (s->gates_addr && addr - s->gates_addr < GATES_BYTES);
}

/*
 * Set *ret to true if the thread may be executing a hook, or a signal handler that
 * returns to a hook. Other addresses of hooks on a stack are stale, because no function
 * that a hook calls returns to the hook. Return 0 or -ETIMEDOUT.
 */
static int check_inside(const struct work *w, const struct stop *stop,
			const struct stopped_thread *thread, bool *ret)
{
	const struct mapping *stack = mapping_list_find(w->mappings, thread->stack_addr);
	uint64_t start = (thread->stack_addr + 7) / 8 * 8;
	_cleanup_free_ uint64_t *words = NULL;
	uint64_t bytes;
	int r;

	*ret = is_in_hooks(w->s, thread->code_addr);
	/* a thread without a stack is starting or ending, so it is not in a hook */
	if (!*ret && !stack)
		*ret = thread->stack_addr != 0;
	if (*ret || !stack)
		return 0;
	bytes = stack->end_addr - start;
	if (bytes > STACK_LOOK_BYTES)
		bytes = STACK_LOOK_BYTES;
	words = xmalloc(bytes + 1);
	r = read_stopped(stop, w->s->request->pid, start, words, bytes);
	if (r == -ETIMEDOUT)
		return r;
	*ret = r < 0;
	for (size_t i = 0; r == 0 && !*ret && i < bytes / sizeof(*words); i++)
		*ret = is_in_hooks(w->s, words[i]) &&
		       machine_is_interrupted(words, bytes / sizeof(*words), i);
	return 0;
}

static int restore(struct work *w, const struct stop *stop,
		   const struct hooks_record *record)
{
	bool is_call_site = record->addr & HOOKS_RECORD_IS_CALL;
	uint64_t addr = record->addr & ~HOOKS_RECORD_IS_CALL, now = 0;
	int r;

	if (!is_call_site && addr % sizeof(uint64_t) != 0)
		return 0;
	r = read_place(stop, w->s->request->pid, addr, is_call_site, &now);
	if (r == -ETIMEDOUT)
		return r;
	if (r < 0 || !is_ours(w->s, now))
		return 0;
	step(w->s, "place back");
	return write_place(w, stop, addr, is_call_site, record->original);
}

static int restore_all(void *context, const struct stop *stop)
{
	struct work *w = context;
	bool is_inside = false;
	int r = check_hooks(w, stop);

	if (r == 0)
		r = write_gates(w, stop);
	if (r < 0)
		return r;
	/*
	 * restore in reverse order: of two records for the same address, the older one
	 * has the original contents
	 */
	for (; w->done < w->s->record_count; w->done++) {
		if (clock_now_ns() > stop->deadline_ns)
			return -ETIMEDOUT;
		r = restore(w, stop, &w->s->records[w->s->record_count - 1 - w->done]);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; !is_inside && i < stop->count; i++) {
		r = check_inside(w, stop, &stop->threads[i], &is_inside);
		if (r < 0)
			return r;
	}
	w->is_inside = is_inside;
	return 0;
}

static int run_once(struct work *w, int (*work)(void *, const struct stop *))
{
	struct mapping_list mappings = MAPPING_LIST_INIT;
	_cleanup_close_ int task_fd = proc_dir_open_threads(w->s->process_fd);
	const struct stop_request request = {
		.pid = w->s->request->pid,
		.task_fd = task_fd,
		.limit_ns = HOOKS_PAUSE_NS,
		.work = work,
		.context = w,
	};
	uint64_t pause_ns = 0;
	int r;

	if (task_fd < 0)
		return task_fd == -ENOENT ? -ESRCH : task_fd;
	/* read the mappings before stopping the process, to keep the stop short */
	r = proc_maps_read(w->s->process_fd, &mappings);
	w->mappings = &mappings;
	step(w->s, "stop of all");
	if (r == 0)
		r = stop_run(&request, &pause_ns);
	w->s->pause_ns += pause_ns;
	w->s->stop_count++;
	w->mappings = NULL;
	mapping_list_release(&mappings);
	return r;
}

static bool can_be_retried(int r)
{
	return r == -ETIMEDOUT || r == -EAGAIN || r == -ESTALE;
}

static int run(struct work *w, int (*work)(void *, const struct stop *))
{
	const struct timespec pause = { .tv_nsec = (long)PAUSE_NS };
	uint64_t deadline_ns = clock_now_ns() + w->s->request->limit_ns;

	for (;;) {
		int r = run_once(w, work);

		if (!can_be_retried(r) && !(r == 0 && w->is_inside))
			return r;
		if (clock_now_ns() > deadline_ns)
			return r == 0 ? 0 : -EAGAIN;
		/*
		 * if a signal asks memstate to exit, stop patching, but do not stop
		 * removing the hooks
		 */
		if (work == redirect_all && interrupt_is_pending())
			return -EINTR;
		nanosleep(&pause, NULL);
	}
}

int hooks_switch_on(struct hooks_switch *s, const struct hooks_head *head,
		    const struct hook_places *places, size_t *ret_count)
{
	struct work w = { .s = s, .head = head, .places = places };
	int r;

	if (places->count > HOOKS_RECORD_MAX - s->record_count)
		return -E2BIG;
	r = record_places(&w);
	if (r == 0)
		r = run(&w, redirect_all);
	*ret_count = w.count;
	return r;
}

int hooks_switch_off(struct hooks_switch *s, bool *ret_is_inside)
{
	struct work w = { .s = s, .is_inside = true };
	int r = run(&w, restore_all);

	*ret_is_inside = w.is_inside;
	return r;
}

const char *hooks_switch_explain(int error)
{
	switch (error) {
	case -EBUSY: return "another tracer is attached to the process";
	case -EPERM: return GATES_NOT_ALLOWED;
	case -ESRCH: return "the process has exited";
	case -EINTR: return "memstate received a termination signal";
	case -E2BIG: return "it calls its allocator from too many places";
	case -ERANGE: return "its code is out of reach of the probe";
	default: return "its threads did not all stop in time";
	}
}
