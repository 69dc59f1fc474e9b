/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * entry_target - a process that allocates through entry points that allocators offer in
 * addition to malloc: those of the preloaded library or, with OWN_RJEM, those of a
 * built-in allocator with the names of Rust's jemalloc.
 *
 * Prints "ready". Each "w" on its standard input makes the calls, which the target
 * reports as "FUNCTION NUMBER" under the equivalent standard functions, and "done".
 * Each "s" makes calls of the standard functions instead.
 * Nothing else in it allocates.
 */
#include "config.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "say.h"

#define WEAK __attribute__((weak))

WEAK void *mallocx(size_t bytes, int flags);
WEAK void *rallocx(void *p, size_t bytes, int flags);
WEAK size_t xallocx(void *p, size_t bytes, size_t extra_bytes, int flags);
WEAK void dallocx(void *p, int flags);
WEAK void sdallocx(void *p, size_t bytes, int flags);

WEAK void *mi_malloc(size_t bytes);
WEAK void *mi_zalloc(size_t bytes);
WEAK void *mi_calloc(size_t count, size_t bytes);
WEAK void *mi_realloc(void *p, size_t bytes);
WEAK void *mi_malloc_aligned(size_t bytes, size_t alignment);
WEAK void *mi_calloc_aligned(size_t count, size_t bytes, size_t alignment);
WEAK void *mi_malloc_aligned_at(size_t bytes, size_t alignment, size_t offset);
WEAK void *mi_zalloc_aligned_at(size_t bytes, size_t alignment, size_t offset);
WEAK void *mi_calloc_aligned_at(size_t count, size_t bytes, size_t alignment,
				size_t offset);
WEAK void *mi_realloc_aligned_at(void *p, size_t bytes, size_t alignment, size_t offset);
WEAK void mi_free(void *p);
WEAK void mi_free_size(void *p, size_t bytes);

WEAK void *tc_malloc(size_t bytes);
WEAK void *tc_calloc(size_t count, size_t bytes);
WEAK void *tc_realloc(void *p, size_t bytes);
WEAK void *tc_memalign(size_t alignment, size_t bytes);
WEAK void *tc_new(size_t bytes);
WEAK void tc_free(void *p);

static void *volatile kept;

#ifdef OWN_RJEM
/* One of jemalloc's messages, by which it is recognized if the program is stripped. */
static const char message[] __attribute__((used)) = "<jemalloc>: Malformed conf string\n";
static _Alignas(16) char room[1 << 16];
static size_t used_bytes;

void *_rjem_malloc(size_t bytes);
void *_rjem_mallocx(size_t bytes, int flags);
void *_rjem_rallocx(void *p, size_t bytes, int flags);
void _rjem_sdallocx(void *p, size_t bytes, int flags);

__attribute__((noinline)) void *_rjem_malloc(size_t bytes)
{
	used_bytes = (used_bytes + bytes + 15) % (sizeof(room) / 2) & ~(size_t)15;
	return room + used_bytes;
}

__attribute__((noinline)) void *_rjem_mallocx(size_t bytes, int flags)
{
	/* a call inside the allocator, not of the program */
	void *p = _rjem_malloc(bytes);

	*(volatile char *)p = (char)flags;
	return p;
}

__attribute__((noinline)) void *_rjem_rallocx(void *p, size_t bytes, int flags)
{
	*(volatile char *)p = 0;
	return _rjem_mallocx(bytes, flags);
}

__attribute__((noinline)) void _rjem_sdallocx(void *p, size_t bytes, int flags)
{
	*(volatile char *)p = (char)(bytes + (size_t)flags);
}

/* Rust's calls go through such slots. */
static void *(*volatile by_slot)(size_t bytes) = _rjem_malloc;

static void call_own(void)
{
	for (int i = 0; i < 5; i++) {
		kept = _rjem_mallocx(100, 0);
		if (i < 2)
			kept = _rjem_rallocx(kept, 1000, 0);
		_rjem_sdallocx(kept, 100, 0);
	}
	kept = _rjem_malloc(7);
	kept = by_slot(9);
	say("malloc", 7);
	say("realloc", 2);
	say("free", 5);
	say("bytes", 5 * 100 + 2 * 1000 + 7 + 9);
}
#else
static void call_own(void)
{
}
#endif

static void call_jemalloc(void)
{
	for (int i = 0; i < 5; i++) {
		kept = mallocx(100, 0);
		xallocx(kept, 110, 0, 0);
		if (i < 2)
			kept = rallocx(kept, 1000, 0);
		if (i < 1)
			dallocx(kept, 0);
		else
			sdallocx(kept, i < 2 ? 1000 : 100, 0);
	}
	say("malloc", 5);
	say("realloc", 5 + 2);
	say("free", 5);
	say("bytes", 5 * (100 + 110) + 2 * 1000);
}

static void call_mimalloc(void)
{
	for (int i = 0; i < 5; i++) {
		kept = mi_malloc(100);
		kept = mi_realloc(kept, 1000);
		mi_free(kept);
		kept = mi_zalloc(10);
		mi_free_size(kept, 10);
		kept = mi_calloc(3, 5);
		mi_free(kept);
		kept = mi_malloc_aligned(300, 64);
		mi_free(kept);
		kept = mi_calloc_aligned(7, 9, 64);
		mi_free(kept);
		kept = mi_malloc_aligned_at(310, 64, 8);
		kept = mi_realloc_aligned_at(kept, 2000, 64, 8);
		mi_free(kept);
		kept = mi_zalloc_aligned_at(320, 64, 8);
		mi_free(kept);
		kept = mi_calloc_aligned_at(3, 11, 64, 8);
		mi_free(kept);
	}
	say("malloc", 5);
	say("realloc", 5 + 5);
	say("calloc", 10 + 10);
	say("aligned_alloc", 5 + 10);
	say("free", 20 + 20);
	say("bytes", 5 * (100 + 1000 + 10 + 15 + 300 + 63 + 310 + 2000 + 320 + 33));
}

static void call_tcmalloc(void)
{
	for (int i = 0; i < 5; i++) {
		kept = tc_malloc(100);
		kept = tc_realloc(kept, 1000);
		tc_free(kept);
		kept = tc_calloc(3, 5);
		tc_free(kept);
		kept = tc_memalign(64, 300);
		tc_free(kept);
		kept = tc_new(20);
		tc_free(kept);
	}
	say("malloc", 5);
	say("realloc", 5);
	say("calloc", 5);
	say("memalign", 5);
	say("new", 5);
	say("free", 20);
	say("bytes", 5 * (100 + 1000 + 15 + 300 + 20));
}

static void free_and_say(const char *name)
{
	free(kept);
	say(name, 1);
	say("free", 1);
	say("bytes", 200);
}

/* Some allocators implement these functions with their own entry points. */
static void call_standard(void)
{
	void *block = NULL;

	kept = malloc(200);
	free_and_say("malloc");
	kept = calloc(2, 100);
	free_and_say("calloc");
	kept = realloc(NULL, 200);
	free_and_say("realloc");
	kept = reallocarray(NULL, 2, 100);
	free_and_say("reallocarray");
	if (posix_memalign(&block, 64, 200) == 0)
		kept = block;
	free_and_say("posix_memalign");
	kept = aligned_alloc(8, 200);
	free_and_say("aligned_alloc");
	kept = memalign(64, 200);
	free_and_say("memalign");
	kept = valloc(200);
	free_and_say("valloc");
	kept = realloc(malloc(50), 60);
	say("malloc", 1);
	say("realloc", 1);
	say("bytes", 50 + 60);
	free(kept);
	say("free", 1);
}

int main(void)
{
	char letter;

	say_word("ready");
	while (read(STDIN_FILENO, &letter, 1) == 1) {
		if (letter == 's') {
			call_standard();
			say_word("done");
			continue;
		}
		call_own();
		if (mallocx)
			call_jemalloc();
		if (mi_malloc)
			call_mimalloc();
		if (tc_malloc)
			call_tcmalloc();
		say_word("done");
	}
	return 0;
}
