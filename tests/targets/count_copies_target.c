/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_copies_target - a process that calls malloc and free only through addresses that
 * it copied at run time.
 *
 * "count_copies_target [BYTES]" prints "pid" and "ready", then obeys the letters on its
 * standard input. After each letter it prints what it did, as "FUNCTION NUMBER", and
 * "done". Before "ready" it writes to BYTES of zero-initialized data, at most BIG_BYTES.
 *
 *   k   copy the addresses to zero-initialized data (.bss) and initialized data (.data)
 *   c   call through the copy in .bss, and C: in .data
 *   h   copy the addresses to a heap block, and H: call through this block
 *   s   copy the addresses to the stack, and S: call through these copies
 *   g   allocate 16 MiB in blocks of 4000 bytes through the copies on the stack, and G:
 *       by name
 *   n   assign another function to the copy in .bss
 *   o   store words that are not copies: encoded, unaligned, or off by one
 *   a   print the copies, and whether the copy in .bss is equal to malloc
 *   O   print the words that are not copies
 */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "say.h"

#define BIG_BYTES (UINT64_C(256) << 20)
#define KEY UINT64_C(0x5bd1e995a3c2f017)

static void *allocate_nothing(size_t unused)
{
	(void)unused;
	return NULL;
}

static void free_nothing(void *unused)
{
	(void)unused;
}

struct functions {
	void *(*volatile allocate)(size_t);
	void (*volatile release)(void *);
};

static struct functions in_bss, in_data = { allocate_nothing, free_nothing };
static struct functions *in_heap;
static struct {
	uint64_t encoded, next, before;
	uint8_t bytes[24];
} others;
static volatile uint8_t big[BIG_BYTES];

static void copy_to(struct functions *to)
{
	to->allocate = malloc;
	to->release = free;
}

static void call(const struct functions *functions, int count, size_t bytes)
{
	for (int i = 0; i < count; i++)
		functions->release(functions->allocate(bytes));
	say("malloc", (uint64_t)count);
	say("free", (uint64_t)count);
	say("bytes", (uint64_t)count * bytes);
}

static void grow(void *(*allocate)(size_t))
{
	for (int i = 0; i < 4194; i++)
		if (!allocate(4000))
			_exit(99);
	say("malloc", 4194);
}

static void store_others(void)
{
	uint64_t addr = (uintptr_t)malloc;

	others.encoded = addr ^ KEY;
	others.next = addr + 1;
	others.before = addr - 1;
	memcpy(others.bytes + 4, &addr, sizeof(addr));
}

static void say_others(void)
{
	uint64_t unaligned;

	memcpy(&unaligned, others.bytes + 4, sizeof(unaligned));
	say("encoded", others.encoded);
	say("next", others.next);
	say("before", others.before);
	say("unaligned", unaligned);
}

static void say_copies(void)
{
	say("bss", (uintptr_t)in_bss.allocate);
	say("data", (uintptr_t)in_data.allocate);
	say("same", in_bss.allocate == malloc);
}

static void answer(char letter, struct functions *on_stack)
{
	switch (letter) {
	case 'k':
		copy_to(&in_bss);
		copy_to(&in_data);
		break;
	case 'c': call(&in_bss, 11, 17); break;
	case 'C': call(&in_data, 7, 19); break;
	case 'h':
		in_heap = malloc(sizeof(*in_heap));
		copy_to(in_heap);
		break;
	case 'H': call(in_heap, 13, 23); break;
	case 's': copy_to(on_stack); break;
	case 'S': call(on_stack, 5, 29); break;
	case 'g': grow(on_stack->allocate); break;
	case 'G': grow(malloc); break;
	case 'n': in_bss.allocate = allocate_nothing; break;
	case 'o': store_others(); break;
	case 'a': say_copies(); break;
	case 'O': say_others(); break;
	default: _exit(99);
	}
	say_word("done");
}

int main(int argc, char **argv)
{
	uint64_t bytes = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	struct functions on_stack = { allocate_nothing, free_nothing };
	char letter;

	for (uint64_t i = 0; i < bytes && i < BIG_BYTES; i += 64)
		big[i] = 1;
	say("pid", (uint64_t)getpid());
	say_word("ready");
	while (read(STDIN_FILENO, &letter, 1) == 1)
		answer(letter, &on_stack);
	return 0;
}
