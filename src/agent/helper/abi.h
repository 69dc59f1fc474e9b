/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * abi - the page through which memstate sends requests to its helper in another process,
 * and the layout of the helper's blob.
 *
 * At most one request is in flight. The client takes client_lock, writes command, and
 * adds 1 to request_seq. The helper carries out the command and copies the number it
 * started with to reply_seq. An answer belongs to the client if both numbers are the
 * client's before and after it copied the answer. Both words are futexes, woken and
 * waited for as shared ones.
 *
 * The process can write to the page, so the client trusts nothing in it, and the helper
 * takes no address from it. The functions that the helper may call are in struct
 * agent_functions, in the helper's own memory.
 */
#ifndef MS_AGENT_HELPER_ABI_H
#define MS_AGENT_HELPER_ABI_H

#include <stddef.h>
#include <stdint.h>

#define AGENT_MAGIC UINT32_C(0x54534d4d) /* "MMST" */
#define AGENT_VERSION UINT32_C(1)

/* Layout of the mapping: the page itself, then the text. */
#define AGENT_TEXT_OFFSET_BYTES 4096
#define AGENT_TEXT_BYTES (1 << 19)
#define AGENT_PAGE_BYTES (AGENT_TEXT_OFFSET_BYTES + AGENT_TEXT_BYTES)

/* The name of the helper's thread. */
#define AGENT_THREAD_NAME "memstate-help"

/*
 * Environment variable of a program that is started with the helper: the number of
 * seccomp filters that apply to memstate itself. If the program has more, the program or
 * its parent has installed them, and the helper does not start.
 */
#define AGENT_FILTERS_VARIABLE "MEMSTATE_SECCOMP_FILTERS"

/*
 * An injected helper exits after being idle for this long. The value is copied to
 * idle_ms, where a test may shorten it.
 */
#define AGENT_IDLE_MS 60000

enum agent_state {
	AGENT_EMPTY,	/* the page has no helper */
	AGENT_STARTING, /* set by whoever starts the helper */
	AGENT_READY,
	/*
	 * the allocator is working, however long it takes: do not end the
	 * helper or unmap its memory
	 */
	AGENT_BUSY,
	/* the helper no longer touches the page; its thread may still exist */
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
	 * the answer is in the text; in an injected helper, glibc creates an
	 * arena for its thread
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
	/* these fields are the same in every version */
	uint32_t magic;
	uint32_t version;
	uint32_t size_bytes; /* size of the whole mapping */
	uint32_t flags;	     /* enum agent_flag */
	uint32_t state;	     /* enum agent_state */
	uint32_t helper_tid; /* its tid in the process's own pid namespace */
	uint32_t request_seq;
	uint32_t reply_seq;

	/*
	 * Version 1 starts here. The client that holds the lock: start time
	 * << 32 | pid; 0 if none.
	 */
	uint64_t client_lock;
	uint32_t command;
	/* 0; -ENOSYS if the process has no such allocator; or another -errno */
	int32_t error;
	uint32_t idle_ms;
	uint32_t owner_pid;	    /* pid in the process's own pid namespace */
	uint64_t owner_start_ticks; /* field 22 of /proc/PID/stat; 0 if unknown */
	uint64_t beat;		    /* number of requests since the helper started */
	uint64_t begin_ns; /* monotonic clock, at the start of the last request */
	uint64_t end_ns;
	uint32_t commands; /* one bit per command that this process can answer */
	/* length without a NUL; AGENT_TEXT_BYTES means that the text was cut */
	uint32_t text_bytes;
	/* one bit per element of values: set if the allocator provides the value */
	uint64_t known;
	uint64_t values[AGENT_VALUE_MAX];
	/*
	 * While the helper is being injected: the tid of the thread that traces the
	 * process. The kernel changes this word when that thread ends, see trace_sign().
	 */
	uint32_t tracer;
};

/*
 * The page is shared with helpers of other builds: these offsets
 * never change in version 1.
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
	AGENT_FN_FOPENCOOKIE, /* malloc_info needs this and the next two functions */
	AGENT_FN_SETVBUF,
	AGENT_FN_FCLOSE,
	AGENT_FN_MALLCTL,
	AGENT_FN_MALLOC_STATS_PRINT,
	AGENT_FN_TC_GET_NUMERIC_PROPERTY, /* MallocExtension_… */
	AGENT_FN_TC_GET_STATS,
	AGENT_FN_MI_PROCESS_INFO,
	AGENT_FN_MI_STATS_PRINT_OUT,
	AGENT_FN_COUNT_,
};

#define AGENT_FN_MAX 16

/*
 * Addresses by enum agent_function; 0 if the process lacks the function. In an
 * injected blob this struct comes first, and memstate fills it in before the
 * blob becomes read-only.
 */
struct agent_functions {
	uint64_t addr[AGENT_FN_MAX];
};

_Static_assert(AGENT_FN_COUNT_ <= AGENT_FN_MAX, "abi");
_Static_assert(sizeof(struct agent_functions) == 0x80, "abi");

/*
 * The header before the code in the blob. The entry point is void
 * *entry(struct agent_page *).
 */
struct agent_blob_head {
	struct agent_functions functions;
	uint32_t magic;
	uint32_t version;
	uint32_t size_bytes;   /* size of the whole blob */
	uint32_t entry_offset; /* offset from the start of the blob */
};

_Static_assert(offsetof(struct agent_blob_head, magic) == 0x80, "abi");
_Static_assert(offsetof(struct agent_blob_head, entry_offset) == 0x8c, "abi");
_Static_assert(sizeof(struct agent_blob_head) == 0x90, "abi");

#endif
