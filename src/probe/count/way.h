/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * way - the interface of each method of counting in a running process.
 * Used by probe/attach.h.
 */
#ifndef MS_PROBE_COUNT_WAY_H
#define MS_PROBE_COUNT_WAY_H

#include "base/strbuf.h"
#include "model/count.h"
#include "model/mapping.h"
#include "model/stacks.h"
#include "probe/count/request.h"

/* The parameters that all methods share. */
struct count_place {
	const struct count_request *request;
	/* its directory in /proc; never refers to a later process with the same pid */
	int process_fd;
	const struct mapping_list *mappings; /* sorted by address */
};

struct count_way {
	/*
	 * Start counting. The request may be used only during the call, the place's
	 * process_fd until close(). *ret_state belongs to the method. Return values as
	 * for count_attach_open(); after an error the reason is appended to why as a
	 * clause, and there is nothing to close.
	 */
	int (*open)(const struct count_place *place, void **ret_state,
		    struct strbuf *why);

	/* See struct count_means. */
	void (*add_how)(const void *state, struct strbuf *out);
	void (*add_blind)(const void *state, struct strbuf *out);

	/*
	 * Fill in the sums, the threads and the allocator of *ret. Names and pids are
	 * already set, all other figures are unknown, and there are no threads. Return 0
	 * or -errno; the process may have ended.
	 */
	int (*read)(void *state, struct count_program *ret);

	/* NULL: the method has no stacks, and open() refuses a request for them. */
	int (*read_stacks)(void *state, struct stacks *ret);

	/* See count_attach_close(). */
	int (*close)(void *state, struct strbuf *why);

	/* See count_method_check(). NULL: this cannot be determined without a process. */
	int (*check)(struct strbuf *why);
};

extern const struct count_way count_way_bpf, count_way_perf;

/*
 * Derive the other figures of a program whose threads have only their calls and requested
 * bytes: for each thread, and for all together.
 */
void count_way_sum(struct count_program *program);

#endif
