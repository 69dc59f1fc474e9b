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
	uint64_t order;		     /* of pages that it wanted: 0 is one page */
	char limit_path[OOM_PATH_SIZE]; /* the group whose limit it was */
	char victim_path[OOM_PATH_SIZE]; /* the group of the victim */
	struct oom_task victim; /* pid 0: no line says who was killed */
	size_t killed_count;	/* of this time: more than one with memory.oom.group */
	bool is_group_killed;	/* memory.oom.group */
	/* Of the group whose limit it was. */
	uint64_t usage_bytes, limit_bytes, fail_count;
	uint64_t swap_usage_bytes, swap_limit_bytes; /* v1: of memory and swap together */
	uint64_t kernel_usage_bytes;		     /* v1: kmem */
	enum cgroup_version version;		     /* 0: unknown */
	struct cgroup_stat stat;
	struct oom_task *tasks;
	size_t task_count, task_capacity;
	bool is_cut; /* the head of the report is missing, or its table: what was there is less */
};

struct oom_kill_list {
	struct oom_kill *items; /* in the order of the log */
	size_t count, capacity;
};

#define OOM_KILL_LIST_INIT { NULL, 0, 0 }

void oom_kill_list_release(struct oom_kill_list *list);

#endif
