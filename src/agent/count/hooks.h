/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks - the layout of the code and data with which memstate counts malloc calls in a
 * running process. memstate injects them into one address range:
 *
 *  code      struct hooks_head, the hooks, and the list of patched addresses; private,
 *            never writable by the process, written by memstate with ptrace access
 *  counts    agent/count/abi.h; shared with memstate, and neither side trusts the other
 *  private   struct hooks_private; filled with 0 in a forked child process
 *  arena     only if stacks are recorded: memory for the unwinder and its caches;
 *            private, and filled with 0 in a forked child process
 *  nodes     only if stacks are recorded: agent/count/stack_abi.h; shared with memstate
 *
 * A hook counts a call, and jumps to the function that it replaces, without a stack
 * frame. It finds the thread's slot by the tid that glibc stores for each thread.
 *
 * A gate is a jump to a hook. If the program may copy a patched function pointer,
 * memstate stores the address of a gate there instead of the address of a hook. The gates
 * are outside this address range, and remain in the process when the range is unmapped.
 */
#ifndef MS_AGENT_COUNT_HOOKS_H
#define MS_AGENT_COUNT_HOOKS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/count/abi.h"
#include "agent/count/extra.h"
#include "agent/count/stack_trie.h"
#include "agent/system/ask.h"
#include "agent/unwind/unwind.h"

#define HOOKS_MAGIC UINT32_C(0x4843534d) /* "MSCH" */
#define GATES_MAGIC UINT32_C(0x4743534d) /* "MSCG" */
#define HOOKS_VERSION UINT32_C(4)

/*
 * The functions that hooks replace. Each row is X(function, the value of enum
 * count_function under which its calls are counted).
 */
#define HOOKS_PLAIN(X)                          \
	X(malloc, COUNT_MALLOC)                 \
	X(free, COUNT_FREE)                     \
	X(calloc, COUNT_CALLOC)                 \
	X(realloc, COUNT_REALLOC)               \
	X(reallocarray, COUNT_REALLOCARRAY)     \
	X(posix_memalign, COUNT_POSIX_MEMALIGN) \
	X(aligned_alloc, COUNT_ALIGNED_ALLOC)   \
	X(memalign, COUNT_MEMALIGN)             \
	X(valloc, COUNT_VALLOC)                 \
	X(pvalloc, COUNT_PVALLOC)

/*
 * C++ new and delete, for allocators that define these operators; the names are those of
 * the Itanium C++ ABI.
 */
#define HOOKS_NEW(X)                                     \
	X(_Znwm, COUNT_NEW)                              \
	X(_Znam, COUNT_NEW)                              \
	X(_ZnwmRKSt9nothrow_t, COUNT_NEW)                \
	X(_ZnamRKSt9nothrow_t, COUNT_NEW)                \
	X(_ZnwmSt11align_val_t, COUNT_NEW)               \
	X(_ZnamSt11align_val_t, COUNT_NEW)               \
	X(_ZnwmSt11align_val_tRKSt9nothrow_t, COUNT_NEW) \
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
#define HOOKS_STANDARD(X) HOOKS_PLAIN(X) HOOKS_NEW(X) HOOKS_DELETE(X)

#define HOOKS_INDEX(symbol, function) HOOK_##symbol,
#define HOOKS_EXTRA_INDEX(symbol, call, size) HOOK_##symbol,
enum hook {
	HOOKS_STANDARD(HOOKS_INDEX) COUNT_EXTRA(HOOKS_EXTRA_INDEX) HOOK_COUNT_
};

/*
 * The first hook for an additional entry point of an allocator: a function that neither
 * libc nor C++ defines.
 */
#define HOOK_FIRST_EXTRA HOOK_mallocx

#define HOOK_MAX 128
static_assert((int)HOOK_COUNT_ <= HOOK_MAX, "each has a place");

/* Return true if the hook replaces a C++ operator new or delete. */
static inline int hook_is_cxx(enum hook hook)
{
	return hook >= HOOK__Znwm && hook < HOOK_FIRST_EXTRA;
}

/*
 * A patched address or call site, which now leads to a hook or a gate, and its previous
 * contents. The process has a copy of the list of these records. A later memstate uses
 * the copy to check whether the recorded addresses still lead to hooks.
 */
struct hooks_record {
	uint64_t addr, original;
};
/*
 * Flag in the address of a record: the patched word is part of a call instruction instead
 * of a stored address; see struct hook_place.
 */
#define HOOKS_RECORD_IS_CALL (UINT64_C(1) << 63)
#define HOOKS_RECORD_MAX 32768

struct hooks_head {
	/*
	 * addresses of the replaced functions; memstate sets them before it writes the
	 * code to the process
	 */
	uint64_t originals[HOOK_MAX];
	uint32_t magic, version;
	uint32_t code_bytes; /* size of this header and of the hooks that follow it */
	uint32_t hook_count;
	/* offsets of the hooks from the start of this header */
	uint32_t offsets[HOOK_MAX];
	/*
	 * The memstate process that injected the hooks, and its pid namespace. Other
	 * memstate processes use these members to check whether that process is still
	 * running.
	 */
	uint64_t owner_pid, owner_start_ticks, owner_namespace;
	uint64_t gates_addr; /* address of the gates (jumps to the hooks); 0: no gates */
	uint32_t record_count;
	/*
	 * size of the address range of the hooks and their data: HOOKS_BYTES
	 * or HOOKS_ALL_BYTES
	 */
	uint32_t range_bytes;
	/*
	 * Address at which the code was first mapped, before it was moved to the start of
	 * the hooks' address range; 0 after the move. The code occupies at most
	 * HOOKS_CODE_BYTES.
	 */
	uint64_t unmoved_addr;
};
static_assert(offsetof(struct hooks_head, magic) == 8 * 128, "hooks version 3");
static_assert(offsetof(struct hooks_head, offsets) == 1040, "hooks version 3");
static_assert(sizeof(struct hooks_head) == 1600, "hooks version 3");

/*
 * An entry of the table that maps threads to slots. The key is the inverted tid, so that
 * key 0 marks an unused entry.
 */
struct hooks_entry {
	uint32_t key;
	/* offset of the thread's slot from the start of struct hooks_head */
	uint32_t slot_offset;
};
#define HOOKS_ENTRY_COUNT 8192u /* number of entries in the thread table, a power of 2 */
#define HOOKS_UNOWNED_COUNT 64u

#define HOOKS_SLOT_COUNT 8192u

/*
 * Private data of the hooks. memstate writes own_pid, main_stack_end, sample_bytes and
 * takes_stacks; all other members are initially 0.
 */
struct hooks_private {
	struct hooks_entry entries[HOOKS_ENTRY_COUNT];
	/* pid in the process's own pid namespace; 0 in a forked child process */
	uint32_t own_pid;
	uint32_t cursor;
	uint64_t arena_used_bytes;
	uint64_t main_stack_end;
	/*
	 * mean number of bytes between recorded stacks; 0 to record the stack of each
	 * allocation
	 */
	uint64_t sample_bytes;
	uint32_t takes_stacks, has_stacks;
	uint8_t pad[4096 - 40];
	/* memory for struct stacks (stack_record.h), initialized if has_stacks is set */
	uint8_t stacks[8192];
	/*
	 * for each slot, the address of its state for recording stacks
	 * (struct recorder), or 0
	 */
	uint64_t threads[HOOKS_SLOT_COUNT];
	/* slots for forked child processes; memstate does not read these slots */
	uint8_t nobody[HOOKS_UNOWNED_COUNT][COUNT_SLOT_BYTES];
};

/* A range of mapped code, as read by memstate from /proc/PID/maps and the mapped file. */
struct hooks_module {
	/*
	 * memstate sets `end` to 0 when the file is unmapped. A new module becomes valid
	 * when memstate increases `count` in struct hooks_modules, which it writes last.
	 */
	uint64_t start, end;
	uint64_t tables_addr; /* address of the unwind tables; 0 if the module has none */
	/*
	 * The first words of the module's unwind tables. If the memory no longer contains
	 * these words, it now belongs to another file.
	 */
	uint64_t begin[2];
};
#define HOOKS_MODULE_MAX 1100

struct hooks_modules {
	uint32_t count;
	uint32_t pad;
	struct hooks_module items[HOOKS_MODULE_MAX];
};

#define HOOKS_CODE_BYTES 0x10000u
#define HOOKS_RECORDS_BYTES (HOOKS_RECORD_MAX * (uint32_t)sizeof(struct hooks_record))
#define HOOKS_MODULES_OFFSET (HOOKS_CODE_BYTES + HOOKS_RECORDS_BYTES)
#define HOOKS_MODULES_BYTES 0xb000u
#define HOOKS_RECORDS_OFFSET HOOKS_CODE_BYTES
#define HOOKS_COUNTS_OFFSET (HOOKS_MODULES_OFFSET + HOOKS_MODULES_BYTES)
#define HOOKS_COUNTS_BYTES (COUNT_HEAD_BYTES + HOOKS_SLOT_COUNT * COUNT_SLOT_BYTES)
#define HOOKS_PRIVATE_OFFSET (HOOKS_COUNTS_OFFSET + HOOKS_COUNTS_BYTES)
#define HOOKS_PRIVATE_BYTES ((uint32_t)sizeof(struct hooks_private))
#define HOOKS_BYTES (HOOKS_PRIVATE_OFFSET + HOOKS_PRIVATE_BYTES)
/*
 * The following parts of the hooks' address range exist only if call stacks are recorded.
 * The arena and struct hooks_private share one mapping.
 */
#define HOOKS_ARENA_OFFSET HOOKS_BYTES
#define HOOKS_ROWS_BYTES (UNWIND_ROW_COUNT * (uint32_t)sizeof(struct unwind_row))
#define HOOKS_RECENT_BYTES (HOOKS_NODE_MAX * (uint32_t)sizeof(struct stack_recent))
/*
 * size of the arena: memory for unwind rules, the cache of recent lookups, and the tries
 */
#define HOOKS_ARENA_BYTES (UINT32_C(256) << 20)
#define HOOKS_NODES_OFFSET (HOOKS_ARENA_OFFSET + HOOKS_ARENA_BYTES)
#define HOOKS_NODE_MAX (1u << 18)
#define HOOKS_NODES_BYTES (STACK_NODES_OFFSET + HOOKS_NODE_MAX * STACK_NODE_BYTES)
#define HOOKS_ALL_BYTES (HOOKS_NODES_OFFSET + HOOKS_NODES_BYTES)
static_assert(sizeof(struct hooks_modules) <= HOOKS_MODULES_BYTES, "room");
/* the offsets of the parts must equal those in the linker script hooks.ld */
static_assert(HOOKS_MODULES_OFFSET == 0x90000, "as in the script");
static_assert(HOOKS_COUNTS_OFFSET == 0x9b000, "as in the script");
static_assert(HOOKS_PRIVATE_OFFSET == 0x29c000, "as in the script");
static_assert(HOOKS_ARENA_OFFSET == 0x2c3000, "as in the script");
static_assert(HOOKS_NODES_OFFSET == 0x102c3000, "as in the script");

/*
 * Offset from the thread pointer at which glibc's pthread_create() and fork() store the
 * tid.
 */
#define HOOKS_TID_OFFSET ASK_TID_OFFSET

#define GATES_BYTES 4096u
#define GATE_BYTES 16u

/*
 * The gates: jumps to hooks or original functions, in private memory that the process
 * cannot write to. memstate writes the gates with ptrace access.
 */
struct gates {
	uint32_t magic, version;
	/* address to which each gate jumps: a hook or the original function */
	uint64_t targets[HOOK_MAX];
	uint8_t pad[1016];
	/* machine code of each gate: "jmp *target" */
	uint8_t code[HOOK_MAX][GATE_BYTES];
};
static_assert(offsetof(struct gates, code) == 2048, "hooks version 3");
static_assert(sizeof(struct gates) <= GATES_BYTES, "a page");

#endif
