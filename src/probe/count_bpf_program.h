/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_bpf_program - the programs that the kernel runs at breakpoints, one for each, as
 * instructions. They need no compiler, and no library.
 */
#ifndef MS_PROBE_COUNT_BPF_PROGRAM_H
#define MS_PROBE_COUNT_BPF_PROGRAM_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "model/count.h"
#include "probe/count_points.h"

#define COUNT_BPF_NAME_BYTES 16

/* So many threads have a place of their own in the map; the last one is of all others. */
#define COUNT_BPF_THREADS 8192
/* How many places are looked at for a thread, from the one of its number on. */
#define COUNT_BPF_TRIES 4

/* What is counted of a thread. */
struct count_bpf_value {
	uint64_t tid; /* in the machine's first pid namespace; 0: nobody's */
	uint64_t calls[CALL_COUNT_];
	uint64_t requested_bytes;
	uint64_t free_null_calls;
	/*
	 * The allocator is just about to call one of its own functions, the one of that point,
	 * which begins with this stack pointer: that is not a call of the program.
	 */
	uint64_t inner_stack_addr, inner_point;
	char name[COUNT_BPF_NAME_BYTES]; /* when it allocated first */
};

#define COUNT_BPF_INSTRUCTION_MAX 256

struct count_bpf_program {
	struct bpf_insn items[COUNT_BPF_INSTRUCTION_MAX];
	size_t count;
};

/*
 * The program for the point of that number. map_fd: an array of COUNT_BPF_THREADS + 1 of struct
 * count_bpf_value.
 */
void count_bpf_program_make(const struct count_points *points, size_t number, int map_fd,
			    struct count_bpf_program *ret);

#endif
