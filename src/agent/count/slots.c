/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots - the counts file and its slots, one for each thread. The file is created at the
 * program's first allocation or when main() starts, whichever comes first. Each forked
 * child process creates its own file.
 */
#include "config.h"

#include "agent/count/inside.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/count/stacks.h"
#include "agent/system/ask.h"
#include "agent/system/new_file.h"

/* number of slots that a new thread checks, to find the slot of an ended thread */
#define ENDED_LOOKS 32
#define COUNT_NAMED_MAX 64
#define PAGE_SLOTS (COUNT_GROW_BYTES / COUNT_SLOT_BYTES)

struct count_name {
	uint32_t tid; /* thread id; 0 if this array element is free */
	char name[COUNT_NAME_BYTES];
};

__thread struct count_own count_own __attribute__((tls_model("initial-exec")));

/* The slot that all threads without their own slot share. No process reads its counts. */
static struct count_slot lost_slot;
/* the mapped counts file; NULL if there is no file */
static struct count_head *head;
static struct new_file file;
static uint32_t slots_reserved; /* index of the first slot without allocated disk space */
static uint32_t slots_in_file;	/* number of slots for which the file has space */
/*
 * index of the first slot of this process, which may differ from 1 in a forked child
 * process
 */
static uint32_t slot_first;
static uint32_t ended_cursor;
/* blocks and bytes that were in use (allocated and not freed) at the time of fork() */
static int64_t forked_blocks, forked_bytes;
static enum ask_permission permission;
/* true if ask_own_tid() returns the same thread id as the kernel */
static bool has_tid;
/* names of threads that have no slot yet */
static struct count_name named[COUNT_NAMED_MAX];
static uint32_t named_count;

enum {
	START_NOT_YET,
	START_RUNS,
	START_DONE
};
static int start_state;

/* Set the slot of the calling thread. NULL means that the thread has none. */
static void own_slot(struct count_slot *slot)
{
	bool is_plain = count_has_glibc_heads || !COUNT_HAS_LIVE;

	count_own.slot = slot;
	count_own.for_malloc = is_plain && count_stack_has_plain_malloc() ? slot : NULL;
	count_own.for_free = is_plain && count_stack_has_plain_free() ? slot : NULL;
}

static struct count_slot *slot_at(uint32_t index)
{
	return (struct count_slot *)(void *)((char *)head + COUNT_HEAD_BYTES +
					     (size_t)index * COUNT_SLOT_BYTES);
}

/*
 * Create this process's counts file and map it, at the given address unless that is NULL.
 * Allocate disk space for slot 0 and the given slot. Return NULL on failure.
 */
static struct count_head *map_file(struct count_head *at, uint32_t slot)
{
	uint64_t page = (COUNT_HEAD_BYTES + (uint64_t)slot * COUNT_SLOT_BYTES) /
			COUNT_GROW_BYTES * COUNT_GROW_BYTES;
	const struct new_file_layout layout = {
		.mapped_bytes = COUNT_FILE_MAX,
		.head_bytes = COUNT_HEAD_BYTES + COUNT_GROW_BYTES,
		.part_offset = page,
		.part_bytes = COUNT_GROW_BYTES,
	};
	uint64_t page_end = page + COUNT_GROW_BYTES, bytes;
	struct count_head *p = new_file_map(&file, &layout, at, &bytes);

	if (!p)
		return NULL;
	slots_reserved = (uint32_t)((page_end - COUNT_HEAD_BYTES) / COUNT_SLOT_BYTES);
	slots_in_file =
		(uint32_t)((bytes - COUNT_HEAD_BYTES) / COUNT_GROW_BYTES) * PAGE_SLOTS;
	return p;
}

static void fill_head(uint32_t flags)
{
	Dl_info info;

	head->head_bytes = COUNT_HEAD_BYTES;
	head->slot_bytes = COUNT_SLOT_BYTES;
	head->pid = getpid();
	head->parent_pid = getppid();
	head->flags = flags | (COUNT_HAS_LIVE ? 0 : COUNT_CALLS_ONLY);
	prctl(PR_GET_NAME, head->name);
	if (dladdr((void *)(uintptr_t)count_next.malloc, &info) && info.dli_fname)
		strncpy(head->allocator, info.dli_fname, sizeof(head->allocator) - 1);
	head->version = COUNT_VERSION;
	/* write the magic number last, because readers ignore the file until it is set */
	__atomic_store_n(&head->magic, COUNT_MAGIC, __ATOMIC_RELEASE);
}

static int64_t sum_blocks(const struct count_slot *slot)
{
	uint64_t blocks = slot->malloc_calls + slot->free_null_count - slot->free_calls -
			  slot->failed_count - slot->resized_count -
			  2 * slot->ended_count;

	for (int i = 0; i < COUNT_FUNCTION_COUNT_; i++)
		blocks += i == COUNT_DELETE ? -slot->calls[i] : slot->calls[i];
	return (int64_t)blocks;
}

static void save_before_fork(void)
{
	uint32_t count;

	if (!head)
		return;
	count = __atomic_load_n(&head->slot_count, __ATOMIC_ACQUIRE);
	forked_blocks = head->inherited_blocks;
	forked_bytes = head->live_bytes;
	for (uint32_t i = 0; i < count && i < COUNT_SLOT_MAX; i++) {
		if (i > 0 && i < slot_first)
			i = slot_first;
		if (i >= slots_reserved)
			break;
		forked_blocks += sum_blocks(slot_at(i));
		forked_bytes += slot_at(i)->pending_bytes;
	}
}

static pid_t own_tid(void)
{
	return has_tid ? (pid_t)ask_own_tid() : (pid_t)syscall(SYS_gettid);
}

/*
 * Copy the thread's name: the name that was set before the thread had a slot, or the
 * inherited name.
 */
static void copy_name(pid_t tid, char *to)
{
	memcpy(to, head->name, COUNT_NAME_BYTES);
	for (uint32_t i = 0; i < COUNT_NAMED_MAX && i < named_count; i++) {
		if (__atomic_load_n(&named[i].tid, __ATOMIC_ACQUIRE) != (uint32_t)tid)
			continue;
		memcpy(to, named[i].name, COUNT_NAME_BYTES);
		named[i].tid = 0;
	}
}

static void fill_slot(struct count_slot *slot, pid_t tid)
{
	copy_name(tid, slot->name);
	slot->self = has_tid ? ask_own_self() : 0;
	slot->is_main = tid == head->pid;
	__atomic_store_n(&slot->tid, tid, __ATOMIC_RELEASE);
}

void count_slot_set_name(uint32_t tid, const char *name)
{
	char copy[COUNT_NAME_BYTES] = "";
	uint32_t count;

	if (!head || start_state != START_DONE)
		return;
	strncpy(copy, name, sizeof(copy) - 1);
	if ((int32_t)tid == head->pid)
		memcpy(head->name, copy, sizeof(copy));
	count = __atomic_load_n(&head->slot_count, __ATOMIC_ACQUIRE);
	for (uint32_t i = slot_first; i < count && i < slots_reserved; i++)
		if (slot_at(i)->tid == (int32_t)tid) {
			memcpy(slot_at(i)->name, copy, sizeof(copy));
			return;
		}
	count = __atomic_fetch_add(&named_count, 1, __ATOMIC_ACQ_REL) % COUNT_NAMED_MAX;
	memcpy(named[count].name, copy, sizeof(copy));
	__atomic_store_n(&named[count].tid, tid, __ATOMIC_RELEASE);
}

/* Stop counting in this forked child process, in all of its threads. */
static void stop_counting_child(struct count_head *parent)
{
	__atomic_fetch_add(&parent->lost_child_count, 1, __ATOMIC_RELAXED);
	own_slot(&lost_slot);
	head = NULL;
	/*
	 * A signal handler may have interrupted a counted call and called fork(). The
	 * interrupted call still writes to the old slot, so replace the mapping of the
	 * parent's file with private memory. Under a seccomp filter, the mapping cannot
	 * be replaced.
	 */
	if (permission == ASK_ALWAYS)
		(void)mmap(parent, COUNT_FILE_MAX, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
			   0);
	count_stack_begin_child(NULL);
}

/*
 * Start a counts file in a forked child process. The slot keeps its address, because a
 * signal handler may have interrupted a counted call and called fork(), and the
 * interrupted call still uses the slot. A thread that has no slot in the parent, because
 * it has not allocated yet, has none in the child either.
 */
static void begin_child(void)
{
	struct count_slot *slot = count_own.slot;
	struct count_head *parent = head;
	uint32_t flags, index = 1;
	int err = errno;

	if (!parent)
		return;
	if (slot == &lost_slot) {
		slot = NULL;
		own_slot(slot);
	}
	flags = (parent->flags & ~(uint32_t)COUNT_CALLS_ONLY) | COUNT_FORKED;
	if (slot)
		index = (uint32_t)(((char *)slot - (char *)slot_at(0)) /
				   COUNT_SLOT_BYTES);
	/*
	 * create a file only if no seccomp filter is active, because a filter could kill
	 * the program for the system calls that create a file
	 */
	if (permission == ASK_ALWAYS && map_file(parent, index)) {
		slot_first = index;
		named_count = 0;
		head->slot_count = slot ? index + 1 : index;
		head->inherited_blocks = forked_blocks;
		head->inherited_bytes = head->live_bytes = head->peak_bytes =
			forked_bytes;
		fill_head(flags);
		if (slot) {
			fill_slot(slot, own_tid());
			slot->is_main = 1;
		}
		count_stack_begin_child(file.path);
	} else {
		stop_counting_child(parent);
	}
	errno = err;
}

static void start(void)
{
	uint32_t flags = count_next_find();

	if (!new_file_set_folder(&file, environ ? getenv(COUNT_FOLDER_VARIABLE) : NULL))
		return;
	head = map_file(NULL, 1);
	if (!head)
		return;
	has_tid = ask_own_tid() == (uint32_t)syscall(SYS_gettid);
	head->slot_count = 1;
	slot_first = 1;
	fill_head(flags);
	count_stack_begin(file.path);
	pthread_atfork(save_before_fork, NULL, begin_child);
}

/* Add pending_bytes of a slot to live_bytes in the file header, and update the peak. */
static void flush(struct count_slot *slot)
{
	int64_t high = __atomic_exchange_n(&slot->high_bytes, 0, __ATOMIC_RELAXED);
	int64_t pending = __atomic_exchange_n(&slot->pending_bytes, 0, __ATOMIC_RELAXED);
	int64_t before, most, peak;

	count_add_signed(&slot->flushed_bytes, pending);
	count_add(&slot->flush_count, 1);
	if (!head)
		return;
	before = __atomic_fetch_add(&head->live_bytes, pending, __ATOMIC_RELAXED);
	/*
	 * If only one slot is in use, no other thread has changed live_bytes since the
	 * last flush, so this slot's maximum of pending_bytes yields the exact peak.
	 */
	most = head->slot_count == slot_first + 1 && high > pending ? before + high
								    : before + pending;
	peak = __atomic_load_n(&head->peak_bytes, __ATOMIC_RELAXED);
	while (most > peak &&
	       !__atomic_compare_exchange_n(&head->peak_bytes, &peak, most, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Add the counts of a slot to slot 0. Several threads may do this at the same time. */
static void fold(struct count_slot *slot)
{
	struct count_slot *to = slot_at(0);
	uint64_t *from_words = &slot->malloc_calls, *to_words = &to->malloc_calls;

	__atomic_fetch_add(&head->fold_begin_count, 1, __ATOMIC_SEQ_CST);
	if (slot->pending_bytes != 0)
		flush(slot);
	slot->high_bytes = 0;
	slot->stack_at = slot->last_addr = 0;
	/*
	 * all members of a slot up to and including flushed_bytes are counters, so their
	 * values can be added up
	 */
	for (size_t i = 0;
	     i <= offsetof(struct count_slot, flushed_bytes) / sizeof(uint64_t); i++)
		__atomic_fetch_add(&to_words[i], from_words[i], __ATOMIC_RELAXED);
	memset(from_words, 0, offsetof(struct count_slot, flush_count));
	to->flush_count = 1;
	__atomic_fetch_add(&head->folded_thread_count, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&head->fold_end_count, 1, __ATOMIC_SEQ_CST);
}

/*
 * Take over the slot of a thread that has ended. Return NULL if none of the examined
 * slots belongs to such a thread.
 */
static struct count_slot *reuse_ended(void)
{
	uint32_t range = slots_reserved - slot_first;

	if (!ask_may(permission))
		return NULL;
	for (int i = 0; i < ENDED_LOOKS; i++) {
		uint32_t n = __atomic_fetch_add(&ended_cursor, 1, __ATOMIC_RELAXED);
		struct count_slot *slot = slot_at(slot_first + n % range);
		int32_t tid = __atomic_load_n(&slot->tid, __ATOMIC_ACQUIRE);

		if (tid <= 0 || slot->is_main ||
		    !ask_has_ended(slot->self, (uint32_t)tid) ||
		    !__atomic_compare_exchange_n(&slot->tid, &tid, -1, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		fold(slot);
		return slot;
	}
	return NULL;
}

/*
 * Allocate disk space for the slot with this index if necessary. Return false on failure.
 */
static bool extend_to(uint32_t index)
{
	uint32_t first = index / PAGE_SLOTS * PAGE_SLOTS, end = first + PAGE_SLOTS;
	uint32_t before = __atomic_load_n(&slots_reserved, __ATOMIC_ACQUIRE);

	if (index < before)
		return true;
	if (end > slots_in_file || !ask_may(permission) ||
	    !ask_for_room((uintptr_t)slot_at(first), (uintptr_t)slot_at(end)))
		return false;
	/*
	 * Several threads may allocate disk space at the same time, each for its own
	 * slot, so only ever increase slots_reserved.
	 */
	while (before < end &&
	       !__atomic_compare_exchange_n(&slots_reserved, &before, end, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	return true;
}

void count_slot_seal(enum ask_permission wanted)
{
	if (!head)
		return;
	for (uint32_t i = slots_reserved; wanted != ASK_ALWAYS && i < COUNT_SLOTS_KEPT;
	     i += PAGE_SLOTS)
		if (!extend_to(i))
			break;
	permission = wanted;
	if (wanted != ASK_ALWAYS)
		__atomic_fetch_or(&head->flags, COUNT_FILTERED, __ATOMIC_RELAXED);
	count_stack_seal(wanted);
}

static struct count_slot *allocate_new(void)
{
	uint32_t index = __atomic_load_n(&head->slot_count, __ATOMIC_RELAXED);

	do
		if (index >= COUNT_SLOT_MAX || !extend_to(index))
			return NULL;
	while (!__atomic_compare_exchange_n(&head->slot_count, &index, index + 1, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	return slot_at(index);
}

static struct count_slot *allocate_any(void)
{
	struct count_slot *slot = NULL;

	if (!head)
		return &lost_slot;
	if (head->slot_count - slot_first >= COUNT_SLOTS_KEPT)
		slot = reuse_ended();
	if (!slot)
		slot = allocate_new();
	if (!slot) {
		__atomic_fetch_add(&head->lost_thread_count, 1, __ATOMIC_RELAXED);
		return &lost_slot;
	}
	fill_slot(slot, own_tid());
	return slot;
}

struct count_slot *count_slot_allocate(void)
{
	int err = errno, state = START_NOT_YET;

	if (__atomic_compare_exchange_n(&start_state, &state, START_RUNS, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		start();
		__atomic_store_n(&start_state, START_DONE, __ATOMIC_RELEASE);
	} else if (state == START_RUNS) {
		return NULL;
	}
	own_slot(allocate_any());
	errno = err;
	return count_own.slot;
}

void *count_allocated_slow(void *p)
{
	struct count_slot *slot = count_own.slot;

	if (!p) {
		count_add(&slot->failed_count, 1);
		count_add(&slot->requested_bytes, -slot->last_addr);
		slot->stack_at = slot->last_addr = 0;
		return NULL;
	}
	slot->last_addr = (uint64_t)(uintptr_t)p;
	count_add_signed(&slot->pending_bytes, count_usable_bytes(p));
	return slot->pending_bytes > COUNT_FLUSH_BYTES ? count_slot_flush(p) : p;
}

void *count_slot_flush(void *p)
{
	flush(count_own.slot);
	return p;
}

/*
 * Create the counts file at startup, so that even a program that never
 * allocates has a file.
 */
static __attribute__((constructor)) void begin(void)
{
	(void)count_slot_own();
}
