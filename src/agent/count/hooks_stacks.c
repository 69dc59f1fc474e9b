/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_stacks - record call stacks in the hooks. This file connects the hooks to
 * stack_record.h. It defines the functions that stack_record.h requires, such as
 * stack_memory_allocate(), because the hooks have no stack file, and no memory except
 * the arena.
 */
#include "agent/count/hooks_inside.h"

#include "agent/count/stack_record.h"
#include "agent/count/stack_sample.h"

#define COLD __attribute__((cold, noinline))
#define PAGE_BYTES 4096

/*
 * The state for recording the call stacks of the thread that uses a slot. All members are
 * initially 0.
 */
struct recorder {
	/*
	 * The thread that used the slot last. `self` distinguishes it from other threads
	 * with the same tid.
	 */
	uint32_t tid;
	uint64_t self;
	struct stack_thread stack;
};

static_assert(sizeof(struct stacks) <= sizeof(hooks_private.stacks), "room");

/*
 * Return true if the module's unwind tables are still mapped and unchanged. Otherwise the
 * tables must not be read, because the file may have been unmapped since memstate listed
 * the modules.
 */
static bool is_there(const struct hooks_module *m)
{
	const uint64_t *begin = (const uint64_t *)(uintptr_t)m->tables_addr;

	return ask_can_read(m->tables_addr) && ask_can_read(m->tables_addr + 15) &&
	       begin[0] == m->begin[0] && begin[1] == m->begin[1];
}

bool unwind_find_module(void *context, uint64_t pc, struct unwind_module *ret)
{
	uint32_t count = __atomic_load_n(&hooks_modules.count, __ATOMIC_ACQUIRE);

	(void)context;
	for (uint32_t i = 0; i < count && i < HOOKS_MODULE_MAX; i++) {
		const struct hooks_module *m = &hooks_modules.items[i];
		uint64_t end = __atomic_load_n(&m->end, __ATOMIC_ACQUIRE);

		if (pc < m->start || pc >= end)
			continue;
		if (m->tables_addr && !is_there(m))
			return false;
		*ret = (struct unwind_module){ .start = m->start,
					       .end = end,
					       .tables_addr = m->tables_addr };
		return true;
	}
	return false;
}

void *stack_memory_allocate(uint64_t bytes)
{
	uint64_t whole = (bytes + PAGE_BYTES - 1) & ~UINT64_C(4095);
	uint64_t used = __atomic_fetch_add(&hooks_private.arena_used_bytes, whole,
					   __ATOMIC_RELAXED);

	if (used + whole > HOOKS_ARENA_BYTES - HOOKS_ROWS_BYTES - HOOKS_RECENT_BYTES)
		return NULL;
	return (char *)hooks_arena + HOOKS_ROWS_BYTES + HOOKS_RECENT_BYTES + used;
}

/* Do not release the memory, because a seccomp filter may forbid madvise(2). */
void stack_memory_release(void *memory, uint64_t bytes)
{
	(void)memory;
	(void)bytes;
}

bool stack_file_take_nodes(struct stack_file *file, uint32_t count, uint32_t *ret)
{
	uint32_t before = __atomic_load_n(&file->head->node_count, __ATOMIC_RELAXED);

	do
		if (before > file->node_max - count)
			return false;
	while (!__atomic_compare_exchange_n(&file->head->node_count, &before,
					    before + count, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED));
	*ret = before;
	return true;
}

/*
 * Return the end address of the thread's stack. For the main thread, memstate has
 * determined this address. For other threads, return the address of struct pthread, which
 * glibc places at the end of the stack.
 */
static uint64_t find_stack_end(uint32_t tid)
{
	if (tid == hooks_private.own_pid)
		return hooks_private.main_stack_end;
	return ask_own_self() & ~UINT64_C(7);
}

/* Return the struct recorder of a slot, or NULL if there is no memory for one. */
static struct recorder *find_recorder(uint32_t slot)
{
	struct recorder *recorder =
		(struct recorder *)(uintptr_t)hooks_private.threads[slot];

	if (recorder)
		return recorder;
	recorder = stack_memory_allocate(sizeof(*recorder));
	if (!recorder)
		return NULL;
	recorder->stack.random = ((uint64_t)(uintptr_t)recorder ^ ask_own_self() << 20) *
					 UINT64_C(0x9e3779b97f4a7c15) |
				 1;
	recorder->stack.trie.recent = (void *)(hooks_arena + HOOKS_ROWS_BYTES);
	hooks_private.threads[slot] = (uintptr_t)recorder;
	return recorder;
}

static void begin_thread(struct recorder *recorder, uint32_t tid)
{
	struct unwind_thread *unwind = &recorder->stack.unwind;

	recorder->stack.last_node = 0;
	unwind->kept_count = 0;
	unwind->stack_start = unwind->hole = 0;
	unwind->stack_end = find_stack_end(tid);
	unwind->sure_start =
		tid == hooks_private.own_pid ? unwind->stack_end - UNWIND_SURE_BYTES : 0;
	recorder->tid = tid;
	recorder->self = ask_own_self();
}

/*
 * Initialize the state that all threads share. Several threads may do so at the same
 * time, because all of them write the same values.
 */
static COLD void begin(struct stacks *s)
{
	s->mode.sample_bytes = hooks_private.sample_bytes;
	s->is_threaded = true;
	s->file.head = (void *)hooks_nodes;
	s->file.nodes = (void *)(hooks_nodes + STACK_NODES_OFFSET);
	s->file.node_max = HOOKS_NODE_MAX;
	s->recent = (void *)(hooks_arena + HOOKS_ROWS_BYTES);
	s->space.rows = (void *)hooks_arena;
	__atomic_store_n(&hooks_private.has_stacks, 1, __ATOMIC_RELEASE);
}

int64_t hooks_record_stack(uint32_t slot, uint64_t bytes,
			   const struct unwind_state *start)
{
	struct stacks *s = (void *)hooks_private.stacks;
	struct recorder *recorder = find_recorder(slot);
	uint32_t tid = hooks_own_tid();
	int64_t step = 0;
	bool is_new;

	if (!__atomic_load_n(&hooks_private.has_stacks, __ATOMIC_ACQUIRE))
		begin(s);
	if (!recorder) {
		__atomic_fetch_add(&s->file.head->lost_count, 1, __ATOMIC_RELAXED);
		return s->mode.sample_bytes ? INT64_MAX : 0;
	}
	is_new = recorder->tid != tid || recorder->self != ask_own_self();
	if (is_new)
		begin_thread(recorder, tid);
	if (s->mode.sample_bytes) {
		step = stack_sample_step(&recorder->stack.random, s->mode.sample_bytes);
		/*
		 * a thread's first allocation always reaches this code, even if the
		 * first sampling point comes later
		 */
		if (is_new && step >= (int64_t)bytes + 1)
			return step - (int64_t)bytes - 1;
		if (is_new)
			step = stack_sample_step(&recorder->stack.random,
						 s->mode.sample_bytes);
	}
	if (s->mode.sample_bytes)
		__atomic_fetch_add(&s->file.head->sample_count, 1, __ATOMIC_RELAXED);
	stack_record(s, &recorder->stack, 0, bytes, start);
	return step;
}
