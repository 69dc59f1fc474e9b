/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/hooks_visit.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include "base/units.h"
#include "probe/borrow.h"
#include "probe/own_number.h"
#include "target/trace.h"

/* What a tracing thread takes at most beyond the time that a safe moment is waited for. */
#define TRACE_EXTRA_NS (20 * NS_PER_S)

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct entering {
	struct hooks_visit *visit;
	struct borrow borrow;
	int (*work)(struct entering *e);
};

static bool is_error(long result)
{
	return result < 0 && result > -4096;
}

static int call(struct borrow *b, const uint64_t call[7], uint64_t *ret)
{
	long result = 0;
	int r = borrow_syscall(b, call, &result);

	if (r < 0)
		return r;
	if (is_error(result)) {
		b->reason = "the kernel gives it no memory for the probe";
		return (int)result;
	}
	*ret = (uint64_t)result;
	return 0;
}

static int unmap(struct borrow *b, uint64_t addr, uint64_t bytes)
{
	const uint64_t munmap[7] = { SYS_munmap, addr, bytes };
	uint64_t unused;

	return call(b, munmap, &unused);
}

/* Where glibc keeps the thread's number, as the hooks expect it. */
static int check_tls(struct entering *e)
{
	struct borrow *b = &e->borrow;
	uint32_t found, own;
	char dir[32];

	snprintf(dir, sizeof(dir), "task/%d", b->tid);
	own = own_number_read(e->visit->process_fd, dir);
	if (trace_read_memory(e->visit->request->pid,
			      machine_tls_addr(b->state) + HOOKS_TID_OFFSET, &found,
			      sizeof(found)) == 0 &&
	    found == own && own != 0)
		return 0;
	b->reason = "its libc does not keep the numbers of threads where glibc does";
	return -EOPNOTSUPP;
}

static int place_gates(struct entering *e)
{
	struct hooks_visit *v = e->visit;
	const uint64_t attach[7] = { SYS_shmat, (uint64_t)v->parcel->gates_segment, 0,
				     SHM_RDONLY | SHM_EXEC };

	return v->has_own_gates ? call(&e->borrow, attach, &v->gates_addr) : 0;
}

static int place(struct entering *e)
{
	struct hooks_visit *v = e->visit;
	const uint64_t attach_code[7] = { SYS_shmat, (uint64_t)v->parcel->code_segment, 0,
					  SHM_RDONLY | SHM_EXEC };
	uint64_t unused;
	int r;

	r = call(&e->borrow, attach_code, &v->base_addr);
	if (r < 0)
		return r;
	const uint64_t stacks[][7] = {
		{ SYS_shmat, (uint64_t)v->parcel->nodes_segment, v->base_addr + HOOKS_NODES_OFFSET,
		  SHM_REMAP },
		{ SYS_mmap, v->base_addr + HOOKS_ARENA_OFFSET, HOOKS_ARENA_BYTES,
		  PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, UINT64_MAX, 0 },
		{ SYS_madvise, v->base_addr + HOOKS_ARENA_OFFSET, HOOKS_ARENA_BYTES,
		  MADV_WIPEONFORK },
	};
	const uint64_t rest[][7] = {
		{ SYS_mmap, v->base_addr + HOOKS_PRIVATE_OFFSET, HOOKS_PRIVATE_BYTES,
		  PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, UINT64_MAX, 0 },
		{ SYS_madvise, v->base_addr + HOOKS_PRIVATE_OFFSET, HOOKS_PRIVATE_BYTES,
		  MADV_WIPEONFORK },
		{ SYS_shmat, (uint64_t)v->parcel->counts_segment,
		  v->base_addr + HOOKS_COUNTS_OFFSET, SHM_REMAP },
	};
	for (size_t n = 0; r == 0 && n < LENGTH(rest); n++)
		r = call(&e->borrow, rest[n], &unused);
	for (size_t n = 0; r == 0 && v->parcel->nodes && n < LENGTH(stacks); n++)
		r = call(&e->borrow, stacks[n], &unused);
	return r == 0 ? place_gates(e) : r;
}

static int take_out(struct entering *e)
{
	struct hooks_visit *v = e->visit;
	int r = 0;

	if (v->base_addr)
		r = unmap(&e->borrow, v->base_addr, hooks_parcel_bytes(v->parcel));
	if (r == 0)
		v->base_addr = 0;
	if (r == 0 && v->has_own_gates && !v->keeps_gates && v->gates_addr)
		r = unmap(&e->borrow, v->gates_addr, GATES_BYTES);
	return r;
}

static int put_in(struct entering *e)
{
	struct hooks_visit *v = e->visit;
	int r = check_tls(e);

	for (size_t n = 0; r == 0 && n < v->orphan_count; n++)
		r = unmap(&e->borrow, v->orphans[n].addr, v->orphans[n].bytes);
	v->orphan_count = r == 0 ? 0 : v->orphan_count;
	if (r == 0)
		r = place(e);
	/* only what is known to have failed is taken out again */
	if (r < 0 && r != -ETIMEDOUT && r != -ESRCH)
		(void)take_out(e);
	return r;
}

static int enter(void *context)
{
	struct entering *e = context;
	int r, ended;

	r = borrow_begin(&e->borrow);
	if (r < 0)
		return r;
	r = e->work(e);
	ended = borrow_end(&e->borrow);
	return r < 0 ? r : ended;
}

static int run(struct hooks_visit *v, int (*work)(struct entering *))
{
	struct entering e = {
		.visit = v,
		.work = work,
		.borrow = { .request = v->request,
			    .marks = v->marks,
			    .process_fd = v->process_fd,
			    .mem_fd = v->mem_fd,
			    .reason = "the kernel refused it" },
	};
	int r = trace_run(enter, &e, v->request->limit_ns + TRACE_EXTRA_NS);

	v->cost = e.borrow.cost;
	v->reason = e.borrow.reason;
	borrow_release(&e.borrow);
	return r;
}

int hooks_put_in(struct hooks_visit *v)
{
	return run(v, put_in);
}

int hooks_take_out(struct hooks_visit *v)
{
	return run(v, take_out);
}
