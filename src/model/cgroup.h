/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup - one control group and its memory at one instant, as reported by the kernel:
 * the cgroup, its ancestors with their limits, the charged memory, and the processes in
 * the cgroup. Plain data.
 *
 * An amount or count that this kernel or this cgroup version does not report is
 * BYTES_UNKNOWN or COUNT_UNKNOWN. The kernel's amounts may lag by up to 64 pages per CPU
 * (memcontrol.c).
 */
#ifndef MS_MODEL_CGROUP_H
#define MS_MODEL_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mapping.h"

#define COUNT_UNKNOWN UINT64_MAX

/*
 * The value of a limit that is not set. A limit that memstate could not read is
 * BYTES_UNKNOWN.
 */
#define CGROUP_NO_LIMIT (UINT64_MAX - 1)

enum cgroup_version {
	CGROUP_V1 = 1,
	CGROUP_V2 = 2
};

/* One cgroup on the path from the requested cgroup up to the root. */
struct cgroup_level {
	char *path; /* path in the visible hierarchy, such as "/kubepods/pod…"; owned */
	uint64_t usage_bytes;
	uint64_t limit_bytes; /* limit; v2: memory.max; v1: memory.limit_in_bytes */
	uint64_t high_bytes;  /* v2 memory.high */
	/* peak usage; v2: memory.peak (since 5.19); v1: memory.max_usage_in_bytes */
	uint64_t peak_bytes;
	/* swap: v2 memory.swap.current; v1 memory.memsw usage minus memory usage */
	uint64_t swap_bytes;
	uint64_t swap_limit_bytes;
	/*
	 * Event counts since the cgroup was created. If the kernel has
	 * memory.events.local, they cover only this cgroup; otherwise they include its
	 * descendants. max_count is the number of times that usage hit the limit (v1
	 * failcnt); hitting the limit does not necessarily kill a process.
	 */
	uint64_t max_count;
	uint64_t high_count;
	/* number of times that reclaim could not free enough memory */
	uint64_t oom_count;
	/* number of the cgroup's processes that the kernel killed */
	uint64_t oom_kill_count;
	uint64_t swap_fail_count;
	/*
	 * True if memory.oom.group is set: if memory runs out, the kernel kills all
	 * processes of the cgroup together.
	 */
	bool is_oom_group;
	/*
	 * True if oom_kill_disable is set (v1): if memory runs out, the kernel kills no
	 * process of the cgroup; processes that need more memory wait.
	 */
	bool is_kill_disabled;
};

/*
 * The fields of memory.stat under their v2 names. Values of v1 fields are converted to
 * the v2 meaning.
 */
struct cgroup_stat {
	uint64_t anon_bytes; /* anonymous memory; v1: the field rss */
	uint64_t file_bytes; /* page cache, including shmem; v1: the field cache */
	uint64_t shmem_bytes;
	uint64_t kernel_bytes; /* total kernel memory; v1: memory.kmem.usage_in_bytes */
	uint64_t kernel_stack_bytes, pagetables_bytes, percpu_bytes, vmalloc_bytes,
		sock_bytes;
	uint64_t slab_reclaimable_bytes, slab_unreclaimable_bytes;
	uint64_t inactive_anon_bytes, active_anon_bytes;
	uint64_t inactive_file_bytes, active_file_bytes;
	uint64_t unevictable_bytes;
	uint64_t file_mapped_bytes, file_dirty_bytes, file_writeback_bytes;
	uint64_t anon_thp_bytes;
	uint64_t swap_bytes;
	/*
	 * Number of pages marked with MADV_FREE since the cgroup was created, and number
	 * of these pages that the kernel reclaimed.
	 */
	uint64_t lazyfree_count, lazyfreed_count;
};

/*
 * Cgroup v1 only: what uses the kernel memory of the cgroup with the effective limit.
 * memstate reads these figures on request and does not record them.
 */
struct cgroup_kernel {
	uint64_t pipe_count;	   /* number of open pipes, each counted once */
	uint64_t pipe_limit_bytes; /* upper bound on the memory used by all open pipes */
	/* Number of open sockets, each counted once. */
	uint64_t socket_count;
	/* Sizes from memory.kmem.slabinfo, which has been empty since Linux 5.9. */
	uint64_t socket_slab_bytes, inode_slab_bytes;
	uint64_t tcp_bytes; /* memory of TCP buffers, which v1 limits separately */
};

/*
 * The lines "some" and "full" of memory.pressure: stall time since the cgroup was
 * created, and the average of the last 10 seconds.
 */
struct cgroup_pressure {
	uint64_t some_ns, full_ns;
	uint32_t some_avg10_percent_x100, full_avg10_percent_x100;
};

/*
 * Names of a cgroup's container or service, found in the cgroup's
 * path and in local files.
 */
enum cgroup_name {
	/*
	 * "docker", "containerd", "cri-o", "podman", "lxc", or "cri" for a Kubernetes
	 * runtime that could not be identified further.
	 */
	CGROUP_NAME_RUNTIME,
	CGROUP_NAME_CONTAINER_ID,
	CGROUP_NAME_CONTAINER,
	CGROUP_NAME_POD_UID,
	CGROUP_NAME_POD,
	CGROUP_NAME_NAMESPACE, /* Kubernetes namespace */
	/* QoS class: "guaranteed", "burstable" or "besteffort" */
	CGROUP_NAME_QOS,
	CGROUP_NAME_UNIT, /* systemd unit, such as "nginx.service" */
	CGROUP_NAME_COUNT_
};

/*
 * The keys of a cgroup's names, also used as column names: "runtime", "container_id", …
 */
extern const char *const cgroup_name_keys[CGROUP_NAME_COUNT_];

struct cgroup {
	enum cgroup_version version;
	/*
	 * The path through the hierarchy: levels[0] is the requested cgroup, and the last
	 * element is the root or the highest visible ancestor.
	 */
	struct cgroup_level *levels;
	size_t level_count;
	/*
	 * Index of the level with the lowest limit, which is the effective limit.
	 * SIZE_MAX if no visible level has a limit.
	 */
	size_t tightest;
	/* true if a cgroup namespace hides ancestors, whose limits may be lower */
	bool is_cut;
	/*
	 * The limit of a hidden ancestor if it is lower than every visible limit,
	 * otherwise CGROUP_NO_LIMIT.
	 */
	uint64_t hidden_limit_bytes;
	struct cgroup_stat stat;
	/*
	 * Statistics of the cgroup with the effective limit, or of the requested cgroup
	 * if there is no limit.
	 */
	struct cgroup_stat limit_stat;
	struct cgroup_kernel kernel;
	struct cgroup_pressure pressure;
	bool has_pressure;
	/* the names, indexed by enum cgroup_name; NULL if unknown; owned */
	char *names[CGROUP_NAME_COUNT_];
	/*
	 * The pids of the processes in the cgroup with the effective limit and in its
	 * descendants, in ascending order. If there is no limit, the pids are those of
	 * the processes in the requested cgroup and in its descendants.
	 */
	int *pids;
	size_t pid_count, pid_capacity;
	/*
	 * Number of cgroups that were searched for processes, including empty ones. 0 if
	 * memstate did not search.
	 */
	size_t group_count;
	/*
	 * Maximum error of the amounts that the kernel reports; BYTES_UNKNOWN if not
	 * determined.
	 */
	uint64_t slack_bytes;
	uint64_t taken_ns, unix_ms;
};

/* Free all names of a cgroup and set them to NULL, which means unknown. */
void cgroup_names_clear(char *names[CGROUP_NAME_COUNT_]);

/* Initialise *cgroup with all figures unknown. */
void cgroup_init(struct cgroup *cgroup);
void cgroup_release(struct cgroup *cgroup);

/* Return the level with the effective limit, or NULL if no visible level has a limit. */
const struct cgroup_level *cgroup_tightest(const struct cgroup *cgroup);

/*
 * Return the effective limit, including a limit of a hidden ancestor;
 * CGROUP_NO_LIMIT if there is no limit.
 */
uint64_t cgroup_limit_bytes(const struct cgroup *cgroup);

#endif
