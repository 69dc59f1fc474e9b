/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * figures - compute what a cgroup's memory consists of, and how much of it is
 * reclaimable. The functions are pure.
 *
 *   usage = need + lazyfree + file + slab_reclaimable + unexplained
 *   need  = live anon + shmem + kernel without slab_reclaimable + sock
 *
 * All figures are those of the cgroup whose limit applies, which may be an ancestor. If
 * there is no limit, the figures are those of the cgroup itself. The unexplained part may
 * be negative, because the kernel's sums lag behind its per-CPU counters. Its absolute
 * value does not exceed the slack.
 */
#ifndef MS_CLASSIFY_CGROUP_FIGURES_H
#define MS_CLASSIFY_CGROUP_FIGURES_H

#include "model/cgroup.h"
#include "model/usage.h"

struct oom_figures {
	uint64_t usage_bytes;
	/* memory limit; CGROUP_NO_LIMIT if the cgroup has none */
	uint64_t limit_bytes;
	/* memory of the cgroup that the kernel cannot reclaim */
	uint64_t need_bytes;
	/* memory limit minus memory need; unknown if the cgroup has no limit */
	uint64_t headroom_bytes;
	/* upper bound on the error of the kernel's memory counters */
	uint64_t slack_bytes;
	int64_t unexplained_bytes;

	/* parts of need_bytes */
	uint64_t live_anon_bytes, shmem_bytes, kernel_bytes, sock_bytes;
	/*
	 * Parts of kernel_bytes in cgroup v2, if the kernel reports them.
	 * other_kernel_bytes is the remainder, such as pipe buffers.
	 */
	uint64_t kernel_stack_bytes, pagetables_bytes, percpu_bytes, vmalloc_bytes;
	uint64_t slab_unreclaimable_bytes, other_kernel_bytes;
	/*
	 * Parts of kernel_bytes in cgroup v1; unknown in recordings. The slab figures are
	 * exact; pipe_limit_bytes is an upper bound. The kernel charges TCP buffers to a
	 * separate account.
	 */
	uint64_t inode_slab_bytes, socket_slab_bytes, pipe_limit_bytes;
	uint64_t pipe_count, socket_count;
	uint64_t tcp_bytes;
	/* Memory that the kernel can reclaim without swapping. */
	uint64_t lazyfree_bytes, file_bytes, slab_reclaimable_bytes;

	uint64_t swap_bytes;
	/* memory usage minus inactive_file, as shown by kubectl top */
	uint64_t working_set_bytes;
	/*
	 * Anonymous pages that were LazyFree, were written to again, and are still on the
	 * kernel's file LRU lists. The working set does not include these pages.
	 */
	uint64_t hidden_bytes;
	/* sum of the Pss (proportional set size) of all processes */
	uint64_t process_bytes;
	/*
	 * Memory charged to the cgroup but not used by any visible process,
	 * such as files on a tmpfs.
	 */
	uint64_t unaccounted_bytes;
	/*
	 * If a process could not be read, lazyfree_bytes is a lower bound, and
	 * hidden_bytes, process_bytes and unaccounted_bytes are unknown.
	 */
	size_t process_count, unreadable_count;
	/* negative errno from reading one of the unreadable processes; 0: unknown */
	int unreadable_error;
	/*
	 * true if smaps was read for all processes; false if smaps_rollup was read
	 * for some
	 */
	bool is_lazyfree_exact;
};

/*
 * Compute the memory figures of a cgroup. `processes` must contain the processes listed
 * in cgroup->pids. hidden_bytes is known only if the slack is known.
 */
void oom_figures_find(const struct cgroup *cgroup, const struct snapshot *processes,
		      struct oom_figures *ret);

#endif
