/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe - query the allocator of another process through a helper inside that process.
 *
 * The helper was either preloaded when the program started, or injected while the process
 * runs. The answers come through a page that the process can write to, so nothing in the
 * page is trusted.
 */
#ifndef MS_PROBE_HELPER_PROBE_H
#define MS_PROBE_HELPER_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/allocator_stats.h"
#include "model/mapping.h"
#include "probe/borrow/request.h"

struct probe;

/*
 * Open a probe of a process. Return 0, or an error with *ret_reason and the
 * process unchanged. *ret_reason is static; it names the check that failed, as a
 * clause, not a sentence. Errors:
 *
 * -ESRCH          the process has ended
 * -EPERM          the process may not be traced
 * -EBUSY          another tracer is attached to the process
 * -EAGAIN         no safe moment before the time limit
 * -ENOSYS         the process has no allocator that can be queried
 * -EOPNOTSUPP     unsupported: a static, 32-bit, musl or Go program, seccomp, a shadow
 *                 stack…
 * -ENOENT         there is no helper, and may_inject is false
 * -EPROTO         the helper belongs to another version of memstate
 */
int probe_open(const struct probe_request *request, struct probe **ret,
	       struct probe_cost *ret_cost, const char **ret_reason);

/* The parameters of a query. */
struct probe_question {
	/* maximum time to wait for the answer; a later answer is discarded */
	uint64_t limit_ns;
	/* true to also return the text of malloc_info() or a similar function */
	bool wants_text;
	/* true to query even if other threads may have to wait a long time for malloc */
	bool allows_stall;
	/*
	 * upper bound on the number of free chunks; BYTES_UNKNOWN to estimate it from the
	 * mappings
	 */
	uint64_t free_chunks;
};

/*
 * Query the allocator. The caller releases *ret with allocator_stats_release(). Return 0,
 * or -errno with *ret_reason, which is valid until the probe is used again. Errors:
 *
 * -EFBIG      the query would stall the process; the reason contains the time
 * -ETIMEDOUT  the helper is still working, and continues
 * -ESRCH      the process, or the helper in it, has ended
 * -ENOSYS     the process has no allocator that can be queried
 * -EPROTO     the contents of the helper's page are invalid
 * -EBUSY      another memstate is querying the allocator
 * -EAGAIN     too early: wait 100 times the duration of the last query
 */
int probe_ask(struct probe *probe, const struct probe_question *question,
	      struct allocator_stats *ret, const char **ret_reason);

/*
 * Remove the helper if probe_open() injected it, and free the probe. Return 0, or -errno
 * with *ret_reason if the helper remains in the process; the helper then exits after one
 * idle minute.
 */
int probe_close(struct probe *probe, struct probe_cost *ret_cost,
		const char **ret_reason);

#endif
