/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/parcel.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "agent/blob.h"
#include "base/cleanup.h"
#include "probe/segment.h"

/* Of the stack: for the call of pthread_create(), the rest is the helper's. */
#define CALL_STACK_BYTES (64 << 10)

/* What pthread_create() says, behind the stack of the call. */
#define THREAD_BYTES 64

/* The code part begins with the blob; then these. */
#define PART_BYTES 512
#define STUB_OFFSET (PARCEL_CODE_BYTES - 3 * PART_BYTES)
#define ORDER_OFFSET (STUB_OFFSET + PART_BYTES)
#define ATTRIBUTES_OFFSET (ORDER_OFFSET + PART_BYTES)

_Static_assert(sizeof(struct machine_order) <= ATTRIBUTES_OFFSET - ORDER_OFFSET, "room");
_Static_assert(sizeof(pthread_attr_t) <= PARCEL_CODE_BYTES - ATTRIBUTES_OFFSET, "room");

int parcel_make(uid_t uid, struct parcel *ret)
{
	void *code;
	int segment, r;

	r = segment_make(PARCEL_BYTES, uid, SHM_NORESERVE, &segment, &code);
	if (r == 0)
		*ret = (struct parcel){ code, segment };
	return r;
}

int parcel_adopt(int process_fd, uint64_t addr, struct parcel *ret)
{
	_cleanup_close_ int fd = -1;
	char path[64];
	void *code;

	snprintf(path, sizeof(path), "map_files/%" PRIx64 "-%" PRIx64, addr,
		 addr + PARCEL_BYTES);
	fd = openat(process_fd, path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES ? -EPERM : -errno;
	code = mmap(NULL, PARCEL_CODE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (code == MAP_FAILED)
		return -errno;
	*ret = (struct parcel){ code, -1 };
	return 0;
}

void parcel_release(struct parcel *parcel)
{
	if (parcel->segment >= 0)
		shmdt(parcel->code);
	else if (parcel->code)
		munmap(parcel->code, PARCEL_CODE_BYTES);
	*parcel = (struct parcel)PARCEL_INIT;
}

static void fill_attributes(struct parcel *parcel, uint64_t stack_addr)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstack(&attributes, (void *)(uintptr_t)stack_addr,
			      PARCEL_STACK_BYTES - CALL_STACK_BYTES);
	memcpy(parcel->code + ATTRIBUTES_OFFSET, &attributes, sizeof(attributes));
	pthread_attr_destroy(&attributes);
}

int parcel_fill(struct parcel *parcel, uint64_t addr, int page_segment,
		const struct landmarks *marks)
{
	uint64_t stack_addr = parcel_page_addr(addr) + AGENT_PAGE_BYTES;
	uint64_t end_addr = stack_addr + PARCEL_STACK_BYTES;
	struct agent_blob_head head;
	size_t blob_bytes, stub_bytes;
	const void *blob = agent_blob(&blob_bytes);
	const uint8_t *stub = machine_stub(&stub_bytes);

	if (blob_bytes < sizeof(head) || blob_bytes > STUB_OFFSET ||
	    stub_bytes > ORDER_OFFSET - STUB_OFFSET)
		return -E2BIG;
	memcpy(&head, blob, sizeof(head));
	head.functions = marks->functions;
	memcpy(parcel->code, blob, blob_bytes);
	memcpy(parcel->code, &head, sizeof(head));
	memcpy(parcel->code + STUB_OFFSET, stub, stub_bytes);
	fill_attributes(parcel, stack_addr);
	*parcel_order(parcel) = (struct machine_order){
		.page_segment = page_segment,
		.page_addr = parcel_page_addr(addr),
		.stack_addr = stack_addr,
		.stack_bytes = PARCEL_STACK_BYTES,
		.call_stack_addr = end_addr - THREAD_BYTES,
		.shared_addr = addr,
		.shared_bytes = PARCEL_CODE_BYTES + AGENT_PAGE_BYTES,
		.function_addr = marks->pthread_create_addr,
		.arguments = { end_addr - THREAD_BYTES, addr + ATTRIBUTES_OFFSET,
			       addr + head.entry_offset, parcel_page_addr(addr) },
	};
	return 0;
}

struct machine_order *parcel_order(const struct parcel *parcel)
{
	return (struct machine_order *)(void *)(parcel->code + ORDER_OFFSET);
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
