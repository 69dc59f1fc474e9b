/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup - one control group and its memory at one instant, as reported by the
 * kernel: the group and its ancestors with their limits, the memory charged, and the
 * processes in it. Plain data.
 *
 * Byte amounts are BYTES_UNKNOWN and counts COUNT_UNKNOWN where this kernel or this
 * cgroup version does not report them. The kernel's amounts may lag by up to 64 pages
 * per CPU (memcontrol.c).
 */
#ifndef MS_MODEL_CGROUP_H
#define MS_MODEL_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mapping.h"

#define COUNT_UNKNOWN UINT64_MAX

/* Value of a limit that is not set. An unknown limit is BYTES_UNKNOWN instead. */
#define CGROUP_NO_LIMIT (UINT64_MAX - 1)

enum cgroup_version {
	CGROUP_V1 = 1,
	CGROUP_V2 = 2
};

/* One group on the path from the requested group up to the root. */
struct cgroup_level {
	char *path; /* path in the visible hierarchy: "/kubepods/pod…"; owned */
	uint64_t usage_bytes;
	uint64_t limit_bytes; /* memory.max; v1 memory.limit_in_bytes */
	uint64_t high_bytes;  /* memory.high */
	uint64_t peak_bytes;  /* memory.peak (5.19); v1 memory.max_usage_in_bytes */
	uint64_t swap_bytes;  /* memory.swap.current; v1 memsw minus memory */
	uint64_t swap_limit_bytes;
	/*
	 * The counts since the group was created; for this group alone if the kernel has
	 * events.local. max_count is how often usage hit the limit (v1 failcnt); these
	 * are not kills.
	 */
	uint64_t max_count;
	uint64_t high_count;
	uint64_t oom_count;	 /* number of times reclaim failed to free enough */
	uint64_t oom_kill_count; /* processes of the group that the kernel killed */
	uint64_t swap_fail_count;
	bool is_oom_group;     /* memory.oom.group */
	bool is_kill_disabled; /* v1 oom_kill_disable */
};

/*
 * The fields of memory.stat under their v2 names. Fields of v1 are converted to the same
 * meaning.
 */
struct cgroup_stat {
	uint64_t anon_bytes; /* v1 rss */
	uint64_t file_bytes; /* v1 cache; includes shmem */
	uint64_t shmem_bytes;
	uint64_t kernel_bytes; /* total kernel memory; v1 kmem.usage_in_bytes */
	uint64_t kernel_stack_bytes, pagetables_bytes, percpu_bytes, vmalloc_bytes,
		sock_bytes;
	uint64_t slab_reclaimable_bytes, slab_unreclaimable_bytes;
	uint64_t inactive_anon_bytes, active_anon_bytes;
	uint64_t inactive_file_bytes, active_file_bytes;
	uint64_t unevictable_bytes;
	uint64_t file_mapped_bytes, file_dirty_bytes, file_writeback_bytes;
	uint64_t anon_thp_bytes;
	uint64_t swap_bytes;
	uint64_t lazyfree_count, lazyfreed_count; /* pages, since the group was created */
};

/*
 * Version 1: details of the kernel memory of the level that owns the limit, beyond its
 * total. Read on request only, and not recorded.
 */
struct cgroup_kernel {
	uint64_t pipe_count; /* pipes that the processes have open, each counted once */
	uint64_t pipe_limit_bytes; /* upper bound of the memory in these pipes */
	/* Sockets that the processes have open, each counted once. */
	uint64_t socket_count;
	/* memory.kmem.slabinfo, before Linux 5.9. */
	uint64_t socket_slab_bytes, inode_slab_bytes;
	uint64_t tcp_bytes; /* charged to a separate limit, not to this one */
};

/* "some" and "full" of memory.pressure: stall time since the group was created. */
struct cgroup_pressure {
	uint64_t some_ns, full_ns;
	uint32_t some_avg10_percent_x100, full_avg10_percent_x100;
};

/* Facts about a container, taken from its cgroup path and from local files. */
enum cgroup_name {
	/*
	 * "docker", "containerd", "cri-o", "podman", "lxc"; "cri": a Kubernetes runtime
	 * not identified further.
	 */
	CGROUP_NAME_RUNTIME,
	CGROUP_NAME_CONTAINER_ID,
	CGROUP_NAME_CONTAINER,
	CGROUP_NAME_POD_UID,
	CGROUP_NAME_POD,
	CGROUP_NAME_NAMESPACE, /* the Kubernetes namespace */
	CGROUP_NAME_QOS,       /* "guaranteed", "burstable", "besteffort" */
	CGROUP_NAME_UNIT,      /* the systemd unit: "nginx.service" */
	CGROUP_NAME_COUNT_
};

/* Names of the facts as keys and columns: "runtime", "container_id", … */
extern const char *const cgroup_name_keys[CGROUP_NAME_COUNT_];

struct cgroup {
	enum cgroup_version version;
	/* [0] is the group, the last is the root or the highest visible. */
	struct cgroup_level *levels;
	size_t level_count;
	/*
	 * Index of the level with the tightest limit, which is the effective one.
	 * SIZE_MAX if no visible level has a limit.
	 */
	size_t tightest;
	bool is_cut; /* a namespace hides the ancestors: their limits may be tighter */
	/*
	 * A limit of a hidden ancestor that is tighter than every visible
	 * limit; else CGROUP_NO_LIMIT.
	 */
	uint64_t hidden_limit_bytes;
	struct cgroup_stat stat;
	/* Statistics of the level that owns the limit; equals stat without a limit. */
	struct cgroup_stat limit_stat;
	struct cgroup_kernel kernel;
	struct cgroup_pressure pressure;
	bool has_pressure;
	char *names[CGROUP_NAME_COUNT_]; /* owned; NULL: unknown */
	/*
	 * Processes of the level that owns the limit, if any, and of all
	 * groups below that level.
	 */
	int *pids; /* ascending */
	size_t pid_count, pid_capacity;
	/* Groups searched for processes, empty ones included; 0: none searched. */
	size_t group_count;
	/* Possible error of the kernel's amounts; BYTES_UNKNOWN: not determined. */
	uint64_t slack_bytes;
	uint64_t taken_ns, unix_ms;
};

/* Free all names and set them to NULL (unknown). */
void cgroup_names_clear(char *names[CGROUP_NAME_COUNT_]);

/* Initialise *cgroup with every figure unknown. */
void cgroup_init(struct cgroup *cgroup);
void cgroup_release(struct cgroup *cgroup);

/* Return the level with the effective limit, or NULL if no visible level has a limit. */
const struct cgroup_level *cgroup_tightest(const struct cgroup *cgroup);

/*
 * Return the effective limit, including that of a hidden ancestor;
 * CGROUP_NO_LIMIT if there is none.
 */
uint64_t cgroup_limit_bytes(const struct cgroup *cgroup);

#endif
