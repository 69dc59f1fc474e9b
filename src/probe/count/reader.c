/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/reader.h"

#include <errno.h>
#include <string.h>

#include "agent/count/abi.h"
#include "base/units.h"
#include "base/xalloc.h"

static const enum counted_call calls_of[COUNT_FUNCTION_COUNT_] = {
	[COUNT_MALLOC] = CALL_MALLOC,
	[COUNT_FREE] = CALL_FREE,
	[COUNT_CALLOC] = CALL_CALLOC,
	[COUNT_REALLOC] = CALL_REALLOC,
	[COUNT_REALLOCARRAY] = CALL_REALLOCARRAY,
	[COUNT_POSIX_MEMALIGN] = CALL_POSIX_MEMALIGN,
	[COUNT_ALIGNED_ALLOC] = CALL_ALIGNED_ALLOC,
	[COUNT_MEMALIGN] = CALL_MEMALIGN,
	[COUNT_VALLOC] = CALL_VALLOC,
	[COUNT_PVALLOC] = CALL_PVALLOC,
	[COUNT_NEW] = CALL_NEW,
	[COUNT_DELETE] = CALL_DELETE,
};
static_assert((int)COUNT_FUNCTION_COUNT_ == (int)CALL_COUNT_, "each has a place");

/*
 * Return the sum over all threads, or BYTES_UNKNOWN if it is negative. The value of a
 * single thread may be negative, because the thread may free blocks of other threads, but
 * the actual sum cannot be negative.
 */
static uint64_t known_if_positive(int64_t sum)
{
	return sum < 0 ? BYTES_UNKNOWN : (uint64_t)sum;
}

/*
 * Read the counts in a thread's slot. Return the number of allocated blocks minus the
 * number of freed blocks.
 */
static int64_t add_slot(const struct count_slot *slot, struct count_sums *ret)
{
	uint64_t blocks;

	*ret = (struct count_sums){
		.free_null_calls = slot->free_null_count,
		.failed_calls = slot->failed_count,
		.requested_bytes = slot->requested_bytes,
		.temporary_blocks = slot->temporary_count,
		.live_blocks = BYTES_UNKNOWN,
		.live_bytes = BYTES_UNKNOWN,
	};
	for (int i = 0; i < COUNT_FUNCTION_COUNT_; i++)
		ret->calls[calls_of[i]] = slot->calls[i];
	ret->calls[CALL_MALLOC] = slot->malloc_calls;
	ret->calls[CALL_FREE] = slot->free_calls;
	for (int i = 0; i < CALL_COUNT_; i++)
		if (i != CALL_FREE && i != CALL_DELETE)
			ret->allocation_calls =
				bytes_add(ret->allocation_calls, ret->calls[i]);
	/* a realloc() that frees a block is counted as an allocation, not as a free */
	blocks = ret->allocation_calls - slot->failed_count - slot->resized_count -
		 2 * slot->ended_count - (slot->free_calls - slot->free_null_count) -
		 ret->calls[CALL_DELETE];
	return (int64_t)blocks;
}

/* The state of a loop that sums the counts of all threads. */
struct reading {
	const struct count_head *head;
	struct count_program *program;
	int64_t blocks, bytes, high_bytes;
	/*
	 * upper bounds on the sums of the positive and of the negative pending bytes, as
	 * absolute values
	 */
	uint64_t above_bytes, below_bytes;
	size_t used_slots;
};

/*
 * Return an upper bound on the bytes that a thread has not yet added to the process's
 * total. A thread flushes its pending bytes before they exceed COUNT_FLUSH_BYTES.
 */
static uint64_t most_pending(const struct count_slot *slot, int64_t seen_bytes)
{
	if (slot->flush_count > 0 || seen_bytes > COUNT_FLUSH_BYTES ||
	    seen_bytes < -COUNT_FLUSH_BYTES)
		return COUNT_FLUSH_BYTES;
	return (uint64_t)(seen_bytes < 0 ? -seen_bytes : seen_bytes);
}

/*
 * Return true if the thread of this slot has freed blocks. Otherwise its pending bytes
 * were never negative.
 */
static bool has_freed(const struct count_slot *slot)
{
	return slot->free_calls != slot->free_null_count || slot->resized_count ||
	       slot->ended_count || slot->calls[COUNT_DELETE];
}

static void read_slot(struct reading *reading, const struct count_slot *slot)
{
	struct count_program *p = reading->program;
	struct count_thread *t;

	t = &p->threads[p->listed_count++];
	*t = (struct count_thread){ .tid = slot->tid, .is_main = slot->is_main != 0 };
	memcpy(t->name, slot->name, sizeof(t->name));
	t->name[sizeof(t->name) - 1] = '\0';
	reading->blocks =
		(int64_t)((uint64_t)reading->blocks + (uint64_t)add_slot(slot, &t->sums));
	reading->bytes =
		(int64_t)((uint64_t)reading->bytes + (uint64_t)slot->pending_bytes);
	reading->high_bytes = slot->high_bytes;
	reading->above_bytes += most_pending(slot, slot->high_bytes > slot->pending_bytes
							   ? slot->high_bytes
							   : slot->pending_bytes);
	/*
	 * the slot does not record how low the thread's pending bytes have been, so
	 * assume the lower bound -COUNT_FLUSH_BYTES
	 */
	if (has_freed(slot))
		reading->below_bytes += COUNT_FLUSH_BYTES;
	reading->used_slots++;
	if (reading->head->flags & COUNT_CALLS_ONLY)
		t->sums.failed_calls = t->sums.temporary_blocks = BYTES_UNKNOWN;
	count_sums_add(&p->sums, &t->sums);
}

static void finish(struct reading *reading)
{
	const struct count_head *head = reading->head;
	struct count_program *p = reading->program;
	bool has_blocks = !(head->flags & COUNT_CALLS_ONLY);
	bool has_bytes = has_blocks && !(head->flags & COUNT_NO_SIZES);
	int64_t peak = head->peak_bytes, high;

	p->sums.live_blocks = p->sums.live_bytes = BYTES_UNKNOWN;
	p->peak_live_bytes = p->peak_error_bytes = BYTES_UNKNOWN;
	if (!has_blocks)
		p->sums.failed_calls = p->sums.temporary_blocks = BYTES_UNKNOWN;
	if (has_blocks)
		p->sums.live_blocks = known_if_positive(reading->blocks);
	if (!has_bytes)
		return;
	p->sums.live_bytes = known_if_positive(reading->bytes);
	/*
	 * With a single thread, add the maximum of its pending bytes to the peak, which
	 * is then exact. With several threads, add the pending bytes of each thread to
	 * the error of the peak.
	 */
	if (reading->used_slots <= 1 &&
	    !__builtin_add_overflow(head->live_bytes, reading->high_bytes, &high) &&
	    high > peak)
		peak = high;
	if (reading->bytes > peak)
		peak = reading->bytes;
	p->peak_live_bytes = known_if_positive(peak);
	p->peak_error_bytes = reading->above_bytes > reading->below_bytes
				      ? reading->above_bytes
				      : reading->below_bytes;
	if (p->thread_count <= 1)
		p->peak_error_bytes = 0;
}

static void read_slots(const char *bytes, size_t length, struct count_program *p)
{
	const struct count_head *head = (const void *)bytes;
	struct reading reading = {
		.head = head,
		.program = p,
		.blocks = head->inherited_blocks,
		.bytes = head->live_bytes,
	};
	size_t count = (length - COUNT_HEAD_BYTES) / COUNT_SLOT_BYTES;

	if (head->slot_count < count)
		count = head->slot_count;
	p->sums = (struct count_sums){ .failed_calls = 0 };
	p->thread_count = head->folded_thread_count;
	p->listed_count = 0;
	p->threads =
		xgrow(p->threads, &p->thread_capacity, count + 1, sizeof(*p->threads));
	for (size_t i = 0; i < count; i++) {
		const struct count_slot *slot =
			(const void *)(bytes + COUNT_HEAD_BYTES + i * COUNT_SLOT_BYTES);

		if (i == 0 ? head->folded_thread_count > 0 : slot->tid > 0) {
			read_slot(&reading, slot);
			p->thread_count += i > 0;
		}
	}
	finish(&reading);
}

static bool is_sound(const struct count_head *head, size_t length, int pid)
{
	return length >= COUNT_HEAD_BYTES && head->magic == COUNT_MAGIC &&
	       head->version == COUNT_VERSION && head->head_bytes == COUNT_HEAD_BYTES &&
	       head->slot_bytes == COUNT_SLOT_BYTES && head->pid == pid;
}

bool count_is_torn(const char *bytes, size_t length)
{
	const struct count_head *head = (const void *)bytes;

	return length >= COUNT_HEAD_BYTES &&
	       head->fold_begin_count != head->fold_end_count;
}

int count_read_program(const char *bytes, size_t length, struct count_program *p)
{
	const struct count_head *head = (const void *)bytes;

	if (!is_sound(head, length, p->pid))
		return -EBADMSG;
	p->parent_pid = head->parent_pid;
	memcpy(p->name, head->name, sizeof(p->name));
	p->name[sizeof(p->name) - 1] = '\0';
	memcpy(p->allocator, head->allocator, sizeof(p->allocator));
	p->allocator[sizeof(p->allocator) - 1] = '\0';
	p->is_forked = head->flags & COUNT_FORKED;
	p->has_other_malloc = head->flags & COUNT_OTHER_MALLOC;
	p->has_other_new = head->flags & COUNT_OTHER_NEW;
	p->has_filter = head->flags & COUNT_FILTERED;
	p->lost_threads = head->lost_thread_count;
	p->lost_children = head->lost_child_count;
	read_slots(bytes, length, p);
	return 0;
}
