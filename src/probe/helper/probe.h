/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe - query the allocator of another process through a helper inside that process.
 *
 * The helper was preloaded when the program started, or is injected while the process
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
 * clause and not as a sentence.
 *
 * -ESRCH          the process has ended
 * -EPERM          the process may not be traced
 * -EBUSY          another tracer
 * -EAGAIN         no safe moment in time
 * -ENOSYS         no allocator that can be queried
 * -EOPNOTSUPP     a static, 32-bit, musl or Go program, seccomp, a shadow stack…
 * -ENOENT         there is no helper, and may_inject is false
 * -EPROTO         a helper of another version
 */
int probe_open(const struct probe_request *request, struct probe **ret,
	       struct probe_cost *ret_cost, const char **ret_reason);

/* The parameters of a query. */
struct probe_question {
	/* maximum time to wait for the answer; a later answer is discarded */
	uint64_t limit_ns;
	bool wants_text; /* also return the text of malloc_info() or a similar function */
	/* query even if other threads may have to wait for malloc for a long time */
	bool allows_stall;
	/*
	 * upper bound on the number of free chunks, or BYTES_UNKNOWN to estimate it from
	 * the mappings
	 */
	uint64_t free_chunks;
};

/*
 * Query the allocator. The caller releases *ret with allocator_stats_release(). Return 0,
 * or -errno with *ret_reason, which is valid until the probe is used again.
 *
 * -EFBIG      the query would stall the process, for as long as the reason says
 * -ETIMEDOUT  the helper is still working, and continues
 * -ESRCH      the process, or the helper in it, has ended
 * -ENOSYS     no allocator that can be queried
 * -EPROTO     the page is invalid
 * -EBUSY      another memstate is querying
 * -EAGAIN     less than 100 times the cost of the last answer has passed
 */
int probe_ask(struct probe *probe, const struct probe_question *question,
	      struct allocator_stats *ret, const char **ret_reason);

/*
 * Remove the helper if probe_open() injected it, and free the probe. Return 0, or
 * -errno with *ret_reason if the helper remains in the process; it then exits
 * after one idle minute.
 */
int probe_close(struct probe *probe, struct probe_cost *ret_cost,
		const char **ret_reason);

#endif
