/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * backend - the interface that each method of counting in a running process implements,
 * for probe/attach.h.
 */
#ifndef MS_PROBE_COUNT_BACKEND_H
#define MS_PROBE_COUNT_BACKEND_H

#include "base/strbuf.h"
#include "model/count.h"
#include "model/mapping.h"
#include "model/stacks.h"
#include "probe/count/request.h"

/* The process in which to count, and the other parameters that all methods share. */
struct count_place {
	const struct count_request *request;
	/* descriptor of /proc/PID; never refers to a later process with the same pid */
	int process_fd;
	const struct mapping_list *mappings; /* sorted by address */
};

struct count_backend {
	/*
	 * Start counting. The method may use the request only during this call, and
	 * process_fd until close(). The method owns *ret_state. Return values as for
	 * count_attach_open(); after an error the reason is appended to why as a clause,
	 * and close() must not be called.
	 */
	int (*open)(const struct count_place *place, void **ret_state,
		    struct strbuf *why);

	/*
	 * Append how calls are counted, and which calls are not; see struct count_means.
	 */
	void (*add_description)(const void *state, struct strbuf *out);
	void (*add_unseen)(const void *state, struct strbuf *out);

	/*
	 * Append why the counts are known to be incomplete; see struct count_means. NULL
	 * if this method's counts are never known to be incomplete.
	 */
	void (*add_missed)(const void *state, struct strbuf *out);

	/*
	 * Fill in the sums, the threads and the allocator of *ret. The caller has already
	 * set names and pids; all other figures are unknown, and there are no threads.
	 * Return 0 or -errno; the process may have ended.
	 */
	int (*read)(void *state, struct count_program *ret);

	/*
	 * Read the call stacks. NULL: the method cannot record stacks, and open() fails
	 * if the request asks for them.
	 */
	int (*read_stacks)(void *state, struct stacks *ret);

	/* Stop counting, and free state. Return values as for count_attach_close(). */
	int (*close)(void *state, struct strbuf *why);

	/*
	 * Check whether this machine allows the method; see count_method_check(). NULL if
	 * this cannot be determined without a process.
	 */
	int (*check)(struct strbuf *why);
};

extern const struct count_backend count_backend_bpf, count_backend_perf;

/*
 * Each thread of program has only calls and requested bytes. Derive the threads' other
 * figures, and the sums over all threads.
 */
void count_backend_sum(struct count_program *program);

#endif
