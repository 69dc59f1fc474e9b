/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_kill - one time that the kernel killed for want of memory, as its log tells it. Plain
 * data.
 *
 * Bytes are BYTES_UNKNOWN, counts COUNT_UNKNOWN and texts "" where the log does not tell,
 * as the kernel was older, or lines are missing.
 */
#ifndef MS_MODEL_OOM_KILL_H
#define MS_MODEL_OOM_KILL_H

#include "model/cgroup.h"

#define OOM_NAME_SIZE 64
#define OOM_PATH_SIZE 512

enum oom_constraint {
	OOM_UNKNOWN,
	OOM_CGROUP, /* the limit of a group */
	OOM_GLOBAL, /* the machine had no more */
	OOM_NODES,  /* those of a cpuset or a memory policy had no more */
};

#define OOM_TIME_SIZE 40

/* When a line was logged, as far as its prefix tells. */
struct oom_time {
	uint64_t unix_ms;	  /* 0: unknown, as without a time zone or a year */
	uint64_t boot_us;	  /* since boot; COUNT_UNKNOWN */
	char text[OOM_TIME_SIZE]; /* the date as the log has it; "": none */
};

#define OOM_ZONES_MAX	   16
#define OOM_ZONE_NAME_SIZE 16

struct oom_zone {
	int node;
	char name[OOM_ZONE_NAME_SIZE];
	uint64_t free_bytes, min_bytes; /* min: what ordinary allocations must leave free */
};

/* The machine's memory as of a report that lists it (Mem-Info). */
struct oom_machine {
	bool is_known;
	uint64_t ram_bytes, free_bytes, shmem_bytes, pagetables_bytes;
	uint64_t anon_bytes, file_bytes; /* the kernel's lists: shared memory is in anon */
	uint64_t slab_reclaimable_bytes, slab_unreclaimable_bytes;
	uint64_t swap_total_bytes, swap_free_bytes;
	struct oom_zone zones[OOM_ZONES_MAX];
	size_t zone_count;
};

/* A line of the table of tasks. */
struct oom_task {
	int pid; /* as of the initial namespace */
	uint64_t uid;
	uint64_t total_vm_bytes, rss_bytes, anon_bytes, file_bytes, shmem_bytes;
	uint64_t pagetables_bytes, swap_bytes;
	int64_t score_adj;
	char name[OOM_NAME_SIZE];
};

struct oom_kill {
	enum oom_constraint constraint;
	char invoker[OOM_NAME_SIZE]; /* whose allocation hit the limit; often not the victim */
	int invoker_pid;	     /* 0: unknown */
	uint64_t order; /* it asked for 2^order pages in a row; COUNT_UNKNOWN */
	bool is_sysrq;	/* a person asked for the kill: SysRq f */
	struct oom_time time;
	char cpuset[OOM_PATH_SIZE]; /* of the invoker; a container's may have its id */
	char limit_path[OOM_PATH_SIZE]; /* the group whose limit it was */
	char victim_path[OOM_PATH_SIZE]; /* the group of the victim */
	/* The first group whose memory.stat is listed: the limit's or, if the head is missing, one below. */
	char stats_path[OOM_PATH_SIZE];
	struct oom_task victim; /* pid 0: no line says who was killed */
	size_t killed_count;	/* of this time: more than one with memory.oom.group */
	bool is_group_killed;	/* memory.oom.group */
	/* Of the group whose limit it was. */
	uint64_t usage_bytes, limit_bytes, fail_count;
	uint64_t swap_usage_bytes, swap_limit_bytes; /* v1: of memory and swap together */
	uint64_t kernel_usage_bytes;		     /* v1: kmem */
	enum cgroup_version version;		     /* 0: unknown */
	struct cgroup_stat stat;
	struct oom_machine machine;
	struct oom_task *tasks;
	size_t task_count, task_capacity;
	bool is_cut; /* the head of the report is missing, or its table: what was there is less */
};

struct oom_kill_list {
	struct oom_kill *items; /* in the order of the log */
	size_t count, capacity;
	size_t unkillable_count; /* reports that ended with no process that may be killed */
	size_t left_out_count;	 /* kills beyond what is kept */
	size_t cut_line_count;	 /* lines whose end was ignored: longer than any of a kernel's */
};

#define OOM_KILL_LIST_INIT { .items = NULL }

void oom_kill_list_release(struct oom_kill_list *list);

#endif
