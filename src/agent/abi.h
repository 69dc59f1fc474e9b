/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * abi - the page through which memstate asks its helper in another process, and the
 * helper's blob.
 *
 * One request is in flight at a time. The client takes client_lock, writes command, and
 * adds 1 to request_seq; the helper does it and copies the number it began with to
 * reply_seq. An answer is the client's own if both numbers are its own before and after
 * it was copied. Both are futexes, woken and waited for as shared ones.
 *
 * The process can write the page: the client believes nothing in it, and the helper takes
 * no address from it. What the helper may call is in struct agent_functions, in memory of
 * its own.
 */
#ifndef MS_AGENT_ABI_H
#define MS_AGENT_ABI_H

#include <stddef.h>
#include <stdint.h>

#define AGENT_MAGIC UINT32_C(0x54534d4d) /* "MMST" */
#define AGENT_VERSION UINT32_C(1)

/* The page proper, then the text. */
#define AGENT_TEXT_OFFSET_BYTES 4096
#define AGENT_TEXT_BYTES (1 << 19)
#define AGENT_PAGE_BYTES (AGENT_TEXT_OFFSET_BYTES + AGENT_TEXT_BYTES)

/* What the thread is called. */
#define AGENT_THREAD_NAME "memstate-help"

/*
 * In the environment of a program that is started with the helper: how many seccomp
 * filters are over memstate itself. Where there are more, the program or its parent has
 * set them, and the helper keeps out.
 */
#define AGENT_FILTERS_VARIABLE "MEMSTATE_SECCOMP_FILTERS"

/* Nobody asked for so long: the helper leaves. In idle_ms, which a test may make shorter. */
#define AGENT_IDLE_MS 60000

enum agent_state {
	AGENT_EMPTY,	/* a page without a helper */
	AGENT_STARTING, /* set by who makes it */
	AGENT_READY,
	AGENT_BUSY,    /* for as long as the allocator takes: it is never ended, nor its memory taken away */
	AGENT_LEAVING, /* the helper does not touch the page any more; its thread may still be there */
};

enum agent_flag {
	AGENT_PRELOADED = 1 << 0,
};

enum agent_command {
	AGENT_PING,
	AGENT_EXIT,
	AGENT_MALLINFO2,
	AGENT_MALLOC_INFO, /* into the text. Injected, it makes glibc give the helper an arena */
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
	/* this much is the same in every version */
	uint32_t magic;
	uint32_t version;
	uint32_t size_bytes; /* all that is mapped */
	uint32_t flags;	     /* enum agent_flag */
	uint32_t state;	     /* enum agent_state */
	uint32_t helper_tid; /* in the process's own pid namespace */
	uint32_t request_seq;
	uint32_t reply_seq;

	/* version 1. The client that asks: start time << 32 | pid; 0 if nobody does. */
	uint64_t client_lock;
	uint32_t command;
	int32_t error; /* 0, or -ENOSYS: the process has no such allocator; -errno */
	uint32_t idle_ms;
	uint32_t owner_pid;	    /* the process, in its own pid namespace */
	uint64_t owner_start_ticks; /* field 22 of /proc/PID/stat; 0 if it is not known */
	uint64_t beat;		    /* requests since the start */
	uint64_t begin_ns;	    /* monotonic clock, of the last request */
	uint64_t end_ns;
	uint32_t commands;   /* a bit for each that this process can answer */
	uint32_t text_bytes; /* without a NUL; it was cut if it is AGENT_TEXT_BYTES */
	uint64_t known;	     /* a bit for each of the values: the allocator has it */
	uint64_t values[AGENT_VALUE_MAX];
	/*
	 * While the helper is put in: the number of the thread that traces its process. The
	 * kernel changes it when that thread ends, see trace_sign().
	 */
	uint32_t tracer;
};

/* The page is shared with helpers of other builds: none of these ever changes in version 1. */
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
	AGENT_FN_FOPENCOOKIE, /* these three for malloc_info */
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
 * 0: the process has none. Where the blob is injected, this is its first part, filled in
 * before it is made read-only.
 */
struct agent_functions {
	uint64_t addr[AGENT_FN_MAX];
};

_Static_assert(AGENT_FN_COUNT_ <= AGENT_FN_MAX, "abi");
_Static_assert(sizeof(struct agent_functions) == 0x80, "abi");

/* What stands before the code in the blob. Its entry is void *entry(struct agent_page *). */
struct agent_blob_head {
	struct agent_functions functions;
	uint32_t magic;
	uint32_t version;
	uint32_t size_bytes;   /* of the whole blob */
	uint32_t entry_offset; /* in the blob */
};

_Static_assert(offsetof(struct agent_blob_head, magic) == 0x80, "abi");
_Static_assert(offsetof(struct agent_blob_head, entry_offset) == 0x8c, "abi");
_Static_assert(sizeof(struct agent_blob_head) == 0x90, "abi");

#endif
