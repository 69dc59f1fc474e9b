/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_hooks - the code that counts in a process that runs already: what memstate puts
 * there, and where. All of it is one range of addresses:
 *
 *   code      struct hooks_head, the hooks, and which places lead to them: private, never
 *             writable there, written by memstate with the right to trace
 *   counts    agent/count_abi.h; shared with memstate, and neither side believes the other
 *   private   struct hooks_private: a child of a fork finds it filled with 0
 *   arena     where stacks are wanted: memory for what takes them; private, as above
 *   nodes     likewise: agent/stack_abi.h; shared with memstate
 *
 * A hook counts a call and goes on to the function that it stands for, without a frame.
 * Which slot is a thread's it knows by the number that glibc keeps of each thread.
 *
 * Beside it the gates, which stay when the rest is gone: jumps to hooks, for places that
 * programs take addresses from, and may keep them.
 */
#ifndef MS_AGENT_COUNT_HOOKS_H
#define MS_AGENT_COUNT_HOOKS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/ask.h"
#include "agent/count_abi.h"
#include "agent/stack_trie.h"
#include "agent/unwind.h"

#define HOOKS_MAGIC   UINT32_C(0x4843534d) /* "MSCH" */
#define GATES_MAGIC   UINT32_C(0x4743534d) /* "MSCG" */
#define HOOKS_VERSION UINT32_C(2)

/* X(the function's symbol, as what it is counted) */
#define HOOKS_PLAIN(X)                         \
	X(malloc, COUNT_MALLOC)                \
	X(free, COUNT_FREE)                    \
	X(calloc, COUNT_CALLOC)                \
	X(realloc, COUNT_REALLOC)              \
	X(reallocarray, COUNT_REALLOCARRAY)    \
	X(posix_memalign, COUNT_POSIX_MEMALIGN) \
	X(aligned_alloc, COUNT_ALIGNED_ALLOC)  \
	X(memalign, COUNT_MEMALIGN)            \
	X(valloc, COUNT_VALLOC)                \
	X(pvalloc, COUNT_PVALLOC)

/* Where the allocator has its own, as the Itanium C++ ABI spells them. */
#define HOOKS_NEW(X)                                         \
	X(_Znwm, COUNT_NEW)                                  \
	X(_Znam, COUNT_NEW)                                  \
	X(_ZnwmRKSt9nothrow_t, COUNT_NEW)                    \
	X(_ZnamRKSt9nothrow_t, COUNT_NEW)                    \
	X(_ZnwmSt11align_val_t, COUNT_NEW)                   \
	X(_ZnamSt11align_val_t, COUNT_NEW)                   \
	X(_ZnwmSt11align_val_tRKSt9nothrow_t, COUNT_NEW)     \
	X(_ZnamSt11align_val_tRKSt9nothrow_t, COUNT_NEW)
#define HOOKS_DELETE(X)                                      \
	X(_ZdlPv, COUNT_DELETE)                              \
	X(_ZdaPv, COUNT_DELETE)                              \
	X(_ZdlPvm, COUNT_DELETE)                             \
	X(_ZdaPvm, COUNT_DELETE)                             \
	X(_ZdlPvRKSt9nothrow_t, COUNT_DELETE)                \
	X(_ZdaPvRKSt9nothrow_t, COUNT_DELETE)                \
	X(_ZdlPvSt11align_val_t, COUNT_DELETE)               \
	X(_ZdaPvSt11align_val_t, COUNT_DELETE)               \
	X(_ZdlPvmSt11align_val_t, COUNT_DELETE)              \
	X(_ZdaPvmSt11align_val_t, COUNT_DELETE)              \
	X(_ZdlPvSt11align_val_tRKSt9nothrow_t, COUNT_DELETE) \
	X(_ZdaPvSt11align_val_tRKSt9nothrow_t, COUNT_DELETE)
#define HOOKS(X) HOOKS_PLAIN(X) HOOKS_NEW(X) HOOKS_DELETE(X)

#define HOOKS_INDEX(symbol, function) HOOK_##symbol,
enum hook { HOOKS(HOOKS_INDEX) HOOK_COUNT_ };

#define HOOK_MAX 32
static_assert((int)HOOK_COUNT_ <= HOOK_MAX, "each has a place");

/*
 * A place that was made to lead to a hook, or to a gate, and what was there. The process
 * has a copy: a later memstate looks whether these places still lead to hooks.
 */
struct hooks_record {
	uint64_t addr, original;
};
#define HOOKS_RECORD_MAX 4096

struct hooks_head {
	uint64_t originals[HOOK_MAX]; /* the functions; set before the process sees it */
	uint32_t magic, version;
	uint32_t code_bytes; /* head and hooks */
	uint32_t hook_count;
	uint32_t offsets[HOOK_MAX]; /* of the hooks, from here */
	/* memstate's, for another memstate: who it is, in which pid namespace */
	uint64_t owner_pid, owner_start_ticks, owner_namespace;
	uint64_t gates_addr; /* 0: none */
	uint32_t record_count;
	uint32_t range_bytes; /* of all: HOOKS_BYTES or HOOKS_ALL_BYTES */
	/*
	 * Where the code was first: until it has moved to where the whole range is, no more
	 * than HOOKS_CODE_BYTES are there. 0: it has moved.
	 */
	uint64_t unmoved_addr;
};
static_assert(offsetof(struct hooks_head, magic) == 256, "hooks version 2");
static_assert(offsetof(struct hooks_head, offsets) == 272, "hooks version 2");
static_assert(sizeof(struct hooks_head) == 448, "hooks version 2");

/* Which slot is whose: the thread's number inverted, so that 0 is nobody's, and where. */
struct hooks_entry {
	uint32_t key;
	uint32_t slot_offset; /* from the head */
};
#define HOOKS_ENTRY_COUNT 8192u /* a power of 2 */
#define HOOKS_NOBODY_COUNT 64u

#define HOOKS_SLOT_COUNT 8192u

/* Of what is told outside, and the rest all 0 at first. */
struct hooks_private {
	struct hooks_entry entries[HOOKS_ENTRY_COUNT];
	uint32_t own_pid; /* as the process knows itself; 0: this is a child */
	uint32_t cursor;
	uint64_t arena_used_bytes;
	uint64_t main_stack_end;
	uint64_t sample_bytes; /* a stack per so many; 0: each allocation's */
	uint32_t takes_stacks, has_stacks;
	uint8_t pad[4096 - 40];
	uint8_t stacks[8192]; /* struct stacks of stack_record.h, where has_stacks */
	uint64_t threads[HOOKS_SLOT_COUNT]; /* what each slot's takes stacks with, or 0 */
	/* what children count in, where nobody looks */
	uint8_t nobody[HOOKS_NOBODY_COUNT][COUNT_SLOT_BYTES];
};

/* A file of code that is mapped, as memstate sees it from outside. */
struct hooks_module {
	uint64_t start, end; /* end is written last; 0: it is gone */
	uint64_t tables_addr; /* 0: none */
	uint64_t begin[2]; /* what is there: else it is another file by now */
};
#define HOOKS_MODULE_MAX 1100

struct hooks_modules {
	uint32_t count;
	uint32_t pad;
	struct hooks_module items[HOOKS_MODULE_MAX];
};

#define HOOKS_CODE_BYTES     0x10000u
#define HOOKS_RECORDS_BYTES  (HOOKS_RECORD_MAX * (uint32_t)sizeof(struct hooks_record))
#define HOOKS_MODULES_OFFSET (HOOKS_CODE_BYTES + HOOKS_RECORDS_BYTES)
#define HOOKS_MODULES_BYTES  0xb000u
#define HOOKS_RECORDS_OFFSET HOOKS_CODE_BYTES
#define HOOKS_COUNTS_OFFSET  (HOOKS_MODULES_OFFSET + HOOKS_MODULES_BYTES)
#define HOOKS_COUNTS_BYTES   (COUNT_HEAD_BYTES + HOOKS_SLOT_COUNT * COUNT_SLOT_BYTES)
#define HOOKS_PRIVATE_OFFSET (HOOKS_COUNTS_OFFSET + HOOKS_COUNTS_BYTES)
#define HOOKS_PRIVATE_BYTES  ((uint32_t)sizeof(struct hooks_private))
#define HOOKS_BYTES	     (HOOKS_PRIVATE_OFFSET + HOOKS_PRIVATE_BYTES)
/* only where stacks are wanted; the arena is mapped together with the private part */
#define HOOKS_ARENA_OFFSET HOOKS_BYTES
#define HOOKS_ROWS_BYTES   (UNWIND_ROW_COUNT * (uint32_t)sizeof(struct unwind_row))
#define HOOKS_RECENT_BYTES (HOOKS_NODE_MAX * (uint32_t)sizeof(struct stack_recent))
#define HOOKS_ARENA_BYTES  (UINT32_C(256) << 20) /* rows, what was looked for last, the rest */
#define HOOKS_NODES_OFFSET (HOOKS_ARENA_OFFSET + HOOKS_ARENA_BYTES)
#define HOOKS_NODE_MAX	   (1u << 18)
#define HOOKS_NODES_BYTES  (STACK_NODES_OFFSET + HOOKS_NODE_MAX * STACK_NODE_BYTES)
#define HOOKS_ALL_BYTES	   (HOOKS_NODES_OFFSET + HOOKS_NODES_BYTES)
static_assert(sizeof(struct hooks_modules) <= HOOKS_MODULES_BYTES, "room");
/* count_hooks.ld has them, too */
static_assert(HOOKS_MODULES_OFFSET == 0x20000, "as in the script");
static_assert(HOOKS_COUNTS_OFFSET == 0x2b000, "as in the script");
static_assert(HOOKS_PRIVATE_OFFSET == 0x22c000, "as in the script");
static_assert(HOOKS_ARENA_OFFSET == 0x253000, "as in the script");
static_assert(HOOKS_NODES_OFFSET == 0x10253000, "as in the script");

/* pthread_create() and fork() of glibc keep it there, from the thread pointer on. */
#define HOOKS_TID_OFFSET ASK_TID_OFFSET

#define GATES_BYTES 4096u
#define GATE_BYTES  16u

/* Private, and never writable in the process; memstate writes it with the right to trace. */
struct gates {
	uint32_t magic, version;
	uint64_t targets[HOOK_MAX]; /* a hook, or the function */
	uint8_t pad[248];
	uint8_t code[HOOK_MAX][GATE_BYTES]; /* jmp *target */
};
static_assert(offsetof(struct gates, code) == 512, "hooks version 2");
static_assert(sizeof(struct gates) <= GATES_BYTES, "a page");

#endif
