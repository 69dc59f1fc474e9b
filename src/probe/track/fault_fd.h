/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fault_fd - obtain a userfaultfd(2) for the memory of another process. Only the process
 * itself can create one: a borrowed thread creates the descriptor, memstate duplicates it
 * with pidfd_getfd(2) (Linux 5.6), and the borrowed thread closes its own. During these
 * steps the other threads are stopped, so that the process never sees the descriptor.
 *
 * The descriptor has an effect only on memory that write_track registers.
 */
#ifndef MS_PROBE_TRACK_FAULT_FD_H
#define MS_PROBE_TRACK_FAULT_FD_H

#include "probe/borrow/request.h"

/*
 * Obtain a descriptor, which the caller closes. Return 0, or an error as described for
 * probe_open() with *ret_reason; the process is then unchanged. Additional errors are
 * those of userfaultfd(2) and pidfd_getfd(2).
 */
int fault_fd_open(const struct probe_request *request, int *ret_fd,
		  struct probe_cost *ret_cost, const char **ret_reason);

#endif
