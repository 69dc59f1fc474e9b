/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_way - what each way of counting in a process that runs has to do. Behind
 * count_attach.h.
 */
#ifndef MS_PROBE_COUNT_WAY_H
#define MS_PROBE_COUNT_WAY_H

#include "base/strbuf.h"
#include "model/count.h"
#include "model/mapping.h"
#include "model/stacks.h"
#include "probe/count_request.h"

/* What is the same for all ways. */
struct count_place {
	const struct count_request *request;
	int process_fd; /* its directory in /proc: of this process and no later one */
	const struct mapping_list *mappings; /* by address */
};

struct count_way {
	/*
	 * Begin. What the request says is borrowed for the call, the place's process_fd until
	 * close(). *ret_state is the way's own. Returns as count_attach_open(), with words
	 * appended to why that say what kept it from that and end no sentence, and nothing
	 * left to be closed.
	 */
	int (*open)(const struct count_place *place, void **ret_state, struct strbuf *why);

	/* See struct count_means. */
	void (*add_how)(const void *state, struct strbuf *out);
	void (*add_blind)(const void *state, struct strbuf *out);

	/*
	 * Add to *ret, in which names and pids are there, all other figures are unknown, and
	 * there are no threads: the sums, the threads, the allocator. Returns 0 or -errno;
	 * the process may have ended.
	 */
	int (*read)(void *state, struct count_program *ret);

	/* NULL: it has no stacks, and open() refuses a request for them. */
	int (*read_stacks)(void *state, struct stacks *ret);

	/* See count_attach_close(). */
	int (*close)(void *state, struct strbuf *why);

	/* See count_method_check(). NULL: it cannot be told without a process. */
	int (*check)(struct strbuf *why);
};

extern const struct count_way count_way_bpf, count_way_perf;

/*
 * Of a program whose threads have their calls and requested bytes, and nothing else: what
 * follows from that, for them and for all together.
 */
void count_way_sum(struct count_program *program);

#endif
