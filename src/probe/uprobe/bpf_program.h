/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_program - generate the BPF programs that the kernel runs at breakpoints, one
 * program per breakpoint. No compiler or library is needed.
 */
#ifndef MS_PROBE_UPROBE_BPF_PROGRAM_H
#define MS_PROBE_UPROBE_BPF_PROGRAM_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "model/count.h"
#include "probe/uprobe/points.h"

#define COUNT_BPF_NAME_BYTES 16

/*
 * Number of threads that have their own element in the map. All other threads share one
 * additional element.
 */
#define COUNT_BPF_THREADS 8192
/*
 * Number of map elements that may contain the counts of a given thread. The tid
 * determines the first of these elements.
 */
#define COUNT_BPF_TRIES 4

/* The counts of one thread, an element of the BPF map. */
struct count_bpf_value {
	/* thread id in the initial pid namespace; 0 if the map element is free */
	uint64_t tid;
	uint64_t calls[CALL_COUNT_];
	uint64_t requested_bytes;
	uint64_t free_null_calls;
	/*
	 * A call that the allocator itself, not the program, is about to make: the stack
	 * pointer at the start of the called function, and the index of that function's
	 * breakpoint in points->items.
	 */
	uint64_t inner_stack_addr, inner_point;
	char name[COUNT_BPF_NAME_BYTES]; /* name of the thread at its first allocation */
};

#define COUNT_BPF_INSTRUCTION_MAX 256

struct count_bpf_program {
	struct bpf_insn items[COUNT_BPF_INSTRUCTION_MAX];
	size_t count;
};

/*
 * Generate the BPF program for the breakpoint points->items[number]. map_fd refers to an
 * array of COUNT_BPF_THREADS + 1 elements of struct count_bpf_value.
 */
void count_bpf_program_make(const struct count_points *points, size_t number, int map_fd,
			    struct count_bpf_program *ret);

#endif
