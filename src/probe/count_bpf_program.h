/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_bpf_program - the program that the kernel runs at a breakpoint, one for each
 * function, as instructions. It needs no compiler, and no library.
 */
#ifndef MS_PROBE_COUNT_BPF_PROGRAM_H
#define MS_PROBE_COUNT_BPF_PROGRAM_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "model/count.h"
#include "probe/count_points.h"

#define COUNT_BPF_NAME_BYTES 16

/* What it counts in: of a thread, in a map by thread; or of those it has no room for. */
struct count_bpf_value {
	uint64_t calls[CALL_COUNT_];
	uint64_t requested_bytes;
	/*
	 * A call that may be passed on to another of the functions: where its stack and its
	 * return address are, what it was asked for, and 1 << enum counted_call of those. That
	 * one is the same call.
	 */
	uint64_t passed_stack_addr, passed_return_addr, passed_what, passed_calls;
	char name[COUNT_BPF_NAME_BYTES];
};

#define COUNT_BPF_INSTRUCTION_MAX 256

struct count_bpf_program {
	struct bpf_insn items[COUNT_BPF_INSTRUCTION_MAX];
	size_t count;
};

/*
 * The program for a point. threads_fd: a hash of uint32_t, the thread, to struct
 * count_bpf_value; rest_fd: an array of one of these.
 */
void count_bpf_program_make(const struct count_points *points, const struct count_point *point,
			    int threads_fd, int rest_fd, struct count_bpf_program *ret);

#endif
