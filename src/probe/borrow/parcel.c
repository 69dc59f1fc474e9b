/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/parcel.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/blob.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "proc/process/dir.h"

/*
 * Size of the upper end of the helper's stack, which memstate uses as the stack for the
 * call to pthread_create(). The helper's thread uses the rest of the stack.
 */
#define CALL_STACK_BYTES (64 << 10)

/*
 * Size of the space above the stack of pthread_create() where that function stores the
 * new thread's id.
 */
#define THREAD_BYTES 64

/*
 * Size of each of three areas at the end of the helper's code area: the stub
 * that starts the helper, the stub's struct machine_order, and the attributes of
 * the helper's thread.
 */
#define PART_BYTES 512
#define STUB_OFFSET (PARCEL_CODE_BYTES - 3 * PART_BYTES)
#define ORDER_OFFSET (STUB_OFFSET + PART_BYTES)
#define ATTRIBUTES_OFFSET (ORDER_OFFSET + PART_BYTES)

_Static_assert(sizeof(struct machine_order) <= ATTRIBUTES_OFFSET - ORDER_OFFSET, "room");
_Static_assert(sizeof(pthread_attr_t) <= PARCEL_CODE_BYTES - ATTRIBUTES_OFFSET, "room");

static void fill_attributes(uint8_t *code, uint64_t stack_addr)
{
	pthread_attr_t attributes;

	memset(&attributes, 0, sizeof(attributes));
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstack(&attributes, (void *)(uintptr_t)stack_addr,
			      PARCEL_STACK_BYTES - CALL_STACK_BYTES);
	memcpy(code + ATTRIBUTES_OFFSET, &attributes, sizeof(attributes));
	pthread_attr_destroy(&attributes);
}

static struct machine_order make_order(const struct parcel_site *site,
				       uint32_t entry_offset)
{
	uint64_t stack_addr = parcel_stack_addr(site->addr);
	uint64_t end_addr = stack_addr + PARCEL_STACK_BYTES;

	return (struct machine_order){
		.page_segment = site->page_segment,
		.page_addr = parcel_page_addr(site->addr),
		.stack_addr = stack_addr,
		.stack_bytes = PARCEL_STACK_BYTES,
		.call_stack_addr = end_addr - THREAD_BYTES,
		.no_fork_addr = site->addr,
		.no_fork_bytes = PARCEL_CODE_BYTES + AGENT_PAGE_BYTES,
		.function_addr = site->marks->pthread_create_addr,
		.arguments = { end_addr - THREAD_BYTES, site->addr + ATTRIBUTES_OFFSET,
			       site->addr + entry_offset, parcel_page_addr(site->addr) },
		.tracer = site->tracer,
		.tracer_now_addr = parcel_tracer_addr(site->addr),
	};
}

int parcel_make_code(const struct parcel_site *site, uint8_t ret[PARCEL_CODE_BYTES])
{
	struct agent_blob_head head;
	struct machine_order order;
	size_t blob_bytes, stub_bytes;
	const void *blob = agent_blob(&blob_bytes);
	const uint8_t *stub = machine_stub(&stub_bytes);

	if (blob_bytes < sizeof(head) || blob_bytes > STUB_OFFSET ||
	    stub_bytes > ORDER_OFFSET - STUB_OFFSET)
		return -E2BIG;
	memset(ret, 0, PARCEL_CODE_BYTES);
	memcpy(&head, blob, sizeof(head));
	head.functions = site->marks->functions;
	memcpy(ret, blob, blob_bytes);
	memcpy(ret, &head, sizeof(head));
	memcpy(ret + STUB_OFFSET, stub, stub_bytes);
	fill_attributes(ret, parcel_stack_addr(site->addr));
	order = make_order(site, head.entry_offset);
	memcpy(ret + ORDER_OFFSET, &order, sizeof(order));
	return 0;
}

bool parcel_exists(int mem_fd, uint64_t addr, const struct landmarks *marks)
{
	const struct parcel_site site = { addr, -1, 0, marks };
	uint8_t expected[PARCEL_CODE_BYTES], found[PARCEL_CODE_BYTES];
	struct machine_order order;

	if (parcel_make_code(&site, expected) < 0 ||
	    pread(mem_fd, found, sizeof(found), (off_t)addr) != (ssize_t)sizeof(found))
		return false;
	memcpy(&order, found + ORDER_OFFSET, sizeof(order));
	order.page_segment = site.page_segment;
	order.tracer = site.tracer;
	memcpy(found + ORDER_OFFSET, &order, sizeof(order));
	memcpy(found, &marks->functions, sizeof(marks->functions));
	return memcmp(found, expected, sizeof(found)) == 0;
}

/*
 * Return true if the thread's stack pointer is in the parcel (the helper's code, page and
 * stack). The stack pointer is the second-to-last word of a line in
 * /proc/PID/task/TID/syscall, such as "202 0x7f… … 0x7ffe… 0x7f…".
 */
static bool is_on_stack(const char *text, uint64_t addr)
{
	uint64_t stack_addr, code_addr;
	const char *at = text + strlen(text);

	for (int words = 0; at > text && words < 2; at--)
		words += at[-1] == ' ';
	return sscanf(at, "%" SCNx64 " %" SCNx64, &stack_addr, &code_addr) == 2 &&
	       stack_addr - addr <= PARCEL_BYTES;
}

int parcel_find_thread(int process_fd, uint64_t addr)
{
	_cleanup_closedir_ DIR *tasks = proc_dir_list_threads(process_fd);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct dirent *entry;
	int tid;

	while (tasks && (entry = readdir(tasks))) {
		if (num_parse_pid(entry->d_name, &tid) < 0)
			continue;
		strbuf_clear(&text);
		if (proc_dir_read_thread(process_fd, tid, PROC_SYSCALL, 256, &text) ==
			    0 &&
		    is_on_stack(strbuf_text(&text), addr))
			return tid;
	}
	return 0;
}

uint64_t parcel_order_addr(uint64_t addr)
{
	return addr + ORDER_OFFSET;
}

uint64_t parcel_stub_addr(uint64_t addr)
{
	return addr + STUB_OFFSET;
}

uint64_t parcel_page_addr(uint64_t addr)
{
	return addr + PARCEL_CODE_BYTES;
}

uint64_t parcel_stack_addr(uint64_t addr)
{
	return parcel_page_addr(addr) + AGENT_PAGE_BYTES;
}

uint64_t parcel_tracer_addr(uint64_t addr)
{
	return parcel_page_addr(addr) + offsetof(struct agent_page, tracer);
}
