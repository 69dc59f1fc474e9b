/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe - ask the allocator of another process, through a helper inside it.
 *
 * The helper is there since the start (preloaded), or is put in while the process runs.
 * The answers come through a page that the process can write too: nothing in it is
 * believed.
 */
#ifndef MS_PROBE_PROBE_H
#define MS_PROBE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/allocator_stats.h"
#include "model/mapping.h"
#include "probe/request.h"

struct probe;

/*
 * Returns 0; or why not, with *ret_reason, static, naming the gate that failed in words
 * that end no sentence, and the process as it was: -ESRCH, -EPERM, -EBUSY (another
 * tracer), -EAGAIN (no safe moment in time), -ENOSYS (no allocator that can be asked),
 * -EOPNOTSUPP (a static, 32-bit, musl or Go program, seccomp, a shadow stack…), -ENOENT
 * (no helper is there, and none may be put in), -EPROTO (a helper of another version).
 */
int probe_open(const struct probe_request *request, struct probe **ret,
	       struct probe_cost *ret_cost, const char **ret_reason);

/* What to ask for. */
struct probe_question {
	uint64_t limit_ns;  /* how long to wait for the answer; it may still come later, and is dropped then */
	bool wants_text;    /* malloc_info and its like too */
	bool allows_stall;  /* however long it may keep the process's other threads from allocating */
	uint64_t free_chunks; /* how many there are at most; BYTES_UNKNOWN: estimate it from what it has mapped */
};

/*
 * Ask. *ret is to be released with allocator_stats_release(). Returns 0, or -errno with
 * *ret_reason, which is good until the probe is used again: -EFBIG (it would stall the
 * process, the reason says how long), -ETIMEDOUT (the helper is still at work, and is let
 * be), -ESRCH, -ENOSYS (no allocator that can be asked), -EPROTO (what is in the page
 * makes no sense), -EBUSY (another memstate asks), -EAGAIN (sooner than 100 times what
 * the last answer cost).
 */
int probe_ask(struct probe *probe, const struct probe_question *question,
	      struct allocator_stats *ret, const char **ret_reason);

/*
 * Take out what probe_open() put in, and free the probe. Returns 0, or -errno if
 * something was left behind: *ret_reason says what; the helper leaves by itself then when
 * nobody has asked it for a minute.
 */
int probe_close(struct probe *probe, struct probe_cost *ret_cost, const char **ret_reason);

#endif
