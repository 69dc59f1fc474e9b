/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slide - find the cheapest position for a breakpoint in a function.
 *
 * The kernel normally copies the instruction at a breakpoint and single-steps the copy.
 * This takes more than ten times as long as an instruction that the kernel can emulate
 * (arch/x86/kernel/uprobes.c): a push, a nop, a jump or a call. memstate therefore moves
 * the breakpoint to such an instruction later in the function, provided that all calls
 * reach that instruction with the arguments and the return address still in place.
 */
#ifndef MS_PROBE_UPROBE_SLIDE_H
#define MS_PROBE_UPROBE_SLIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of bytes of a function to examine. */
#define COUNT_SLIDE_MAX 64

struct count_slide {
	size_t offset_bytes; /* offset of the breakpoint from the function's start */
	/*
	 * how much lower the stack pointer is at the breakpoint than at the function's
	 * start, in bytes
	 */
	size_t pushed_bytes;
	/*
	 * true if the breakpoint is at the function's start, because no instruction that
	 * the kernel can emulate was found
	 */
	bool is_stepped;
};

/*
 * Find the cheapest position for a breakpoint. `code` is a function's x86-64
 * code, or its beginning.
 */
void count_slide_find(const uint8_t *code, size_t length, struct count_slide *ret);

#endif
