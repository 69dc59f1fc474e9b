/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attach - count the allocations of a process that is already running. After counting has
 * stopped, the process is unchanged.
 *
 * There are several counting methods. memstate tries them in the order of enum
 * count_method until one succeeds. Only one thread at a time may call these functions.
 */
#ifndef MS_PROBE_ATTACH_H
#define MS_PROBE_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/count.h"
#include "model/mapping.h"
#include "model/stacks.h"
#include "probe/count/request.h"

struct count_attach;

/*
 * Check whether this machine and memstate's privileges allow a counting method, without
 * accessing any process. Return 0, or -errno with the reason appended to `why`. -ENOSYS
 * means that the check is not possible without a process.
 */
int count_method_check(enum count_method method, struct strbuf *why);

/*
 * Find malloc and related functions at which to set breakpoints, in a process with the
 * given mappings. Return 0 with the name of the file that defines malloc appended to
 * `out`, or -errno with the reason appended to `out`.
 */
int count_attach_find(const struct procfs *fs, int pid,
		      const struct mapping_list *mappings, struct strbuf *out);

/*
 * Start counting. Return 0 or an error. After an error the process is unchanged, and the
 * reason is appended to `why` as a clause, not a sentence. Errors: -ESRCH; -EPERM,
 * -EACCES; -EBUSY (another tracer), -EAGAIN (no safe moment before the time limit),
 * -ENOENT (no malloc found in the process), -ENODATA (only an allocator that cannot be
 * counted), -EOPNOTSUPP.
 */
int count_attach_open(const struct count_request *request, struct count_attach **ret,
		      struct strbuf *why);

/*
 * Read the counts since count_attach_open(). The caller initializes *ret with {0} before
 * the first call, and frees its threads at the end. Figures that cannot be determined are
 * BYTES_UNKNOWN. ret->means remains owned by `attach`. After the process has ended, *ret
 * contains its last counts, with has_ended set. Return 0 or -errno.
 */
int count_attach_read(struct count_attach *attach, struct count_program *ret);

/*
 * Read the recorded call stacks. Return -EOPNOTSUPP if the request did not include call
 * stacks.
 */
int count_attach_read_stacks(struct count_attach *attach, struct stacks *ret);

/*
 * Stop counting, restore the process, and free everything; `attach` may be NULL. Return
 * 0, or -errno if something could not be removed from the process. On failure, append to
 * `why` a description of what remains and how the process continues.
 */
int count_attach_close(struct count_attach *attach, struct strbuf *why);

#endif
