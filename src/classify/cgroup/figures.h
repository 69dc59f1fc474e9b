/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * figures - what fills a group up to its limit, and how much of
 * it is reclaimable. Pure.
 *
 *   usage = need + lazyfree + file + slab_reclaimable + unexplained
 *   need  = live anon + shmem + kernel without slab_reclaimable + sock
 *
 * All figures are of the level that owns the limit, or of the group itself without a
 * limit. unexplained is signed, because the kernel's sums lag behind the per-CPU
 * counters; it lies within +-slack.
 */
#ifndef MS_CLASSIFY_CGROUP_FIGURES_H
#define MS_CLASSIFY_CGROUP_FIGURES_H

#include "model/cgroup.h"
#include "model/usage.h"

struct oom_figures {
	uint64_t usage_bytes;
	uint64_t limit_bytes;	 /* CGROUP_NO_LIMIT if there is none */
	uint64_t need_bytes;	 /* cannot be reclaimed */
	uint64_t headroom_bytes; /* limit - need; unknown without a limit */
	uint64_t slack_bytes;	 /* possible error of the kernel's amounts */
	int64_t unexplained_bytes;

	/* Parts of need: */
	uint64_t live_anon_bytes, shmem_bytes, kernel_bytes, sock_bytes;
	/*
	 * Parts of kernel_bytes, if the kernel reports them (v2). other:
	 * pipe buffers and similar.
	 */
	uint64_t kernel_stack_bytes, pagetables_bytes, percpu_bytes, vmalloc_bytes;
	uint64_t slab_unreclaimable_bytes, other_kernel_bytes;
	/*
	 * Parts of kernel_bytes in v1, unknown in recordings. Slab figures are
	 * exact; pipe_limit_bytes is an upper bound. TCP buffers are charged
	 * to a separate account.
	 */
	uint64_t inode_slab_bytes, socket_slab_bytes, pipe_limit_bytes;
	uint64_t pipe_count, socket_count;
	uint64_t tcp_bytes;
	/* Reclaimable without swap: */
	uint64_t lazyfree_bytes, file_bytes, slab_reclaimable_bytes;

	uint64_t swap_bytes;
	uint64_t working_set_bytes; /* usage - inactive_file, as kubectl top shows it */
	/*
	 * Anonymous pages on the kernel's file LRU lists that are no longer LazyFree
	 * because they were written again. No working set includes them.
	 */
	uint64_t hidden_bytes;
	uint64_t process_bytes; /* sum of the Pss of all processes */
	/*
	 * Charged but not attributable to a process: files left on a tmpfs, or
	 * processes not visible.
	 */
	uint64_t unaccounted_bytes;
	/*
	 * If a process could not be read, lazyfree_bytes is a lower bound and the three
	 * figures above are unknown.
	 */
	size_t process_count, unreadable_count;
	/* -errno of one process that could not be read; 0: unknown. */
	int unreadable_error;
	bool is_lazyfree_exact; /* smaps of every process was read, not only the rollup */
};

/*
 * Compute the figures. processes are those of cgroup->pids. hidden_bytes is reported only
 * if the slack is known.
 */
void oom_figures_find(const struct cgroup *cgroup, const struct snapshot *processes,
		      struct oom_figures *ret);

#endif
