/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/hooks_visit.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include "base/units.h"
#include "probe/borrow/borrow.h"
#include "probe/borrow/gates.h"
#include "probe/borrow/mapped_code.h"
#include "probe/count/hooks_orphans.h"
#include "proc/process/status.h"
#include "proc/smaps/maps.h"
#include "tracee/ptrace/trace.h"

/* Time that the tracing thread may take in addition to the wait for a safe moment. */
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
		b->reason = "the kernel refused to map memory for the probe";
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

/*
 * Check that libc stores the thread id at HOOKS_TID_OFFSET, as glibc does and as the
 * hooks require.
 */
static int check_tls(struct entering *e)
{
	struct borrow *b = &e->borrow;
	uint32_t found, own;

	own = proc_status_read_own_number(e->visit->process_fd, b->tid);
	if (trace_read_memory(e->visit->request->pid,
			      machine_tls_addr(b->state) + HOOKS_TID_OFFSET, &found,
			      sizeof(found)) == 0 &&
	    found == own && own != 0)
		return 0;
	b->reason = "its libc does not store thread IDs where glibc does";
	return -EOPNOTSUPP;
}

struct code_wanted {
	/* hint_addr: address near which to map the code, or 0 for any address */
	uint64_t bytes, hint_addr;
	int flags;
};

/*
 * Map private memory that the process can read and execute, but not write. Store its
 * address in *ret.
 */
static int map_code(struct borrow *b, const struct code_wanted *wanted, uint64_t *ret)
{
	const uint64_t map[7] = { SYS_mmap,
				  wanted->hint_addr,
				  wanted->bytes,
				  PROT_READ | PROT_EXEC,
				  (uint64_t)(MAP_PRIVATE | MAP_ANONYMOUS | wanted->flags),
				  UINT64_MAX,
				  0 };

	return call(b, map, ret);
}

static int write_code(struct borrow *b, uint64_t addr, const void *from, size_t length)
{
	int r = trace_write_protected(b->tid, b->mem_fd, addr, from, length);

	if (r < 0)
		b->reason = "the process's memory cannot be written";
	return r;
}

bool hooks_visit_set_sites(struct hooks_visit *visit, const struct hook_places *places,
			   const struct mapping_list *mappings)
{
	visit->sites_addr = places->sites_addr;
	visit->sites_end_addr = places->sites_end_addr;
	if (places->sites_end_addr != 0)
		visit->gates_hint_addr =
			mapped_code_find_room(mappings, places->sites_addr);
	return !visit->gates_addr ||
	       hook_places_are_near(places->sites_addr, places->sites_end_addr,
				    visit->gates_addr);
}

/*
 * Map the gates (jumps to hooks) at an address within reach of the call sites. Return
 * -ENOMEM if no such address is free.
 */
static int map_gates(struct entering *e)
{
	struct hooks_visit *v = e->visit;
	/*
	 * The gates' mapping does not have the flag MAP_NORESERVE, so that the kernel
	 * cannot merge it with the hooks' mapping.
	 */
	const struct code_wanted wanted = { GATES_BYTES, v->gates_hint_addr, 0 };
	uint64_t addr = 0;
	int r = map_code(&e->borrow, &wanted, &addr);

	if (r == 0 && !hook_places_are_near(v->sites_addr, v->sites_end_addr, addr)) {
		r = unmap(&e->borrow, addr, GATES_BYTES);
		e->borrow.reason = "no free address space for the probe near its code";
		return r < 0 ? r : -ENOMEM;
	}
	v->gates_addr = r == 0 ? addr : 0;
	return r;
}

/*
 * Write new gates (jumps to hooks) to the process. Their jumps can lead to the hooks
 * immediately, because nothing calls the gates yet.
 */
static int place_gates(struct entering *e)
{
	struct hooks_visit *v = e->visit;
	struct hooks_parcel *parcel = v->parcel;
	int r;

	if (!v->has_own_gates)
		return 0;
	r = map_gates(e);
	if (r < 0)
		return r;
	gates_use_hooks(parcel->gates, parcel->head, v->base_addr);
	parcel->head->gates_addr = v->gates_addr;
	borrow_step(&e->borrow, "code of the gates");
	r = write_code(&e->borrow, v->gates_addr, parcel->gates, sizeof(*parcel->gates));
	if (r == 0)
		r = write_code(&e->borrow,
			       v->base_addr + offsetof(struct hooks_head, gates_addr),
			       &parcel->head->gates_addr,
			       sizeof(parcel->head->gates_addr));
	return r;
}

/*
 * Write the hooks' code to the process, and only then enlarge the mapping to the whole
 * address range of the hooks. If memstate is killed after the code was written, a later
 * memstate can recognize and remove the mapping. Finally, set unmoved_addr to 0, which
 * shows that the whole range belongs to the hooks.
 */
static int place_code(struct entering *e)
{
	struct hooks_visit *v = e->visit;
	struct hooks_head *head = v->parcel->head;
	const struct code_wanted wanted = { HOOKS_CODE_BYTES, 0, MAP_NORESERVE };
	uint64_t addr = 0;
	int r;

	r = map_code(&e->borrow, &wanted, &addr);
	if (r < 0)
		return r;
	v->base_addr = addr;
	head->gates_addr = v->gates_addr;
	head->unmoved_addr = addr;
	borrow_step(&e->borrow, "code");
	r = write_code(&e->borrow, addr, head, head->code_bytes);
	const uint64_t move[7] = { SYS_mremap, addr, HOOKS_CODE_BYTES,
				   hooks_parcel_bytes(v->parcel), MREMAP_MAYMOVE };

	if (r == 0)
		r = call(&e->borrow, move, &v->base_addr);
	if (r < 0)
		return r;
	head->unmoved_addr = 0;
	borrow_step(&e->borrow, "code that has moved");
	return write_code(&e->borrow,
			  v->base_addr + offsetof(struct hooks_head, unmoved_addr),
			  &head->unmoved_addr, sizeof(head->unmoved_addr));
}

static int place_data(struct entering *e)
{
	struct hooks_visit *v = e->visit;
	uint64_t private_addr = v->base_addr + HOOKS_PRIVATE_OFFSET;
	uint64_t private_bytes =
		HOOKS_PRIVATE_BYTES + (v->parcel->nodes ? HOOKS_ARENA_BYTES : 0);
	const uint64_t calls[][7] = {
		{ SYS_mmap, private_addr, private_bytes, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, UINT64_MAX,
		  0 },
		{ SYS_madvise, private_addr, private_bytes, MADV_WIPEONFORK },
		{ SYS_shmat, (uint64_t)v->parcel->counts_segment,
		  v->base_addr + HOOKS_COUNTS_OFFSET, SHM_REMAP },
		{ SYS_shmat, (uint64_t)v->parcel->nodes_segment,
		  v->base_addr + HOOKS_NODES_OFFSET, SHM_REMAP },
	};
	size_t count = v->parcel->nodes ? LENGTH(calls) : LENGTH(calls) - 1;
	uint64_t unused;
	int r = 0;

	for (size_t n = 0; r == 0 && n < count; n++)
		r = call(&e->borrow, calls[n], &unused);
	return r;
}

/*
 * Inject the hooks and their data. The process, and other processes of its user, can
 * attach the shared memory segments only while this function runs.
 */
static int place(struct entering *e)
{
	int r = place_code(e);

	if (r == 0)
		r = hooks_parcel_allow(e->visit->parcel);
	if (r == 0)
		r = place_data(e);
	hooks_parcel_revoke(e->visit->parcel);
	return r == 0 ? place_gates(e) : r;
}

/*
 * Remove the hooks from the process. Unmap only memory that provably
 * belongs to memstate.
 */
static int remove_hooks(struct entering *e)
{
	struct hooks_visit *v = e->visit;
	struct hooks_head head;
	struct gates gates;
	int r = 0;

	if (v->base_addr && hooks_exist(v->mem_fd, v->base_addr, &head))
		r = unmap(&e->borrow, v->base_addr,
			  v->parcel->head->unmoved_addr ? HOOKS_CODE_BYTES
							: hooks_parcel_bytes(v->parcel));
	if (r == 0)
		v->base_addr = 0;
	if (r == 0 && v->has_own_gates && !v->keeps_gates && v->gates_addr &&
	    gates_exist(v->mem_fd, v->gates_addr, &gates))
		r = unmap(&e->borrow, v->gates_addr, GATES_BYTES);
	return r;
}

/*
 * Remove the orphaned hooks. Check each of them again first, because another memstate may
 * have removed them in the meantime and injected its own hooks at the same address.
 */
static int remove_orphans(struct entering *e)
{
	struct hooks_visit *v = e->visit;
	struct mapping_list mappings = MAPPING_LIST_INIT;
	const struct hooks_search search = { v->request->fs, &mappings, v->mem_fd, 0 };
	int r = proc_maps_read(v->process_fd, &mappings);

	for (size_t n = 0; r == 0 && n < v->orphan_count; n++)
		if (hooks_orphans_is_one(&search, &v->orphans[n]))
			r = unmap(&e->borrow, v->orphans[n].addr, v->orphans[n].bytes);
	mapping_list_release(&mappings);
	return r;
}

static int install(struct entering *e)
{
	struct hooks_visit *v = e->visit;
	int r = check_tls(e);

	if (r == 0 && v->orphan_count > 0)
		r = remove_orphans(e);
	v->orphan_count = r == 0 ? 0 : v->orphan_count;
	if (r == 0)
		r = place(e);
	/*
	 * remove the hooks only if the system call of the borrowed thread has certainly
	 * ended
	 */
	if (r < 0 && r != -ETIMEDOUT && r != -ESRCH)
		(void)remove_hooks(e);
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
			    .is_interruptible = work == install,
			    .marks = v->marks,
			    .process_fd = v->process_fd,
			    .mem_fd = v->mem_fd,
			    .reason = "the kernel refused it" },
	};
	int r = trace_run(enter, &e, v->request->limit_ns + TRACE_EXTRA_NS);

	v->cost = e.borrow.cost;
	v->reason = r == -EUSERS || r == -ENOBUFS ? gates_error_text(r) : e.borrow.reason;
	borrow_release(&e.borrow);
	return r;
}

int hooks_install(struct hooks_visit *v)
{
	return run(v, install);
}

int hooks_remove(struct hooks_visit *v)
{
	return run(v, remove_hooks);
}
