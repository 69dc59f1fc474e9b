/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind ROUNDS - measure the cost of finding the callers: for the same stack of 20
 * frames again and again, for a stack in which two frames change each time, and for a
 * stack whose frames have all been forgotten. Prints the minimum and the median of many
 * short rounds; load on the machine shows in the median.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "../targets/unwind_modules.h"
#include "agent/unwind/unwind.h"
#include "bench.h"

#define PAGE_BYTES 4096
#define STACKS 2000 /* stacks taken per round */
#define ROUNDS_MAX 10000
#define DEPTH 15 /* number of calls below main() */

static struct unwind_row rows[UNWIND_ROW_COUNT] __attribute__((aligned(PAGE_BYTES)));
static struct unwind_space space;
static struct unwind_thread thread;

static __attribute__((noinline)) void take_stack(void)
{
	const uint64_t *frame = __builtin_frame_address(0);
	const struct unwind_state start = { frame[1], (uint64_t)(uintptr_t)(frame + 2),
					    frame[0] };

	unwind_stack(&space, &thread, &start);
	for (uint32_t i = thread.fresh_count; i-- > 0;)
		unwind_keep(&thread, i);
}

static void take_same(void)
{
	for (int i = 0; i < STACKS; i++)
		take_stack();
}

static __attribute__((noinline)) void by_another(void)
{
	take_stack();
	__asm__ volatile("" ::: "memory");
}

/* Take stacks in which two frames differ each time. */
static void take_changing(void)
{
	for (int i = 0; i < STACKS / 2; i++) {
		by_another();
		__asm__ volatile("" ::: "memory");
		by_another();
	}
}

static void take_unknown(void)
{
	for (int i = 0; i < STACKS; i++) {
		thread.kept_count = 0;
		take_stack();
	}
}

static void measure(const char *name, void (*call)(void), size_t rounds)
{
	static double ns[ROUNDS_MAX];
	double min = 1e9;

	for (size_t i = 0; i < rounds; i++) {
		uint64_t start = bench_now_ns();

		call();
		ns[i] = (double)(bench_now_ns() - start) / STACKS;
		if (ns[i] < min)
			min = ns[i];
	}
	printf("%8.1f ns least %8.1f ns median  %s, %u frames\n", min,
	       bench_median(ns, rounds), name, thread.kept_count);
}

static __attribute__((noinline)) void go_down(int depth, size_t rounds)
{
	volatile char room[48];

	room[0] = 1;
	if (depth > 0) {
		go_down(depth - 1, rounds);
	} else {
		measure("the same stack again", take_same, rounds);
		measure("the same but for two frames", take_changing, rounds);
		measure("nothing of it is kept", take_unknown, rounds);
	}
	room[1] = room[0];
}

int main(int argc, char **argv)
{
	size_t rounds = argc > 1 ? bench_number(argv[1]) : 1000;

	if (rounds > ROUNDS_MAX)
		rounds = ROUNDS_MAX;
	space.find = unwind_modules_find;
	space.rows = rows;
	thread.stack_end = (getauxval(AT_EXECFN) + PAGE_BYTES) &
			   ~(uint64_t)(PAGE_BYTES - 1);
	go_down(DEPTH, rounds);
	return 0;
}
