/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/helper/parcel_place.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "probe/borrow/parcel.h"
#include "probe/borrow/segment.h"
#include "proc/process/status.h"
#include "tracee/ptrace/trace.h"

static bool is_error(long result)
{
	return result < 0 && result > -4096;
}

static int fail(struct parcel_place *p, int error, const char *reason)
{
	p->borrow->reason = reason;
	return error;
}

/*
 * Map private memory, executable and not writable, for the address range of the helper
 * (the parcel). The stub later maps the page and the stack over parts of this range.
 */
static int place(struct parcel_place *p)
{
	const uint64_t map[7] = { SYS_mmap,
				  0,
				  PARCEL_BYTES,
				  PROT_READ | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				  UINT64_MAX,
				  0 };
	long result;
	int r = borrow_syscall(p->borrow, map, &result);

	if (r < 0)
		return r;
	if (is_error(result))
		return fail(p, (int)result,
			    "the kernel refused to map memory for the helper's code");
	p->addr = (uint64_t)result;
	return 0;
}

/*
 * Map the page as shared anonymous memory in the process, and map the same memory in
 * memstate. This method is used if the ipc namespaces differ, because memstate and the
 * process then cannot share a System V segment.
 */
static int adopt_page(struct parcel_place *p)
{
	const struct probe_request *request = p->borrow->request;
	uint64_t page_addr = parcel_page_addr(p->addr);
	const uint64_t map[7] = { SYS_mmap,
				  page_addr,
				  AGENT_PAGE_BYTES,
				  PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED,
				  UINT64_MAX,
				  0 };
	long result;
	int r = borrow_syscall(p->borrow, map, &result);

	if (r == 0 && is_error(result))
		return fail(p, (int)result,
			    "the kernel refused to map memory for the helper");
	if (r == 0)
		r = ctlpage_adopt(request->fs, request->pid, request->start_ticks,
				  page_addr, p->page);
	if (r == 0)
		p->page->page->owner_pid =
			proc_status_read_own_number(p->borrow->process_fd, 0);
	return r < 0 ? fail(p, r,
			    "the process is in another IPC namespace; sharing memory with "
			    "it requires CAP_CHECKPOINT_RESTORE")
		     : r;
}

/*
 * Write the code of the helper and of the stub to the process. The stub attaches the
 * shared page, and polls the word in it that contains the id of the tracing thread. Until
 * the page is attached, the memory at its address contains a copy of this word.
 */
static int write_code(struct parcel_place *p, uint32_t tracer)
{
	const struct parcel_site site = { p->addr, p->page_segment, tracer,
					  p->borrow->marks };
	uint8_t code[PARCEL_CODE_BYTES];
	int tid = p->borrow->tid, mem_fd = p->borrow->mem_fd, r;

	r = parcel_make_code(&site, code);
	borrow_step(p->borrow, "code");
	if (r == 0)
		r = trace_write_protected(tid, mem_fd, site.addr, code, sizeof(code));
	if (r == 0 && site.page_segment >= 0)
		r = trace_write_protected(tid, mem_fd, parcel_tracer_addr(site.addr),
					  &tracer, sizeof(tracer));
	return r < 0 ? fail(p, r, "the process's memory cannot be written") : 0;
}

/*
 * Run the stub in the borrowed thread. The process, and other processes of its user, can
 * attach the page only while this function runs.
 */
static int call(struct parcel_place *p)
{
	uint32_t tracer = trace_sign(&p->page->page->tracer);
	long result;
	int r;

	r = write_code(p, tracer);
	if (r == 0 && p->page_segment >= 0)
		r = segment_allow(p->page_segment, p->user);
	if (r < 0)
		return r;
	r = borrow_run(p->borrow, parcel_stub_addr(p->addr), parcel_order_addr(p->addr),
		       &result);
	if (p->page_segment >= 0)
		(void)segment_revoke(p->page_segment);
	if (r < 0)
		return r;
	return is_error(result)
		       ? fail(p, (int)result, "the process cannot create another thread")
		       : 0;
}

int parcel_place(struct parcel_place *p)
{
	int r = place(p);

	if (r == 0 && p->page_segment < 0)
		r = adopt_page(p);
	return r == 0 ? call(p) : r;
}

int parcel_remove(struct borrow *b, uint64_t addr)
{
	const uint64_t unmap[7] = { SYS_munmap, addr, PARCEL_BYTES };
	long result = 0;
	int r = borrow_syscall(b, unmap, &result);

	return r < 0 ? r : is_error(result) ? (int)result : 0;
}
