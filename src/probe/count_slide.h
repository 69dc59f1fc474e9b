/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_slide - where in a function a breakpoint is cheapest.
 *
 * An instruction at a breakpoint is executed elsewhere, step by step, which costs more than
 * ten times as much as one that the kernel can do itself (arch/x86/kernel/uprobes.c): a
 * push, a nop, a jump, a call. So instead of a function's first instruction a later one is
 * taken, if all calls come to it, and find the arguments and the return address where they
 * were.
 */
#ifndef MS_PROBE_COUNT_SLIDE_H
#define MS_PROBE_COUNT_SLIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More of a function than is ever looked at. */
#define COUNT_SLIDE_MAX 64

struct count_slide {
	size_t offset_bytes; /* from the function's start */
	size_t pushed_bytes; /* by which the stack pointer is lower there */
	bool is_stepped;     /* no such instruction was found: it is the first */
};

/* The code of a function, or the beginning of it, on this machine. */
void count_slide_find(const uint8_t *code, size_t length, struct count_slide *ret);

#endif
