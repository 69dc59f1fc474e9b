/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_kill - one out-of-memory kill as reported in the kernel log. Plain data.
 *
 * Bytes are BYTES_UNKNOWN, counts COUNT_UNKNOWN and texts "" where the log does not
 * contain them, because the kernel is older or lines are missing.
 */
#ifndef MS_MODEL_OOM_KILL_H
#define MS_MODEL_OOM_KILL_H

#include "model/cgroup.h"

#define OOM_NAME_SIZE 64
#define OOM_PATH_SIZE 512

enum oom_constraint {
	OOM_UNKNOWN,
	OOM_CGROUP, /* a cgroup reached its limit */
	OOM_GLOBAL, /* the machine ran out of memory */
	OOM_NODES,  /* the nodes of a cpuset or memory policy ran out */
};

#define OOM_TIME_SIZE 40

/* When a line was logged, as far as its prefix shows. */
struct oom_time {
	uint64_t unix_ms;	  /* 0: unknown, as without a time zone or a year */
	uint64_t boot_us;	  /* since boot; COUNT_UNKNOWN */
	char text[OOM_TIME_SIZE]; /* the date as printed in the log; "" if none */
};

#define OOM_ZONES_MAX 16
#define OOM_ZONE_NAME_SIZE 16

struct oom_zone {
	int node;
	char name[OOM_ZONE_NAME_SIZE];
	/* Min: ordinary allocations must leave this much free. */
	uint64_t free_bytes, min_bytes;
};

/* The machine's memory according to the report, if the report lists it (Mem-Info). */
struct oom_machine {
	bool is_known;
	uint64_t ram_bytes, free_bytes, shmem_bytes, pagetables_bytes;
	/* The kernel's LRU lists: anon includes shared memory. */
	uint64_t anon_bytes, file_bytes;
	uint64_t slab_reclaimable_bytes, slab_unreclaimable_bytes;
	uint64_t swap_total_bytes, swap_free_bytes;
	struct oom_zone zones[OOM_ZONES_MAX];
	size_t zone_count;
};

/* One line of the task table. */
struct oom_task {
	int pid; /* in the initial PID namespace */
	uint64_t uid;
	uint64_t total_vm_bytes, rss_bytes, anon_bytes, file_bytes, shmem_bytes;
	uint64_t pagetables_bytes, swap_bytes;
	int64_t score_adj;
	char name[OOM_NAME_SIZE];
};

struct oom_kill {
	enum oom_constraint constraint;
	/* Its allocation hit the limit; often not the victim. */
	char invoker[OOM_NAME_SIZE];
	int invoker_pid; /* 0: unknown */
	uint64_t order;	 /* it requested 2^order contiguous pages; COUNT_UNKNOWN */
	bool is_sysrq;	 /* a user requested the kill with SysRq f */
	struct oom_time time;
	/* The report's lines in the parsed log: byte offsets, text_end exclusive. */
	uint64_t text_begin, text_end;
	/* Cpuset of the invoker; may contain a container's id. */
	char cpuset[OOM_PATH_SIZE];
	char limit_path[OOM_PATH_SIZE];	 /* the group whose limit was reached */
	char victim_path[OOM_PATH_SIZE]; /* the victim's group */
	/*
	 * The first group whose memory.stat is listed: the group of the limit, or a group
	 * below it if the head of the report is missing.
	 */
	char stats_path[OOM_PATH_SIZE];
	struct oom_task victim; /* pid 0: no line names the victim */
	size_t killed_count;  /* processes killed; more than one with memory.oom.group */
	bool is_group_killed; /* memory.oom.group */
	/* Figures of the group whose limit was reached. */
	uint64_t usage_bytes, limit_bytes, fail_count;
	uint64_t swap_usage_bytes, swap_limit_bytes; /* v1: memory and swap together */
	uint64_t kernel_usage_bytes;		     /* v1: kmem */
	enum cgroup_version version;		     /* 0: unknown */
	struct cgroup_stat stat;
	struct oom_machine machine;
	struct oom_task *tasks;
	size_t task_count, task_capacity;
	/*
	 * The head of the report or part of its table is
	 * missing: figures are incomplete.
	 */
	bool is_cut;
};

struct oom_kill_list {
	struct oom_kill *items; /* in the order of the log */
	size_t count, capacity;
	size_t unkillable_count; /* reports that ended without a killable process */
	size_t left_out_count;	 /* kills beyond the maximum stored */
	/* Lines truncated because they are longer than any kernel line. */
	size_t cut_line_count;
};

#define OOM_KILL_LIST_INIT    \
	{                     \
		.items = NULL \
	}

void oom_kill_list_release(struct oom_kill_list *list);

#endif
