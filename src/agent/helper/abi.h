/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * abi - the page through which memstate sends requests to its helper in another process,
 * and the layout of the helper's code.
 *
 * At most one request is pending. The client takes client_lock, writes command, and adds
 * 1 to request_seq. The helper carries out the command, and copies to reply_seq the value
 * of request_seq with which it started. The answer belongs to the client if both numbers
 * equal the client's number before and after it has copied the answer. Both numbers are
 * futexes, shared between processes.
 *
 * The process can write to the page, so the client trusts nothing in it, and the helper
 * uses no address from it. The addresses of the functions that the helper may call are in
 * struct agent_functions, in the helper's own memory.
 */
#ifndef MS_AGENT_HELPER_ABI_H
#define MS_AGENT_HELPER_ABI_H

#include <stddef.h>
#include <stdint.h>

#define AGENT_MAGIC UINT32_C(0x54534d4d) /* "MMST" */
#define AGENT_VERSION UINT32_C(1)

/*
 * Offset in the shared memory at which the text of an answer starts. The page itself
 * comes before the text.
 */
#define AGENT_TEXT_OFFSET_BYTES 4096
#define AGENT_TEXT_BYTES (1 << 19)
#define AGENT_PAGE_BYTES (AGENT_TEXT_OFFSET_BYTES + AGENT_TEXT_BYTES)

/* The name of the helper's thread. */
#define AGENT_THREAD_NAME "memstate-help"

/*
 * Environment variable for a program that memstate starts with the helper. Its value is
 * the number of seccomp filters that apply to memstate itself. If the program has more
 * filters, the program or its parent has installed them, and the helper does not start.
 */
#define AGENT_FILTERS_VARIABLE "MEMSTATE_SECCOMP_FILTERS"

/*
 * Idle time after which an injected helper exits. memstate copies the value to idle_ms,
 * where a test may shorten it.
 */
#define AGENT_IDLE_MS 60000

enum agent_state {
	AGENT_EMPTY, /* no helper has ever been started with this page */
	/* memstate, or the preloaded library, has begun to start the helper */
	AGENT_STARTING,
	AGENT_READY,
	/*
	 * the helper is querying the allocator, which may take any length of time;
	 * meanwhile the helper must not be ended, and its memory must not be unmapped
	 */
	AGENT_BUSY,
	/* the helper no longer uses the page, but its thread may still exist */
	AGENT_LEAVING,
};

enum agent_flag {
	AGENT_PRELOADED = 1 << 0,
};

enum agent_command {
	AGENT_PING,
	AGENT_EXIT,
	AGENT_MALLINFO2,
	/*
	 * query the text of malloc_info(); in an injected helper, glibc creates an arena
	 * for the helper's thread
	 */
	AGENT_MALLOC_INFO,
	AGENT_JEMALLOC,
	AGENT_JEMALLOC_TEXT,
	AGENT_GPERFTOOLS,
	AGENT_GPERFTOOLS_TEXT,
	AGENT_MIMALLOC,
	AGENT_MIMALLOC_TEXT,
	AGENT_COMMAND_COUNT_,
};

#define AGENT_VALUE_MAX 64

struct agent_page {
	/* the following members are the same in every version of the page */
	uint32_t magic;
	uint32_t version;
	uint32_t size_bytes; /* size of the whole shared memory */
	uint32_t flags;	     /* flags of enum agent_flag */
	uint32_t state;	     /* value of enum agent_state */
	/* thread id of the helper in the process's own pid namespace */
	uint32_t helper_tid;
	uint32_t request_seq;
	uint32_t reply_seq;

	/*
	 * The client that holds the lock, as start time << 32 | pid; 0 if the lock is
	 * free. The members from here on belong to version 1 of the page.
	 */
	uint64_t client_lock;
	uint32_t command;
	/*
	 * result of the command: 0 on success; -ENOSYS if the process does not use the
	 * command's allocator; or another -errno
	 */
	int32_t error;
	uint32_t idle_ms;
	uint32_t owner_pid; /* pid of the process in its own pid namespace */
	/* start time of the process (field 22 of /proc/PID/stat); 0 if unknown */
	uint64_t owner_start_ticks;
	uint64_t beat;	   /* number of requests since the helper started */
	uint64_t begin_ns; /* start time of the last request, on the monotonic clock */
	uint64_t end_ns;
	/* bit mask of the commands that the helper can answer in this process */
	uint32_t commands;
	/*
	 * length of the text without its NUL; AGENT_TEXT_BYTES if the text was truncated
	 */
	uint32_t text_bytes;
	/* bit mask of the elements of `values` that the allocator provides */
	uint64_t known;
	uint64_t values[AGENT_VALUE_MAX];
	/*
	 * Id of the thread that traces the process while memstate injects the helper. The
	 * kernel changes this word when the thread ends; see trace_sign().
	 */
	uint32_t tracer;
};

/*
 * memstate and helpers of different builds share the page, so the offsets of its members
 * must never change in version 1 of the page
 */
_Static_assert(offsetof(struct agent_page, magic) == 0x00, "abi");
_Static_assert(offsetof(struct agent_page, version) == 0x04, "abi");
_Static_assert(offsetof(struct agent_page, size_bytes) == 0x08, "abi");
_Static_assert(offsetof(struct agent_page, flags) == 0x0c, "abi");
_Static_assert(offsetof(struct agent_page, state) == 0x10, "abi");
_Static_assert(offsetof(struct agent_page, helper_tid) == 0x14, "abi");
_Static_assert(offsetof(struct agent_page, request_seq) == 0x18, "abi");
_Static_assert(offsetof(struct agent_page, reply_seq) == 0x1c, "abi");
_Static_assert(offsetof(struct agent_page, client_lock) == 0x20, "abi");
_Static_assert(offsetof(struct agent_page, command) == 0x28, "abi");
_Static_assert(offsetof(struct agent_page, error) == 0x2c, "abi");
_Static_assert(offsetof(struct agent_page, idle_ms) == 0x30, "abi");
_Static_assert(offsetof(struct agent_page, owner_pid) == 0x34, "abi");
_Static_assert(offsetof(struct agent_page, owner_start_ticks) == 0x38, "abi");
_Static_assert(offsetof(struct agent_page, beat) == 0x40, "abi");
_Static_assert(offsetof(struct agent_page, begin_ns) == 0x48, "abi");
_Static_assert(offsetof(struct agent_page, end_ns) == 0x50, "abi");
_Static_assert(offsetof(struct agent_page, commands) == 0x58, "abi");
_Static_assert(offsetof(struct agent_page, text_bytes) == 0x5c, "abi");
_Static_assert(offsetof(struct agent_page, known) == 0x60, "abi");
_Static_assert(offsetof(struct agent_page, values) == 0x68, "abi");
_Static_assert(offsetof(struct agent_page, tracer) == 0x268, "abi");
_Static_assert(sizeof(struct agent_page) <= AGENT_TEXT_OFFSET_BYTES, "abi");

/* The functions of the process that the helper calls. */
enum agent_function {
	AGENT_FN_MALLINFO2,
	AGENT_FN_MALLOC_INFO,
	/* malloc_info() requires fopencookie(), setvbuf() and fclose() */
	AGENT_FN_FOPENCOOKIE,
	AGENT_FN_SETVBUF,
	AGENT_FN_FCLOSE,
	AGENT_FN_MALLCTL,
	AGENT_FN_MALLOC_STATS_PRINT,
	/* functions of gperftools whose names begin with MallocExtension_ */
	AGENT_FN_TC_GET_NUMERIC_PROPERTY,
	AGENT_FN_TC_GET_STATS,
	AGENT_FN_MI_PROCESS_INFO,
	AGENT_FN_MI_STATS_PRINT_OUT,
	AGENT_FN_COUNT_,
};

#define AGENT_FN_MAX 16

/*
 * Addresses of the functions that the helper may call, indexed by enum agent_function; 0
 * if the process does not have the function. An injected helper's code starts with this
 * struct. memstate fills in the struct before the code becomes read-only.
 */
struct agent_functions {
	uint64_t addr[AGENT_FN_MAX];
};

_Static_assert(AGENT_FN_COUNT_ <= AGENT_FN_MAX, "abi");
_Static_assert(sizeof(struct agent_functions) == 0x80, "abi");

/*
 * The header of the helper's code. The entry point is void *entry(struct agent_page *).
 */
struct agent_blob_head {
	struct agent_functions functions;
	uint32_t magic;
	uint32_t version;
	uint32_t size_bytes; /* size of the helper's code and data */
	/* offset of the entry point from the start of the helper's code */
	uint32_t entry_offset;
};

_Static_assert(offsetof(struct agent_blob_head, magic) == 0x80, "abi");
_Static_assert(offsetof(struct agent_blob_head, entry_offset) == 0x8c, "abi");
_Static_assert(sizeof(struct agent_blob_head) == 0x90, "abi");

#endif
