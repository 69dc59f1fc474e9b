/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup - one group of processes and its memory, as the kernel tells it at one instant:
 * the groups above it with their limits, what is charged, and to whom it belongs. Plain
 * data.
 *
 * Bytes are BYTES_UNKNOWN and counts COUNT_UNKNOWN where this kernel, or this version of
 * the hierarchy, does not tell. Amounts lag behind by up to 64 pages per CPU (memcontrol.c).
 */
#ifndef MS_MODEL_CGROUP_H
#define MS_MODEL_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mapping.h"

#define COUNT_UNKNOWN UINT64_MAX

/* As a limit: there is none. Not the same as an unknown one. */
#define CGROUP_NO_LIMIT (UINT64_MAX - 1)

enum cgroup_version { CGROUP_V1 = 1, CGROUP_V2 = 2 };

/* A group on the way from the one that was asked for to the root. */
struct cgroup_level {
	char *path; /* in the hierarchy, from what can be seen of it: "/kubepods/pod…" */
	uint64_t usage_bytes;
	uint64_t limit_bytes;	 /* memory.max; v1 memory.limit_in_bytes */
	uint64_t high_bytes;	 /* memory.high */
	uint64_t peak_bytes;	 /* memory.peak (5.19); v1 memory.max_usage_in_bytes */
	uint64_t swap_bytes;	 /* memory.swap.current; v1 memsw less memory */
	uint64_t swap_limit_bytes;
	/* Since the group was made, of itself alone where the kernel tells that (events.local). */
	uint64_t max_count;	 /* times that the limit was touched; v1 failcnt. Not kills */
	uint64_t high_count;
	uint64_t oom_count;	 /* times that reclaim found nothing more */
	uint64_t oom_kill_count; /* processes of the group that the kernel killed */
	uint64_t swap_fail_count;
	bool is_oom_group;	 /* memory.oom.group */
	bool is_kill_disabled;	 /* v1 oom_kill_disable */
};

/* The lines of memory.stat, by the names of v2; v1's are given the same meaning. */
struct cgroup_stat {
	uint64_t anon_bytes;	/* v1 rss */
	uint64_t file_bytes;	/* v1 cache: shmem is part of it */
	uint64_t shmem_bytes;
	uint64_t kernel_bytes;	/* all of it; v1 kmem.usage_in_bytes */
	uint64_t kernel_stack_bytes, pagetables_bytes, percpu_bytes, vmalloc_bytes, sock_bytes;
	uint64_t slab_reclaimable_bytes, slab_unreclaimable_bytes;
	uint64_t inactive_anon_bytes, active_anon_bytes;
	uint64_t inactive_file_bytes, active_file_bytes;
	uint64_t unevictable_bytes;
	uint64_t file_mapped_bytes, file_dirty_bytes, file_writeback_bytes;
	uint64_t anon_thp_bytes;
	uint64_t swap_bytes;
	uint64_t lazyfree_count, lazyfreed_count; /* pages, since the group was made */
};

/*
 * Version 1: what is known of the kernel's memory besides its sum, of the level that owns the
 * limit. Read on request, and not recorded.
 */
struct cgroup_kernel {
	uint64_t pipe_count;	   /* pipes that its processes have open, each counted once */
	uint64_t pipe_limit_bytes; /* the pages in these are at most so many */
	uint64_t socket_count;	   /* sockets that its processes have open, likewise */
	uint64_t socket_slab_bytes, inode_slab_bytes; /* memory.kmem.slabinfo, before Linux 5.9 */
	uint64_t tcp_bytes; /* not charged to the limit, but to one of its own */
};

/* "some" and "full" of memory.pressure: time that was lost, since the group was made. */
struct cgroup_pressure {
	uint64_t some_ns, full_ns;
	uint32_t some_avg10_percent_x100, full_avg10_percent_x100;
};

/* What a path and local files say of a container. */
enum cgroup_name {
	CGROUP_NAME_RUNTIME, /* "docker", "containerd", "cri-o", "podman", "lxc"; "cri": one of kubelet's */
	CGROUP_NAME_CONTAINER_ID,
	CGROUP_NAME_CONTAINER,
	CGROUP_NAME_POD_UID,
	CGROUP_NAME_POD,
	CGROUP_NAME_NAMESPACE, /* of Kubernetes */
	CGROUP_NAME_QOS,       /* "guaranteed", "burstable", "besteffort" */
	CGROUP_NAME_UNIT,      /* systemd's: "nginx.service" */
	CGROUP_NAME_COUNT_
};

/* As keys and columns have them: "runtime", "container_id", … */
extern const char *const cgroup_name_keys[CGROUP_NAME_COUNT_];

struct cgroup {
	enum cgroup_version version;
	struct cgroup_level *levels; /* 0: the group itself, the last: the root, or the highest seen */
	size_t level_count;
	/*
	 * The level whose limit is the tightest, which is what counts. SIZE_MAX: no limit that
	 * can be seen.
	 */
	size_t tightest;
	bool is_cut; /* a namespace hides what is above: there may be tighter limits */
	uint64_t hidden_limit_bytes; /* one above, tighter than all that can be seen; else CGROUP_NO_LIMIT */
	struct cgroup_stat stat;
	struct cgroup_stat limit_stat; /* of the level that owns the limit; as stat if there is none */
	struct cgroup_kernel kernel;
	struct cgroup_pressure pressure;
	bool has_pressure;
	char *names[CGROUP_NAME_COUNT_]; /* NULL: nothing is known */
	/* Processes of the level that owns the limit, if there is one, and of all below it. */
	int *pids; /* rising */
	size_t pid_count, pid_capacity;
	size_t group_count; /* groups that these are in, empty ones too; 0: not looked at */
	uint64_t slack_bytes; /* how far off the kernel's amounts may be; unknown: not looked at */
	uint64_t taken_ns, unix_ms;
};

/* Free names, which are unknown then. */
void cgroup_names_clear(char *names[CGROUP_NAME_COUNT_]);

/* All unknown. */
void cgroup_init(struct cgroup *cgroup);
void cgroup_release(struct cgroup *cgroup);

/* The level whose limit counts, or NULL. */
const struct cgroup_level *cgroup_tightest(const struct cgroup *cgroup);

/* The limit that counts, whoever's it is; CGROUP_NO_LIMIT. */
uint64_t cgroup_limit_bytes(const struct cgroup *cgroup);

#endif
