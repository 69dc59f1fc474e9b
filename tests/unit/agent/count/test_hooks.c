/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "agent/count/hooks.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/blob.h"
#include "../../support/unit.h"

#if HAVE_AGENT

/*
 * The hooks, laid out as in another process: all in one range. They call
 * functions of this test.
 */
static struct inside {
	uint8_t *base;
	struct hooks_head *head;
	struct hooks_private *private;
	struct count_head *counts;
} in;

typedef uintptr_t function_fn(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);

/*
 * The arguments of the last call in this thread to a function behind a hook, and whether
 * its return address is in the hook.
 */
static _Thread_local uintptr_t last_words[4];
static _Thread_local bool was_called_from_hook;

static __attribute__((noinline)) uintptr_t behind(uintptr_t a, uintptr_t b, uintptr_t c,
						  uintptr_t d)
{
	uintptr_t from = (uintptr_t)__builtin_return_address(0);

	last_words[0] = a;
	last_words[1] = b;
	last_words[2] = c;
	last_words[3] = d;
	was_called_from_hook = from - (uintptr_t)in.base < HOOKS_CODE_BYTES;
	return 4242;
}

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static void place(uint64_t sample_bytes, bool takes_stacks)
{
	size_t bytes;
	const void *hooks = agent_hooks(&bytes);

	/* the private memory is wiped on fork, so a child sees it filled with 0 */
	in.base = map(HOOKS_ALL_BYTES);
	assert_ptr_not_equal(mmap(in.base + HOOKS_PRIVATE_OFFSET, HOOKS_PRIVATE_BYTES,
				  PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			     MAP_FAILED);
	assert_int_equal(madvise(in.base + HOOKS_PRIVATE_OFFSET, HOOKS_PRIVATE_BYTES,
				 MADV_WIPEONFORK),
			 0);
	in.head = (void *)in.base;
	in.private = (void *)(in.base + HOOKS_PRIVATE_OFFSET);
	in.counts = (void *)(in.base + HOOKS_COUNTS_OFFSET);
	memcpy(in.base, hooks, bytes);
	for (int i = 0; i < HOOK_COUNT_; i++)
		in.head->originals[i] = (uintptr_t)behind;
	in.counts->slot_count = 1;
	in.private->sample_bytes = sample_bytes;
	in.private->takes_stacks = takes_stacks;
	in.private->own_pid = (uint32_t)getpid();
	assert_int_equal(mprotect(in.base, HOOKS_CODE_BYTES, PROT_READ | PROT_EXEC), 0);
}

static void take_away(void)
{
	munmap(in.base, HOOKS_ALL_BYTES);
}

static uintptr_t call(enum hook hook, uintptr_t a, uintptr_t b, uintptr_t c)
{
	function_fn *function =
		(function_fn *)((uintptr_t)in.base + in.head->offsets[hook]);

	return function(a, b, c, 9);
}

static struct count_slot *slot_at(uint32_t index)
{
	return (void *)((uint8_t *)in.counts + COUNT_HEAD_BYTES +
			index * COUNT_SLOT_BYTES);
}

static void the_blob_head_describes_the_blob(void **state)
{
	size_t bytes;
	const struct hooks_head *head = agent_hooks(&bytes);

	(void)state;
	assert_int_equal(head->magic, HOOKS_MAGIC);
	assert_int_equal(head->version, HOOKS_VERSION);
	assert_int_equal(head->code_bytes, bytes);
	assert_int_equal(head->hook_count, HOOK_COUNT_);
	for (int i = 0; i < HOOK_COUNT_; i++)
		assert_true(head->offsets[i] >= sizeof(*head) &&
			    head->offsets[i] < bytes);
}

static void each_call_is_counted_and_passed_on_with_its_arguments(void **state)
{
	const struct count_slot *slot;

	(void)state;
	place(0, false);
	for (int i = 0; i < HOOK_FIRST_EXTRA; i++) {
		assert_int_equal(call((enum hook)i, 3, 5, 7), 4242);
		assert_int_equal(last_words[0], 3);
		assert_int_equal(last_words[1], i == HOOK_reallocarray ? 35 : 5);
		/*
		 * a hook jumps to the function, so the function does
		 * not return to the hook
		 */
		assert_false(was_called_from_hook);
	}
	assert_int_equal(in.counts->slot_count, 2);
	slot = slot_at(1);
	assert_int_equal(slot->tid, gettid());
	assert_int_equal(slot->malloc_calls, 1);
	assert_int_equal(slot->free_calls, 1);
	assert_int_equal(slot->free_null_count, 0);
	call(HOOK_free, 0, 5, 7);
	call(HOOK__ZdlPv, 0, 5, 7);
	assert_int_equal(slot->free_calls, 2);
	assert_int_equal(slot->free_null_count, 2);
	for (int i = COUNT_CALLOC; i < COUNT_NEW; i++)
		assert_int_equal(slot->calls[i], 1);
	assert_int_equal(slot->calls[COUNT_NEW], 8);
	assert_int_equal(slot->calls[COUNT_DELETE], 13);
	/*
	 * malloc, calloc, realloc, reallocarray, posix_memalign, two aligned,
	 * two of pages, eight news
	 */
	assert_int_equal(slot->requested_bytes,
			 3 + 15 + 5 + 35 + 7 + 5 + 5 + 3 + 3 + 8 * 3);
	take_away();
}

#	define BYTES_NONE 0
#	define BYTES_FIRST 3
#	define BYTES_SECOND 5
#	define BYTES_THIRD 7
#	define BYTES_PRODUCT 15
#	define BYTES_LAST_PRODUCT 35
#	define EXTRA(symbol, call, size) { HOOK_##symbol, COUNT_##call, BYTES_##size },

/* The hooks from the table in extra.h, and again the unusual ones, written out here. */
static const struct extra {
	enum hook hook;
	enum count_function function;
	uint64_t bytes;
} extras[] = { COUNT_EXTRA(EXTRA) }, known_extras[] = {
	{ HOOK_mallocx, COUNT_MALLOC, 3 },
	{ HOOK_xallocx, COUNT_REALLOC, 5 },
	{ HOOK_sdallocx, COUNT_FREE, 0 },
	{ HOOK__rjem_calloc, COUNT_CALLOC, 15 },
	{ HOOK_je_posix_memalign, COUNT_POSIX_MEMALIGN, 7 },
	{ HOOK_mi_zalloc, COUNT_CALLOC, 3 },
	{ HOOK_mi_malloc_aligned, COUNT_ALIGNED_ALLOC, 3 },
	{ HOOK_mi_aligned_alloc, COUNT_ALIGNED_ALLOC, 5 },
	{ HOOK_mi_recalloc, COUNT_REALLOCARRAY, 35 },
	{ HOOK_tc_newarray_aligned_nothrow, COUNT_NEW, 3 },
	{ HOOK_tc_delete_sized, COUNT_DELETE, 0 },
};

static uintptr_t not_behind(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	fail_msg("the function of another hook: %lu %lu %lu %lu", a, b, c, d);
	return 0;
}

/* Values of all registers that the ABI lets a function change, except the result's. */
struct registers {
	uint64_t rcx, rdx, rsi, rdi, r8, r9, r10, r11;
	uint8_t xmm[16];
};

static void check_registers(enum hook hook)
{
	static const struct registers before = {
		1, 2, 3, 4, 5, 6, 7, 8, "0123456789abcde"
	};
	struct registers after = before;
	uintptr_t function = (uintptr_t)in.base + in.head->offsets[hook];

	/* the stack is 8 bytes off what the ABI requires, too */
	__asm__ volatile("mov %%rsp, %%r12\n\t"
			 "sub $256, %%rsp\n\t"
			 "and $-16, %%rsp\n\t"
			 "sub $8, %%rsp\n\t"
			 "mov (%%rbx), %%rcx\n\tmov 8(%%rbx), %%rdx\n\t"
			 "mov 16(%%rbx), %%rsi\n\tmov 24(%%rbx), %%rdi\n\t"
			 "mov 32(%%rbx), %%r8\n\tmov 40(%%rbx), %%r9\n\t"
			 "mov 48(%%rbx), %%r10\n\tmov 56(%%rbx), %%r11\n\t"
			 "movups 64(%%rbx), %%xmm15\n\t"
			 "call *%%rax\n\t"
			 "mov %%rcx, (%%rbx)\n\tmov %%rdx, 8(%%rbx)\n\t"
			 "mov %%rsi, 16(%%rbx)\n\tmov %%rdi, 24(%%rbx)\n\t"
			 "mov %%r8, 32(%%rbx)\n\tmov %%r9, 40(%%rbx)\n\t"
			 "mov %%r10, 48(%%rbx)\n\tmov %%r11, 56(%%rbx)\n\t"
			 "movups %%xmm15, 64(%%rbx)\n\t"
			 "mov %%r12, %%rsp"
			 : "+a"(function)
			 : "b"(&after)
			 : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
			   "xmm15", "memory", "cc");
	assert_memory_equal(&after, &before, sizeof(after));
	assert_int_equal(function, 4242);
}

/* A function that changes only the register of its result. */
uintptr_t behind_in_assembler(void);
__asm__(".text\n"
	"behind_in_assembler:\n"
	"mov $4242, %eax\n"
	"ret\n"
	".previous\n");

static void entry_points_beside_malloc_preserve_all_registers(void **state)
{
	(void)state;
	for (int i = HOOK_FIRST_EXTRA; i < 2 * HOOK_COUNT_ - HOOK_FIRST_EXTRA; i++) {
		bool takes_stacks = i >= HOOK_COUNT_;
		enum hook hook = (enum hook)(
			takes_stacks ? i - HOOK_COUNT_ + HOOK_FIRST_EXTRA : i);

		place(0, takes_stacks);
		assert_int_equal(
			mprotect(in.base, HOOKS_CODE_BYTES, PROT_READ | PROT_WRITE), 0);
		in.head->originals[hook] = (uintptr_t)behind_in_assembler;
		assert_int_equal(
			mprotect(in.base, HOOKS_CODE_BYTES, PROT_READ | PROT_EXEC), 0);
		check_registers(hook);
		check_registers(hook);
		take_away();
	}
}

static void check_extra(const struct extra *extra)
{
	const struct count_slot *slot;
	uint64_t calls;

	place(0, false);
	assert_int_equal(mprotect(in.base, HOOKS_CODE_BYTES, PROT_READ | PROT_WRITE), 0);
	for (int i = 0; i < HOOK_COUNT_; i++)
		in.head->originals[i] = i == (int)extra->hook ? (uintptr_t)behind
							      : (uintptr_t)not_behind;
	assert_int_equal(mprotect(in.base, HOOKS_CODE_BYTES, PROT_READ | PROT_EXEC), 0);
	/* the first call takes the slot, the second finds it */
	for (uint64_t n = 1; n <= 2; n++) {
		assert_int_equal(call(extra->hook, 3, 5, 7), 4242);
		for (uintptr_t i = 0; i < 4; i++)
			assert_int_equal(last_words[i], 3 + 2 * i);
		assert_false(was_called_from_hook);
		slot = slot_at(1);
		calls = slot->malloc_calls + slot->free_calls;
		for (int i = 0; i < COUNT_FUNCTION_COUNT_; i++)
			calls += slot->calls[i];
		assert_int_equal(calls, n);
		assert_int_equal(extra->function == COUNT_MALLOC ? slot->malloc_calls
				 : extra->function == COUNT_FREE
					 ? slot->free_calls
					 : slot->calls[extra->function],
				 n);
		assert_int_equal(slot->requested_bytes, n * extra->bytes);
	}
	call(extra->hook, 0, 0, 0);
	assert_int_equal(slot_at(1)->free_null_count,
			 extra->function == COUNT_FREE ||
				 extra->function == COUNT_DELETE);
	take_away();
}

static void entry_points_beside_malloc_count_as_the_table_says(void **state)
{
	(void)state;
	assert_int_equal(sizeof(extras) / sizeof(extras[0]),
			 HOOK_COUNT_ - HOOK_FIRST_EXTRA);
	for (size_t i = 0; i < sizeof(extras) / sizeof(extras[0]); i++)
		check_extra(&extras[i]);
	for (size_t i = 0; i < sizeof(known_extras) / sizeof(known_extras[0]); i++)
		check_extra(&known_extras[i]);
}

static void failing_requests_count_no_bytes(void **state)
{
	(void)state;
	place(0, false);
	call(HOOK_malloc, UINTPTR_MAX, 0, 0);
	call(HOOK_calloc, UINTPTR_MAX, 2, 0);
	call(HOOK_reallocarray, 0, UINTPTR_MAX / 2, 3);
	assert_int_equal(last_words[1], UINTPTR_MAX / 2);
	assert_int_equal(slot_at(1)->requested_bytes, 0);
	take_away();
}

static void *allocate(void *unused)
{
	for (int i = 0; i < 10; i++)
		call(HOOK_malloc, 2, 0, 0);
	return unused;
}

static void calls_of_more_threads_than_slots_add_up(void **state)
{
	const uint32_t threads = COUNT_SLOTS_KEPT + 500;
	uint64_t calls = 0;

	(void)state;
	place(0, false);
	for (uint32_t i = 0; i < threads; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, allocate, NULL), 0);
		pthread_join(thread, NULL);
	}
	assert_true(in.counts->folded_thread_count > 0);
	assert_int_equal(in.counts->fold_begin_count, in.counts->fold_end_count);
	for (uint32_t i = 0; i < in.counts->slot_count; i++)
		calls += slot_at(i)->malloc_calls;
	assert_int_equal(calls, threads * 10);
	take_away();
}

static void a_forked_child_is_not_counted(void **state)
{
	uint64_t before;
	int status;
	pid_t child;

	(void)state;
	place(0, true);
	in.private->takes_stacks = 0;
	allocate(NULL);
	before = slot_at(1)->malloc_calls;
	child = fork();
	if (child == 0) {
		allocate(NULL);
		_exit(slot_at(1)->malloc_calls == before && in.counts->slot_count == 2
			      ? 0
			      : 1);
	}
	assert_true(waitpid(child, &status, 0) == child && status == 0);
	assert_int_equal(slot_at(1)->malloc_calls, before);
	take_away();
}

/* Without unwind tables only the immediate caller is known. */
static void stacks_are_recorded_for_all_calls_or_a_sample(void **state)
{
	static const uint64_t sample_bytes[] = { 0, 100 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sample_bytes); i++) {
		struct stack_file_head *head;
		const struct stack_file_node *nodes;
		uint64_t calls = 0;

		place(sample_bytes[i], true);
		head = (void *)(in.base + HOOKS_NODES_OFFSET);
		nodes = (void *)((uint8_t *)head + STACK_NODES_OFFSET);
		head->node_count = 2;
		for (int n = 0; n < 1000; n++) {
			call(HOOK_malloc, 9, 0, 0);
			assert_false(was_called_from_hook);
		}
		for (uint32_t n = 0; n < head->node_count; n++)
			calls += nodes[n].calls;
		assert_int_equal(head->lost_count, 0);
		if (sample_bytes[i])
			assert_in_range(head->sample_count, 20, 400);
		else
			assert_int_equal(calls, 1000);
		take_away();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_blob_head_describes_the_blob),
		cmocka_unit_test(each_call_is_counted_and_passed_on_with_its_arguments),
		cmocka_unit_test(entry_points_beside_malloc_count_as_the_table_says),
		cmocka_unit_test(entry_points_beside_malloc_preserve_all_registers),
		cmocka_unit_test(failing_requests_count_no_bytes),
		cmocka_unit_test(calls_of_more_threads_than_slots_add_up),
		cmocka_unit_test(a_forked_child_is_not_counted),
		cmocka_unit_test(stacks_are_recorded_for_all_calls_or_a_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 77;
}

#endif
