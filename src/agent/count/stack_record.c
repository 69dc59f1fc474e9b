/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/count/stack_record.h"

#include <stddef.h>

#include "agent/count/stack_sample.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define COLD __attribute__((cold, noinline))

/*
 * Maximum of a counter in the address filter. A counter that has reached the maximum is
 * never changed again.
 */
#define FILTER_FULL 128

/*
 * Add to a counter with a single instruction, so that a signal handler cannot interrupt
 * the addition.
 */
static inline void add(uint64_t *counter, uint64_t by)
{
	__asm__("addq %1, %0" : "+m"(*counter) : "er"(by) : "cc");
}

static inline void add_shared(const struct stacks *s, int64_t *counter, int64_t by)
{
	if (s->is_threaded)
		__atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
	else
		add((uint64_t *)counter, (uint64_t)by);
}

static inline uint64_t weight_of(const struct stacks *s, uint64_t bytes)
{
	if (likely(!s->mode.sample_bytes))
		return 1;
	return stack_sample_weight(bytes, s->mode.sample_bytes);
}

/*
 * Save a node's live bytes at the last peak. This function must be called before the live
 * bytes change. Peaks are numbered, and each node stores the number of the peak at which
 * its live bytes were saved. If the number is not that of the last peak, the live bytes
 * have not changed since the last peak, so save the current live bytes.
 */
static inline void save_peak(const struct stacks *s, struct stack_file_node *node)
{
	uint64_t generation = s->file.head->peak_generation,
		 before = node->parent_generation;

	if (likely(before >> STACK_PARENT_BITS == generation))
		return;
	node->peak_bytes = (int64_t)stack_node_live(node);
	node->parent_generation = generation << STACK_PARENT_BITS |
				  (before & (STACK_NODE_MAX - 1));
}

COLD void stack_flush(struct stacks *s, struct stack_thread *t)
{
	struct stack_file_head *head = s->file.head;
	int64_t pending = __atomic_exchange_n(&t->pending_bytes, 0, __ATOMIC_RELAXED);
	int64_t live = __atomic_add_fetch(&head->live_bytes, pending, __ATOMIC_RELAXED);
	int64_t peak = __atomic_load_n(&head->peak_bytes, __ATOMIC_RELAXED);

	while (live > peak) {
		if (!__atomic_compare_exchange_n(&head->peak_bytes, &peak, live, true,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		__atomic_fetch_add(&head->peak_generation, 1, __ATOMIC_RELAXED);
		peak = live;
	}
	t->room_bytes = s->is_threaded ? STACK_FLUSH_BYTES : peak - live;
}

static bool is_as_found(const struct unwind_thread *u, uint32_t count, bool is_cut)
{
	if (count != u->fresh_count || is_cut != u->is_cut)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const struct unwind_frame *a = &u->kept[count - i], *b = &u->fresh[i];

		if (a->pc != b->pc || (a->cfa & ~(uint64_t)UNWIND_FLAGS) != b->cfa ||
		    (a->rbp_delta & UNWIND_NEEDS_RBP && a->rbp != b->rbp))
			return false;
	}
	return true;
}

/*
 * Return true if each frame's node has the frame's address, and its parent is the node of
 * the caller's frame.
 */
static bool has_own_nodes(const struct stacks *s, const struct unwind_thread *u)
{
	for (uint32_t i = 1; i <= u->kept_count; i++) {
		const struct stack_file_node *node = &s->file.nodes[u->kept[i].node];

		if ((node->pc & ~STACK_FILE_PC_BY_FRAME) != u->kept[i].pc ||
		    (i > 1 && (node->parent_generation & (STACK_NODE_MAX - 1)) !=
				      u->kept[i - 1].node))
			return false;
	}
	return true;
}

static COLD void check(struct stacks *s, struct stack_thread *t,
		       const struct unwind_state *start)
{
	struct unwind_thread *u = &t->unwind;
	uint32_t root = u->kept[1].node;
	bool is_cut = (s->file.nodes[root].parent_generation & (STACK_NODE_MAX - 1)) != 0;

	unwind_whole(&s->space, u, start);
	__atomic_fetch_add(&s->file.head->checked_count, 1, __ATOMIC_RELAXED);
	if (!is_as_found(u, u->kept_count, is_cut) || !has_own_nodes(s, u))
		__atomic_fetch_add(&s->file.head->mismatch_count, 1, __ATOMIC_RELAXED);
}

/*
 * Append the fresh frames (found by the last unwinding) to the kept frames (reused from
 * the previous stack). The cached path contains the nodes of the fresh frames. Return the
 * innermost node.
 */
static inline uint32_t keep_path(struct unwind_thread *u, const struct stack_path *path)
{
	uint32_t count = u->fresh_count;

	for (uint32_t i = 0; i < count; i++)
		unwind_keep(u, count - 1 - i)->node = path->nodes[i];
	return path->nodes[count - 1];
}

static void save_path(const struct stack_trie *trie, const struct unwind_thread *u,
		      uint64_t key)
{
	uint32_t *nodes = stack_path_place(trie, key)->nodes;

	for (uint32_t i = 0; i < u->fresh_count; i++)
		nodes[i] = u->kept[u->kept_count - u->fresh_count + 1 + i].node;
}

/*
 * Return the cache key for the path of the fresh frames (those found by the last
 * unwinding), or 0 if the path cannot be cached.
 */
static inline uint64_t path_key(const struct stack_trie *trie,
				const struct unwind_thread *u)
{
	uint64_t key;

	if (u->fresh_count - 1U >= STACK_PATH_MAX || u->is_passing || u->is_cut ||
	    !trie->paths)
		return 0;
	key = stack_path_begin(u->kept[u->kept_count].node, u->fresh_count);
	for (uint32_t i = u->fresh_count; i-- > 0;)
		key = stack_path_add(key, u->fresh[i].pc);
	return key;
}

/*
 * Return the node of the stack that the unwinder has just found, or 0 if the file has no
 * space for a new node.
 */
static inline uint32_t find_node(struct stacks *s, struct stack_thread *t)
{
	struct unwind_thread *u = &t->unwind;
	uint32_t node = u->is_passing ? 0 : u->kept[u->kept_count].node;
	uint64_t key = path_key(&t->trie, u);
	const struct stack_path *path = key ? stack_path_find(&t->trie, key) : NULL;

	if (likely(path))
		return keep_path(u, path);
	if (unlikely(u->is_cut)) {
		node = stack_trie_child(&t->trie, &s->file, 0, STACK_FILE_PC_CUT);
		if (node == 0)
			return 0;
	}
	for (uint32_t i = u->fresh_count; i-- > 0;) {
		node = stack_trie_child(&t->trie, &s->file, node, u->fresh[i].pc);
		if (unlikely(node == 0)) {
			u->kept_count = 0;
			return 0;
		}
		if (unlikely(u->fresh[i].rbp_delta & UNWIND_BY_FRAME))
			__atomic_fetch_or(&s->file.nodes[node].pc, STACK_FILE_PC_BY_FRAME,
					  __ATOMIC_RELAXED);
		if (likely(!u->is_passing))
			unwind_keep(u, i)->node = node;
	}
	if (key && t->trie.paths)
		save_path(&t->trie, u, key);
	return node;
}

static inline uint32_t find_stack(struct stacks *s, struct stack_thread *t,
				  const struct unwind_state *start)
{
	uint32_t epoch, node;

	do {
		epoch = __atomic_load_n(&s->epoch, __ATOMIC_ACQUIRE);
		if (unlikely(t->epoch != epoch)) {
			stack_trie_reset(&t->trie);
			t->unwind.kept_count = 0;
			t->epoch = epoch;
		}
		unwind_stack(&s->space, &t->unwind, start);
	} while (unlikely(__atomic_load_n(&s->epoch, __ATOMIC_ACQUIRE) != epoch));
	node = find_node(s, t);
	if (unlikely(s->mode.is_checked) && node && !t->unwind.is_passing)
		check(s, t, start);
	return node;
}

static COLD void count_within(struct stacks *s, struct stack_thread *t, uint64_t bytes,
			      uint64_t weight)
{
	struct stack_file_node *node = &s->file.nodes[STACK_NODE_CUT];

	__atomic_fetch_add(&node->calls, weight, __ATOMIC_RELAXED);
	__atomic_fetch_add(&node->bytes, bytes * weight, __ATOMIC_RELAXED);
	/*
	 * also count the block as freed, because a later free cannot find
	 * the block's stack
	 */
	__atomic_fetch_add(&node->freed_blocks, (int64_t)weight, __ATOMIC_RELAXED);
	__atomic_fetch_add(&node->freed_bytes, (int64_t)(bytes * weight),
			   __ATOMIC_RELAXED);
	t->last_node = STACK_NODE_CUT;
	t->last_weight = weight;
}

static inline uint8_t *filter_of(struct stacks *s, uintptr_t addr)
{
	return &s->filter[addr >> STACK_FILTER_SHIFT & (STACK_FILTER_BYTES - 1)];
}

void stack_restore(struct stacks *s, uintptr_t addr, uint64_t block)
{
	uint64_t *place = stack_blocks_find_place(s->blocks, addr);

	if (!place)
		return;
	*place = block;
	if (s->filter && *filter_of(s, addr) < FILTER_FULL)
		__atomic_fetch_add(filter_of(s, addr), 1, __ATOMIC_RELAXED);
}

static inline uint64_t remove_record(struct stacks *s, uintptr_t addr)
{
	uint64_t *place = stack_blocks_find_place(s->blocks, addr);
	uint64_t block = place ? *place : 0;

	if (!block)
		return 0;
	*place = 0;
	if (s->filter && *filter_of(s, addr) < FILTER_FULL)
		__atomic_fetch_sub(filter_of(s, addr), 1, __ATOMIC_RELAXED);
	return block;
}

static inline void count_block_freed(struct stacks *s, struct stack_thread *t,
				     uint64_t block)
{
	struct stack_file_node *node = &s->file.nodes[stack_block_node(block)];
	uint64_t weight = weight_of(s, stack_block_bytes(block));
	int64_t bytes = (int64_t)(stack_block_bytes(block) * weight);

	/*
	 * live_bytes may have reached a new peak, so flush before pending_bytes decreases
	 */
	if (unlikely(t->pending_bytes > t->room_bytes))
		stack_flush(s, t);
	save_peak(s, node);
	add_shared(s, &node->freed_blocks, (int64_t)weight);
	add_shared(s, &node->freed_bytes, bytes);
	add((uint64_t *)&t->pending_bytes, (uint64_t)-bytes);
	if (unlikely(t->pending_bytes < -STACK_FLUSH_BYTES))
		stack_flush(s, t);
}

uint64_t stack_remove(struct stacks *s, uintptr_t addr)
{
	return remove_record(s, addr);
}

void stack_count_freed(struct stacks *s, struct stack_thread *t, uint64_t block)
{
	count_block_freed(s, t, block);
}

void stack_forget(struct stacks *s, struct stack_thread *t, uintptr_t addr)
{
	uint64_t block = remove_record(s, addr);

	if (likely(block))
		count_block_freed(s, t, block);
}

/*
 * Store the node of a block's call stack in the table of blocks. `place` points to the
 * block's word in the table, or is NULL if memory for this word has not been allocated
 * yet.
 */
static inline void remember(struct stacks *s, struct stack_thread *t, uint64_t *place,
			    uintptr_t addr, uint64_t block)
{
	struct stack_file_node *node = &s->file.nodes[stack_block_node(block)];

	if (unlikely(!place)) {
		place = stack_blocks_make_place(s->blocks, addr);
		/*
		 * the table has no memory for the block's word, so a later free of the
		 * block cannot be recorded: count the block as freed now to avoid
		 * reporting it as leaked
		 */
		if (!place) {
			uint64_t weight = weight_of(s, stack_block_bytes(block));

			add_shared(s, &node->freed_blocks, (int64_t)weight);
			add_shared(s, &node->freed_bytes,
				   (int64_t)(stack_block_bytes(block) * weight));
			return;
		}
	}
	/*
	 * if the table still contains an earlier block at this address, the program freed
	 * it in a way that was not detected
	 */
	if (unlikely(*place))
		stack_forget(s, t, addr);
	*place = block;
	if (s->filter && *filter_of(s, addr) < FILTER_FULL)
		__atomic_fetch_add(filter_of(s, addr), 1, __ATOMIC_RELAXED);
}

void stack_record(struct stacks *s, struct stack_thread *t, uintptr_t addr,
		  uint64_t bytes, const struct unwind_state *start)
{
	uint64_t weight = weight_of(s, bytes);
	struct stack_file_node *node;
	uint64_t *place = NULL;
	uint32_t number;

	if (unlikely(t->is_busy)) {
		count_within(s, t, bytes, weight);
		return;
	}
	t->is_busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/*
	 * prefetch the block's entry in the table of live blocks, which is written after
	 * the stack has been unwound
	 */
	if (s->mode.has_live) {
		place = stack_blocks_find_place(s->blocks, addr);
		__builtin_prefetch(place, 1);
	}
	number = find_stack(s, t, start);
	t->last_node = number;
	t->last_weight = weight;
	if (unlikely(!number)) {
		__atomic_fetch_add(&s->file.head->lost_count, weight, __ATOMIC_RELAXED);
	} else {
		node = &s->file.nodes[number];
		if (s->mode.has_live) {
			save_peak(s, node);
			remember(s, t, place, addr, stack_block(number, bytes));
			add((uint64_t *)&t->pending_bytes, bytes * weight);
		}
		add(&node->calls, weight);
		add(&node->bytes, bytes * weight);
		if (s->mode.has_live && unlikely(t->pending_bytes > STACK_FLUSH_BYTES))
			stack_flush(s, t);
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->is_busy = 0;
}

void stack_count_temporary(struct stacks *s, struct stack_thread *t)
{
	if (t->last_node)
		add(&s->file.nodes[t->last_node].temporary, t->last_weight);
}
