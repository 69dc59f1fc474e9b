/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * backend - the interface that each method of counting the allocations of a running
 * process implements, used by probe/attach.h.
 */
#ifndef MS_PROBE_COUNT_BACKEND_H
#define MS_PROBE_COUNT_BACKEND_H

#include "base/strbuf.h"
#include "model/count.h"
#include "model/mapping.h"
#include "model/stacks.h"
#include "probe/count/request.h"

/*
 * The process whose allocations are counted, and other parameters that all methods need.
 */
struct count_place {
	const struct count_request *request;
	/*
	 * descriptor of /proc/PID, which never refers to a later process
	 * with the same pid
	 */
	int process_fd;
	const struct mapping_list *mappings; /* sorted by address */
};

struct count_backend {
	/*
	 * Callback that starts counting. The method may use the request only during this
	 * call; only process_fd stays usable until close(). The method owns *ret_state.
	 * The callback returns the same values as count_attach_open(). On failure, it
	 * appends the reason to `why` as a clause, and the caller must not call close().
	 */
	int (*open)(const struct count_place *place, void **ret_state,
		    struct strbuf *why);

	/*
	 * Callbacks that append a description of how calls are counted, and a description
	 * of the calls that are not counted; see struct count_means.
	 */
	void (*add_description)(const void *state, struct strbuf *out);
	void (*add_unseen)(const void *state, struct strbuf *out);

	/*
	 * Callback that appends the reason why the counts are incomplete, if they are;
	 * see struct count_means. NULL if this method cannot detect incomplete counts.
	 */
	void (*add_missed)(const void *state, struct strbuf *out);

	/*
	 * Callback that sets the sums, the threads and the allocator of *ret. The caller
	 * has set the names and pids, set all figures to unknown, and set the number of
	 * threads to 0. Return 0 or -errno; the process may have ended.
	 */
	int (*read)(void *state, struct count_program *ret);

	/*
	 * Callback that reads the call stacks. NULL if the method cannot record stacks;
	 * open() then fails for a request that includes stacks.
	 */
	int (*read_stacks)(void *state, struct stacks *ret);

	/*
	 * Callback that stops counting and frees the state. It returns the same values as
	 * count_attach_close().
	 */
	int (*close)(void *state, struct strbuf *why);

	/*
	 * Callback that checks whether this machine allows the method; see
	 * count_method_check(). NULL if the check requires a process.
	 */
	int (*check)(struct strbuf *why);
};

extern const struct count_backend count_backend_bpf, count_backend_perf;

/*
 * Complete the figures of a program whose threads have only counts of calls and of
 * requested bytes: compute the remaining figures of each thread, and the sums over all
 * threads.
 */
void count_backend_sum(struct count_program *program);

#endif
