/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * abi - the format of the file in which the preloaded library counts calls to malloc and
 * related functions. There is one file for each program run: PID.N in the folder named by
 * the environment variable COUNT_FOLDER_VARIABLE. N is 0 for the first program with the
 * pid, 1 for the program that replaced it through execve(), and so on. A forked child
 * process creates its own file.
 *
 * The file has a header of one page, followed by slots. A slot contains the counters of
 * one thread, and only that thread writes to it. Counters only increase unless their
 * comment says otherwise.
 *
 * The file has its full size from the start, but consists of holes: disk space is
 * allocated COUNT_GROW_BYTES at a time. Readers must not trust the contents.
 */
#ifndef MS_AGENT_COUNT_ABI_H
#define MS_AGENT_COUNT_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define COUNT_FOLDER_VARIABLE "MEMSTATE_COUNT"

#define COUNT_MAGIC UINT32_C(0x5443534d) /* "MSCT" */
#define COUNT_VERSION UINT32_C(2)

#define COUNT_HEAD_BYTES 4096
#define COUNT_SLOT_BYTES 256
#define COUNT_GROW_BYTES 4096
/*
 * Once this many slots are in use, a new thread takes over the slot of a thread that has
 * ended. The counts of the ended thread are added to slot 0.
 */
#define COUNT_SLOTS_KEPT 1000
#define COUNT_SLOT_MAX 65535
#define COUNT_FILE_MAX (COUNT_HEAD_BYTES + (uint64_t)COUNT_SLOT_MAX * COUNT_SLOT_BYTES)

/*
 * Limit on a thread's pending_bytes. When they exceed the limit, the thread adds them to
 * live_bytes in the file header.
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
	COUNT_NEW, /* calls to operator new and its variants that do not call malloc */
	/* calls to operator delete and its variants that do not call free */
	COUNT_DELETE,
	COUNT_FUNCTION_COUNT_
};

enum count_flag {
	/*
	 * the program defines its own malloc, which takes precedence over that of the
	 * counting library
	 */
	COUNT_OTHER_MALLOC = 1 << 0,
	/* the process was started by fork() and has not called execve() */
	COUNT_FORKED = 1 << 1,
	/* the counting library counts only calls and requested bytes */
	COUNT_CALLS_ONLY = 1 << 2,
	/*
	 * usable bytes are unknown, because the allocator cannot report the size of a
	 * block
	 */
	COUNT_NO_SIZES = 1 << 3,
	/*
	 * the allocator has its own C++ new and delete, which the counting
	 * library does not count
	 */
	COUNT_OTHER_NEW = 1 << 4,
	/*
	 * the program has installed a seccomp filter, so the counting library makes only
	 * the system calls of ask.h
	 */
	COUNT_FILTERED = 1 << 5,
};

#define COUNT_NAME_BYTES 16

/*
 * The counts of one thread. malloc and free write only to the first 64 bytes, which are
 * one cache line.
 */
struct count_slot {
	uint64_t malloc_calls;
	uint64_t requested_bytes;
	/*
	 * Usable bytes allocated minus usable bytes freed since the thread last added
	 * them to live_bytes in the header. May decrease.
	 */
	int64_t pending_bytes;
	/*
	 * The maximum of pending_bytes since the thread last added them to live_bytes in
	 * the header. The maximum is updated only when pending_bytes is about to
	 * decrease.
	 */
	int64_t high_bytes;
	/*
	 * The thread records its next call stack when malloc_calls + requested_bytes
	 * reach this value. 0 if no value has been chosen yet.
	 */
	uint64_t stack_at;
	/*
	 * Address of the block that the thread allocated last; 0 if the thread has freed
	 * a block since. During an allocating call, this member contains the requested
	 * bytes instead; see count_requested().
	 */
	uint64_t last_addr;
	uint64_t free_calls;
	/*
	 * number of blocks that the thread allocated and freed in two consecutive calls
	 */
	uint64_t temporary_count;
	/*
	 * number of calls to each function, indexed by enum count_function; 0 for malloc
	 * and free, which have their own members
	 */
	uint64_t calls[COUNT_FUNCTION_COUNT_];
	/* number of free and delete calls with a NULL argument */
	uint64_t free_null_count;
	uint64_t failed_count; /* number of allocating calls that returned NULL */
	/* number of realloc and reallocarray calls that resized an existing block */
	uint64_t resized_count;
	/* number of realloc and reallocarray calls with size 0 that freed the block */
	uint64_t ended_count;
	/*
	 * number of bytes that this thread has added to live_bytes in the header so far;
	 * may decrease
	 */
	int64_t flushed_bytes;
	/*
	 * number of times that threads using this slot have added pending_bytes to
	 * live_bytes in the header
	 */
	uint64_t flush_count;
	/*
	 * thread id; 0 if the slot is free; -1 while another thread is
	 * taking over the slot
	 */
	int32_t tid;
	/* 1 for the first thread of the program or of the forked child, otherwise 0 */
	uint32_t is_main;
	char name[COUNT_NAME_BYTES];
	/* address of the thread's struct pthread in libc, or 0 if unknown */
	uint64_t self;
};

struct count_head {
	uint32_t magic, version;
	uint32_t head_bytes, slot_bytes;
	int32_t pid, parent_pid; /* process ids in the program's own pid namespace */
	uint32_t flags;
	/*
	 * Slots 0 to slot_count - 1 are in use. Slot 0 contains the sums of ended
	 * threads.
	 */
	uint32_t slot_count;
	/* live bytes of all threads, except the pending_bytes in their slots */
	int64_t live_bytes;
	int64_t peak_bytes; /* the maximum of live_bytes so far */
	/*
	 * Number of times that a thread has begun to move the counts of an ended thread
	 * to slot 0, and number of times that it has finished. If the two numbers differ,
	 * a move is in progress.
	 */
	uint32_t fold_begin_count, fold_end_count;
	uint64_t folded_thread_count;
	/*
	 * number of threads for which there was no slot, and whose calls are therefore
	 * not counted
	 */
	uint64_t lost_thread_count;
	/* number of forked child processes that could not create their file */
	uint64_t lost_child_count;
	/*
	 * Blocks and bytes that the parent process had allocated at the time of fork().
	 * live_bytes includes these bytes.
	 */
	int64_t inherited_blocks, inherited_bytes;
	char name[COUNT_NAME_BYTES];
	/* path of the file that defines the malloc function in use */
	char allocator[256];
};

static_assert(sizeof(struct count_slot) <= COUNT_SLOT_BYTES, "a slot has room");
static_assert(offsetof(struct count_slot, calls) == 64,
	      "what is hot is one line of the cache");
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
