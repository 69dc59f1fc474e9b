/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_figures - what fills a group up to its limit, and what of it could be taken back.
 * Pure.
 *
 *   usage = need + lazyfree + file + slab_reclaimable + unexplained
 *   need  = live anon + shmem + kernel without slab_reclaimable + sock
 *
 * Each of the level that owns the limit; without one, of the group itself. unexplained is
 * signed: the kernel adds up what each CPU has not told yet, so it is within +-slack.
 */
#ifndef MS_CLASSIFY_OOM_FIGURES_H
#define MS_CLASSIFY_OOM_FIGURES_H

#include "model/cgroup.h"
#include "model/usage.h"

struct oom_figures {
	uint64_t usage_bytes;
	uint64_t limit_bytes; /* CGROUP_NO_LIMIT */
	uint64_t need_bytes;  /* cannot be taken back */
	uint64_t headroom_bytes; /* the limit less need; unknown without a limit */
	uint64_t slack_bytes;	 /* how far off the kernel's amounts may be */
	int64_t unexplained_bytes;

	/* Of need: */
	uint64_t live_anon_bytes, shmem_bytes, kernel_bytes, sock_bytes;
	/* Of kernel_bytes, where the kernel tells them: v2. other: pipes' buffers and the like. */
	uint64_t kernel_stack_bytes, pagetables_bytes, percpu_bytes, vmalloc_bytes;
	uint64_t slab_unreclaimable_bytes, other_kernel_bytes;
	/*
	 * Of kernel_bytes in v1, unknown in recordings: slab that is exact, pages of pipes at most.
	 * TCP buffers are beside it, in an account of their own.
	 */
	uint64_t inode_slab_bytes, socket_slab_bytes, pipe_limit_bytes;
	uint64_t pipe_count, socket_count;
	uint64_t tcp_bytes;
	/* Can be taken back without swap: */
	uint64_t lazyfree_bytes, file_bytes, slab_reclaimable_bytes;

	uint64_t swap_bytes;
	uint64_t working_set_bytes; /* usage less inactive_file: what kubectl top shows */
	/*
	 * Anonymous pages on the kernel's lists of files that are not LazyFree: they were
	 * written again, and are in no working set.
	 */
	uint64_t hidden_bytes;
	uint64_t process_bytes; /* Pss of all processes */
	/* Charged, and no process's: files left on a tmpfs, or processes out of sight. */
	uint64_t unaccounted_bytes;
	/* With any that could not be read: lazyfree_bytes is a lower bound, the three above unknown. */
	size_t process_count, unreadable_count;
	int unreadable_error; /* -errno with which one could not be read; 0: not known */
	bool is_lazyfree_exact; /* each process's smaps were read, not only their sums */
};

/*
 * processes: those of cgroup->pids. Without a known slack nothing is said to be hidden.
 */
void oom_figures_find(const struct cgroup *cgroup, const struct snapshot *processes,
		      struct oom_figures *ret);

#endif
