/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_abi - the file in which a program's calls of malloc and its like are counted.
 *
 * One file per program that is run: PID.N in the folder that the variable
 * COUNT_FOLDER_VARIABLE names, N = 0 for the first of that pid, 1 for what it became by
 * exec. A forked child begins one of its own. A head of one page, then slots, one per
 * thread, each written by its thread alone. Counters only grow, but where it is said. The
 * file has its full size from the start, with holes: COUNT_GROW_BYTES at a time get room on
 * the disk. Whoever reads it believes nothing.
 */
#ifndef MS_AGENT_COUNT_ABI_H
#define MS_AGENT_COUNT_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define COUNT_FOLDER_VARIABLE "MEMSTATE_COUNT"

#define COUNT_MAGIC   UINT32_C(0x5443534d) /* "MSCT" */
#define COUNT_VERSION UINT32_C(2)

#define COUNT_HEAD_BYTES 4096
#define COUNT_SLOT_BYTES 256
#define COUNT_GROW_BYTES 4096
/*
 * From so many on, slots of threads that have ended are given to new ones, and their
 * counts go into slot 0.
 */
#define COUNT_SLOTS_KEPT 1000
#define COUNT_SLOT_MAX	 65535
#define COUNT_FILE_MAX	 (COUNT_HEAD_BYTES + (uint64_t)COUNT_SLOT_MAX * COUNT_SLOT_BYTES)

/*
 * A thread adds what it allocated less what it freed to the head's live_bytes when that
 * is more than so much.
 */
#define COUNT_FLUSH_BYTES 16384

enum count_function {
	COUNT_MALLOC,
	COUNT_FREE,
	COUNT_CALLOC,
	COUNT_REALLOC,
	COUNT_REALLOCARRAY,
	COUNT_POSIX_MEMALIGN,
	COUNT_ALIGNED_ALLOC,
	COUNT_MEMALIGN,
	COUNT_VALLOC,
	COUNT_PVALLOC,
	COUNT_NEW,    /* where it does not come to malloc, and its like */
	COUNT_DELETE, /* where it does not come to free, and its like */
	COUNT_FUNCTION_COUNT_
};

enum count_flag {
	COUNT_OTHER_MALLOC = 1 << 0, /* the program has a malloc that comes first */
	COUNT_FORKED = 1 << 1,	     /* not begun by exec */
	COUNT_CALLS_ONLY = 1 << 2,   /* nothing is known but calls and requested bytes */
	COUNT_NO_SIZES = 1 << 3,     /* the allocator does not tell how large a block is: no bytes of blocks */
	COUNT_OTHER_NEW = 1 << 4,    /* the allocator has C++'s new and delete, which are not counted */
	COUNT_FILTERED = 1 << 5,     /* a seccomp filter was installed: the kernel is asked for little */
};

#define COUNT_NAME_BYTES 16

/* The first 64 bytes are what malloc and free write each time. */
struct count_slot {
	uint64_t malloc_calls;
	uint64_t requested_bytes;
	int64_t pending_bytes; /* usable bytes allocated less freed, since last added to live_bytes; goes down, too */
	int64_t high_bytes; /* the most that pending_bytes was since then: noted before there is less */
	uint64_t stack_at; /* a stack is due when malloc_calls + requested_bytes are so much; 0: not told yet */
	uint64_t last_addr;    /* what was allocated last, if nothing was freed since; within a call see count_requested() */
	uint64_t free_calls;
	uint64_t temporary_count; /* freed with no other call since they were allocated */
	uint64_t calls[COUNT_FUNCTION_COUNT_]; /* those of malloc and free are above, and these 0 */
	uint64_t free_null_count; /* of those of free and delete: of NULL */
	uint64_t failed_count;	/* allocating calls that gave nothing */
	uint64_t resized_count; /* of realloc's and reallocarray's: a block was there, and is */
	uint64_t ended_count;	/* of these: of 0 bytes, and the block is gone */
	int64_t flushed_bytes;	/* of this thread, in live_bytes; goes down, too */
	uint64_t flush_count;	/* of this slot, whoever had it */
	int32_t tid;		/* 0: free; -1: being given to another */
	uint32_t is_main;	/* the thread that the program, or the child, began with */
	char name[COUNT_NAME_BYTES];
	uint64_t self; /* the thread's struct pthread; 0: unknown */
};

struct count_head {
	uint32_t magic, version;
	uint32_t head_bytes, slot_bytes;
	int32_t pid, parent_pid; /* as the program sees them */
	uint32_t flags;
	uint32_t slot_count; /* used so far: slots 0 to slot_count - 1; 0 is of threads that have ended */
	int64_t live_bytes; /* all threads', less what is pending in their slots */
	int64_t peak_bytes; /* the most that was seen of that */
	uint32_t fold_begin_count, fold_end_count; /* different: counts are just being moved to slot 0 */
	uint64_t folded_thread_count;
	uint64_t lost_thread_count; /* that there was no slot for: they are in no figure */
	uint64_t lost_child_count;  /* forked children that could have no file */
	int64_t inherited_blocks, inherited_bytes; /* what the parent had when it forked; the bytes in live_bytes */
	char name[COUNT_NAME_BYTES];
	char allocator[256]; /* the file of the malloc that does the work */
};

static_assert(sizeof(struct count_slot) <= COUNT_SLOT_BYTES, "a slot has room");
static_assert(offsetof(struct count_slot, calls) == 64, "what is hot is one line of the cache");
static_assert(offsetof(struct count_slot, free_null_count) == 160, "count_abi version 2");
static_assert(offsetof(struct count_slot, flushed_bytes) == 192, "count_abi version 2");
static_assert(offsetof(struct count_slot, tid) == 208, "count_abi version 2");
static_assert(offsetof(struct count_slot, name) == 216, "count_abi version 2");
static_assert(offsetof(struct count_slot, self) == 232, "count_abi version 2");
static_assert(offsetof(struct count_head, pid) == 16, "count_abi version 2");
static_assert(offsetof(struct count_head, live_bytes) == 32, "count_abi version 2");
static_assert(offsetof(struct count_head, fold_begin_count) == 48, "count_abi version 2");
static_assert(offsetof(struct count_head, lost_child_count) == 72, "count_abi version 2");
static_assert(offsetof(struct count_head, name) == 96, "count_abi version 2");
static_assert(offsetof(struct count_head, allocator) == 112, "count_abi version 2");
static_assert(sizeof(struct count_head) <= COUNT_HEAD_BYTES, "the head has room");

#endif
