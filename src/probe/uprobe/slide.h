/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slide - find the cheapest place for a breakpoint in a function.
 *
 * The kernel executes the instruction at a breakpoint elsewhere by single-stepping. This
 * costs more than ten times as much as an instruction that it can emulate
 * (arch/x86/kernel/uprobes.c): a push, a nop, a jump, a call. Therefore the breakpoint is
 * moved to such an instruction further on in the function, provided that all calls reach
 * it, with the arguments and the return address still in place.
 */
#ifndef MS_PROBE_UPROBE_SLIDE_H
#define MS_PROBE_UPROBE_SLIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Upper bound of how much of a function is examined. */
#define COUNT_SLIDE_MAX 64

struct count_slide {
	size_t offset_bytes; /* offset from the function's start */
	size_t pushed_bytes; /* how much lower the stack pointer is there */
	/* no such instruction was found: the breakpoint is at the first one */
	bool is_stepped;
};

/* Find the place from a function's code, or the beginning of it, for this machine. */
void count_slide_find(const uint8_t *code, size_t length, struct count_slide *ret);

#endif
