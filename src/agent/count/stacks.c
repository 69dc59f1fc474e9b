/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "agent/count/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/count/stack_sample.h"

/* number of threads that a new thread checks, to find one that has ended */
#define ENDED_LOOKS 32
#define PAGE_BYTES 4096

struct count_stack_thread {
	struct count_stack_thread *next;
	/* thread id; -1 while another thread is taking over this struct */
	int32_t tid;
	uint64_t self; /* address of the thread's struct pthread, see ask_has_ended() */
	struct stack_thread stack;
};

struct stacks count_stacks;
static __thread struct {
	/* state for recording the thread's stacks; NULL if it is not allocated yet */
	struct count_stack_thread *thread;
	/* true while this thread creates the stack file of a forked child process */
	bool leaves_fork;
} own __attribute__((tls_model("initial-exec")));

static struct count_stack_thread *threads;
/* the thread at which the next search for an ended thread begins */
static struct count_stack_thread *look_at;
static bool is_on;
/* true in a forked child process that has not recorded anything yet */
static bool is_forked;
/*
 * true if stacks are recorded and, in a forked child process, the child's stack file has
 * been created
 */
static bool is_usual;
static uint32_t fork_lock;
/*
 * number of allocations that were not recorded because signal handlers made them before
 * the forked child process had created its file
 */
static uint64_t fork_lost_count;
static pid_t own_pid;
static uint64_t random_seed;
static enum ask_permission permission;
static struct unwind_row rows[UNWIND_ROW_COUNT] __attribute__((aligned(PAGE_BYTES)));
static uint64_t returns[UNWIND_RETURN_COUNT];
static struct stack_blocks blocks;
static uint8_t filter[STACK_FILTER_BYTES];

static COUNT_COLD void leave_fork(void);

static void read_mode(struct stack_mode *mode)
{
	static const char live[] = "live", check[] = "check", sample[] = "sample=";
	const char *word = environ ? getenv(STACK_MODE_VARIABLE) : NULL;

	for (; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
		if (strncmp(word, live, sizeof(live) - 1) == 0)
			mode->has_live = true;
		else if (strncmp(word, check, sizeof(check) - 1) == 0)
			mode->is_checked = true;
		else if (strncmp(word, sample, sizeof(sample) - 1) == 0)
			mode->sample_bytes =
				strtoull(word + sizeof(sample) - 1, NULL, 10);
	}
	if (mode->sample_bytes == 1)
		mode->sample_bytes = 0;
}

static bool make_path(const char *path)
{
	size_t length = strlen(path);

	if (length + sizeof(STACK_FILE_SUFFIX) > sizeof(count_stacks.file.path))
		return false;
	memcpy(count_stacks.file.path, path, length);
	memcpy(count_stacks.file.path + length, STACK_FILE_SUFFIX,
	       sizeof(STACK_FILE_SUFFIX));
	return true;
}

void count_stack_begin(const char *path)
{
	struct stacks *s = &count_stacks;
	struct stack_mode mode = { 0, false, false };

	read_mode(&mode);
	count_stack_modules_begin(&s->space);
	s->space.rows = rows;
	s->space.returns = returns;
	s->blocks = &blocks;
	/* glibc aligns blocks to 16 bytes; some other allocators align them to 8 bytes */
	blocks.align_bits = count_has_glibc_heads ? 4 : 3;
	if (mode.sample_bytes)
		s->filter = filter;
	s->mode = mode;
	is_on = make_path(path) && stack_file_create(&s->file, &mode, 0);
	s->mode.has_live = mode.has_live && is_on;
	if (is_on)
		s->recent = stack_memory_allocate(sizeof(*s->recent) * s->file.node_max);
	is_usual = is_on;
	own_pid = getpid();
	memcpy(&random_seed, (const void *)getauxval(AT_RANDOM), sizeof(random_seed));
}

void count_stack_seal(enum ask_permission wanted)
{
	if (is_forked && wanted != ASK_ALWAYS)
		leave_fork();
	if (!is_on)
		return;
	stack_file_seal(&count_stacks.file, wanted);
	count_stacks.space.permission = permission = wanted;
}

/*
 * In the stack file of a forked child process, add a block that was allocated before
 * fork() to the node of its call stack. The child process inherits the block, and the
 * nodes are copies. freed_blocks and freed_bytes become negative, because the child
 * process itself did not make the call.
 */
static void add_inherited(void *context, uint64_t block)
{
	struct stacks *s = context;
	struct stack_file_node *node = &s->file.nodes[stack_block_node(block)];
	uint64_t bytes = stack_block_bytes(block);
	int64_t weight =
		s->mode.sample_bytes
			? (int64_t)stack_sample_weight(bytes, s->mode.sample_bytes)
			: 1;

	node->freed_blocks -= weight;
	node->freed_bytes -= (int64_t)bytes * weight;
	s->file.head->live_bytes += (int64_t)bytes * weight;
}

static void copy_nodes(const struct stack_file *from, struct stack_file *to,
		       uint32_t count)
{
	for (uint32_t i = STACK_NODE_CUT + 1; i < count; i++) {
		to->nodes[i].parent_generation = from->nodes[i].parent_generation &
						 (STACK_NODE_MAX - 1);
		to->nodes[i].pc = from->nodes[i].pc;
	}
	to->head->node_count = count;
}

/*
 * Create the stack file of a forked child process, at its first recorded allocation or
 * free.
 */
static void begin_again(void)
{
	struct stacks *s = &count_stacks;
	struct stack_file parents = s->file;
	uint32_t count = stack_file_count_nodes(&parents);

	is_on = stack_file_create(&s->file, &s->mode, s->mode.has_live ? count : 0);
	count_stack_modules_forget();
	/*
	 * limit the number of nodes to that of the parent's file, because the inherited
	 * tables are indexed by node number
	 */
	if (s->file.node_max > parents.node_max)
		s->file.node_max = parents.node_max;
	if (!is_on) {
		s->mode.has_live = false;
	} else if (s->mode.has_live) {
		count_stack_modules_copy(&parents, &s->file);
		copy_nodes(&parents, &s->file, count);
		stack_blocks_for_each(&blocks, add_inherited, s);
		s->file.head->peak_bytes = s->file.head->live_bytes;
	} else {
		s->epoch++;
		if (s->recent)
			madvise(s->recent, sizeof(*s->recent) * parents.node_max,
				MADV_DONTNEED);
	}
	for (struct count_stack_thread *t = threads; t; t = t->next)
		t->stack.pending_bytes = t->stack.room_bytes = 0;
	stack_file_close(&parents);
}

void count_stack_begin_child(const char *path)
{
	fork_lock = 0;
	is_usual = false;
	own_pid = (pid_t)ask_own_tid();
	/*
	 * set the child's tid; otherwise a new thread would see the parent's tid,
	 * consider the thread ended, and reuse this struct
	 */
	if (own.thread)
		own.thread->tid = own_pid;
	if (!is_on)
		return;
	is_on = is_forked = path && make_path(path);
	if (!is_on)
		count_stacks.mode.has_live = false;
}

/*
 * Complete a fork() in the child process by creating its stack file. Two kinds of signal
 * handlers must not create the file: a handler that interrupts this function, because it
 * would wait forever, and a handler that called fork(), because it may return to code
 * that still records in the parent's file. In these two cases is_forked remains set.
 */
static COUNT_COLD void leave_fork(void)
{
	const struct count_stack_thread *t = own.thread;

	if (own.leaves_fork || (t && t->stack.is_busy))
		return;
	own.leaves_fork = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	while (__atomic_exchange_n(&fork_lock, 1, __ATOMIC_ACQUIRE))
		ask_wait(&fork_lock, permission);
	if (is_forked)
		begin_again();
	if (is_on)
		count_stacks.file.head->lost_count += fork_lost_count;
	fork_lost_count = 0;
	__atomic_store_n(&is_forked, false, __ATOMIC_RELEASE);
	is_usual = is_on;
	__atomic_store_n(&fork_lock, 0, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	own.leaves_fork = false;
}

/*
 * Return the end address of the thread's stack. For the main thread, find the end of the
 * stack from the address of the program's file name, which the kernel stores there. For
 * any other thread, use the address of struct pthread, which glibc and musl place at the
 * end of the stack.
 */
static uint64_t find_stack_end(pid_t tid)
{
	if (tid == own_pid)
		return (getauxval(AT_EXECFN) + PAGE_BYTES) & ~(uint64_t)(PAGE_BYTES - 1);
	return ask_own_self() & ~UINT64_C(7);
}

/*
 * Find a thread that has ended, and return its struct for reuse. Return NULL if no such
 * thread is found.
 */
static struct count_stack_thread *reuse_ended(void)
{
	struct count_stack_thread *t = __atomic_load_n(&look_at, __ATOMIC_RELAXED);

	if (!ask_may(permission))
		return NULL;
	for (int i = 0; i < ENDED_LOOKS; i++) {
		int32_t tid;

		if (!t)
			t = __atomic_load_n(&threads, __ATOMIC_ACQUIRE);
		if (!t)
			return NULL;
		tid = __atomic_load_n(&t->tid, __ATOMIC_ACQUIRE);
		__atomic_store_n(&look_at, t->next, __ATOMIC_RELAXED);
		if (tid > 0 && !t->stack.is_busy &&
		    ask_has_ended(t->self, (uint32_t)tid) &&
		    __atomic_compare_exchange_n(&t->tid, &tid, -1, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return t;
		t = t->next;
	}
	return NULL;
}

static struct count_stack_thread *allocate_new(void)
{
	struct count_stack_thread *t = stack_memory_allocate(sizeof(*t));
	uint64_t seed;

	if (!t)
		return NULL;
	seed = __atomic_fetch_add(&random_seed, UINT64_C(0x9e3779b97f4a7c15),
				  __ATOMIC_RELAXED);
	t->stack.random = ((uint64_t)(uintptr_t)t ^ seed) * UINT64_C(0x9e3779b97f4a7c15) |
			  1;
	t->next = __atomic_load_n(&threads, __ATOMIC_RELAXED);
	if (t->next)
		__atomic_store_n(&count_stacks.is_threaded, true, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&threads, &t->next, t, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	return t;
}

/*
 * Assign a struct count_stack_thread to the calling thread, and return it. Return NULL if
 * there is no memory for it.
 */
static COUNT_COLD struct count_stack_thread *allocate_thread(void)
{
	pid_t tid = (pid_t)ask_own_tid();
	struct count_stack_thread *t = NULL;
	int err = errno;

	t = reuse_ended();
	if (!t)
		t = allocate_new();
	if (t) {
		if (t->stack.pending_bytes)
			stack_flush(&count_stacks, &t->stack);
		t->stack.last_node = 0;
		t->stack.trie.recent = count_stacks.recent;
		t->stack.unwind.kept_count = 0;
		t->stack.unwind.stack_start = t->stack.unwind.hole = 0;
		t->stack.unwind.stack_end = find_stack_end(tid);
		t->stack.unwind.sure_start =
			tid == own_pid ? t->stack.unwind.stack_end - UNWIND_SURE_BYTES
				       : 0;
		t->self = ask_own_self();
		__atomic_store_n(&t->tid, tid, __ATOMIC_RELEASE);
	}
	own.thread = t;
	errno = err;
	return t;
}

static COUNT_COLD struct stack_thread *find_own_thread(void)
{
	struct count_stack_thread *t = own.thread;

	if (is_forked)
		leave_fork();
	if (is_forked)
		return NULL;
	if (!t && is_on)
		t = allocate_thread();
	return is_on && t ? &t->stack : NULL;
}

/*
 * Return the state for recording the calling thread's stacks, or NULL if stacks are not
 * recorded.
 */
static inline struct stack_thread *own_thread(void)
{
	struct count_stack_thread *t = own.thread;

	return count_likely(t && is_usual) ? &t->stack : find_own_thread();
}

/*
 * After a call that requested this many bytes, choose the next sampling point. Return
 * true if this call is sampled.
 */
static COUNT_COLD bool draw(struct count_slot *slot, struct stack_thread *t, size_t bytes)
{
	uint64_t at = count_stack_position(slot),
		 sample_bytes = count_stacks.mode.sample_bytes;
	int64_t step = stack_sample_step(&t->random, sample_bytes);

	/*
	 * a thread's first call always reaches this code, even if the first
	 * sampling point comes later
	 */
	if (slot->stack_at == 0) {
		if (step > (int64_t)bytes) {
			slot->stack_at = at + (uint64_t)step - bytes;
			return false;
		}
		step = stack_sample_step(&t->random, sample_bytes);
	}
	slot->stack_at = at + (uint64_t)step + 1;
	return true;
}

bool count_stack_has_plain_malloc(void)
{
	return count_stacks.mode.sample_bytes != 0 || !is_on;
}

bool count_stack_has_plain_free(void)
{
	return count_stack_has_plain_malloc() && !count_stacks.mode.has_live;
}

void count_stack_record(const void *p, size_t bytes, const struct unwind_state *start)
{
	struct count_slot *slot = count_own.slot;
	struct stack_thread *t = own_thread();
	uint64_t addr = (uintptr_t)p;

	if (count_unlikely(!t)) {
		if (!is_forked)
			slot->stack_at = UINT64_MAX;
		else if (!count_stacks.mode.sample_bytes)
			fork_lost_count++;
		return;
	}
	if (count_unlikely(count_stacks.mode.sample_bytes) && !draw(slot, t, bytes))
		return;
	count_replace(&slot->last_addr, &(uint64_t){ addr }, addr | COUNT_STACK_LAST);
	stack_record(&count_stacks, t, addr, bytes, start);
}

/*
 * If the thread's last allocation is the block at addr and was recorded, count it as
 * temporary, and clear the flag in slot->last_addr.
 */
static inline void count_temporary(struct count_slot *slot, struct stack_thread *t,
				   uintptr_t addr)
{
	if (slot->last_addr != (addr | COUNT_STACK_LAST))
		return;
	slot->last_addr = addr;
	if (t)
		stack_count_temporary(&count_stacks, t);
}

void count_stack_forget(struct count_slot *slot, const void *p)
{
	struct stack_thread *t = own_thread();

	count_temporary(slot, t, (uintptr_t)p);
	if (count_likely(t) && count_stacks.mode.has_live)
		stack_forget(&count_stacks, t, (uintptr_t)p);
}

uint64_t count_stack_before_resize(const void *p)
{
	if (!count_stacks.mode.has_live ||
	    !stack_may_be_known(&count_stacks, (uintptr_t)p) || !own_thread())
		return 0;
	return stack_remove(&count_stacks, (uintptr_t)p);
}

void count_stack_resized(struct count_slot *slot, uintptr_t addr, uint64_t block)
{
	struct stack_thread *t = own_thread();

	count_temporary(slot, t, addr);
	if (t && block)
		stack_count_freed(&count_stacks, t, block);
}

void count_stack_not_resized(uintptr_t addr, uint64_t block)
{
	if (block)
		stack_restore(&count_stacks, addr, block);
}
