/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_kill - one out-of-memory kill as reported in the kernel log. Plain data.
 *
 * If the log does not contain a value, a byte amount is BYTES_UNKNOWN, a count is
 * COUNT_UNKNOWN, and a string is empty. Older kernels omit some values, and lines
 * may be missing.
 */
#ifndef MS_MODEL_OOM_KILL_H
#define MS_MODEL_OOM_KILL_H

#include "model/cgroup.h"

#define OOM_NAME_SIZE 64
#define OOM_PATH_SIZE 512

enum oom_constraint {
	OOM_UNKNOWN,
	OOM_CGROUP, /* a cgroup had reached its limit */
	OOM_GLOBAL, /* the machine ran out of memory */
	OOM_NODES,  /* the nodes allowed by a cpuset or memory policy ran out of memory */
};

#define OOM_TIME_SIZE 40

/*
 * The time at which a line was logged. The precision depends on the prefix of the line.
 */
struct oom_time {
	/*
	 * wall-clock time; 0 if unknown, for example because the prefix has no year or
	 * time zone
	 */
	uint64_t unix_ms;
	/* time since boot; COUNT_UNKNOWN if the prefix of the line does not contain it */
	uint64_t boot_us;
	char text[OOM_TIME_SIZE]; /* the date as printed in the log; "" if none */
};

#define OOM_ZONES_MAX 16
#define OOM_ZONE_NAME_SIZE 16

struct oom_zone {
	int node;
	char name[OOM_ZONE_NAME_SIZE];
	/* min_bytes is the amount that ordinary allocations must leave free. */
	uint64_t free_bytes, min_bytes;
};

/*
 * The machine's memory, from the lines after "Mem-Info". Some reports lack these lines.
 */
struct oom_machine {
	bool is_known;
	uint64_t ram_bytes, free_bytes, shmem_bytes, pagetables_bytes;
	/* Amounts on the kernel's LRU lists. anon_bytes includes shared memory. */
	uint64_t anon_bytes, file_bytes;
	uint64_t slab_reclaimable_bytes, slab_unreclaimable_bytes;
	uint64_t swap_total_bytes, swap_free_bytes;
	struct oom_zone zones[OOM_ZONES_MAX];
	size_t zone_count;
};

/* One line of the report's table of tasks. */
struct oom_task {
	int pid; /* pid in the initial PID namespace */
	uint64_t uid;
	uint64_t total_vm_bytes, rss_bytes, anon_bytes, file_bytes, shmem_bytes;
	uint64_t pagetables_bytes, swap_bytes;
	int64_t score_adj;
	char name[OOM_NAME_SIZE];
};

struct oom_kill {
	enum oom_constraint constraint;
	/*
	 * Name of the process whose allocation failed. The victim is often another
	 * process.
	 */
	char invoker[OOM_NAME_SIZE];
	int invoker_pid; /* pid of the process whose allocation failed; 0 if unknown */
	/*
	 * Order of the failed allocation, which requested 2^order contiguous pages.
	 * COUNT_UNKNOWN if not in the log.
	 */
	uint64_t order;
	bool is_sysrq; /* true if a user requested the kill with SysRq-F */
	struct oom_time time;
	/*
	 * The range of the report's lines in the parsed log, as byte offsets. text_end is
	 * exclusive.
	 */
	uint64_t text_begin, text_end;
	/*
	 * The cpuset of the process whose allocation failed. Its name may contain a
	 * container's id.
	 */
	char cpuset[OOM_PATH_SIZE];
	char limit_path[OOM_PATH_SIZE];	 /* the cgroup whose limit was reached */
	char victim_path[OOM_PATH_SIZE]; /* the victim's cgroup */
	/*
	 * The first cgroup whose memory.stat the report lists. This is the cgroup
	 * whose limit was reached, or a cgroup below it if the beginning of the
	 * report is missing.
	 */
	char stats_path[OOM_PATH_SIZE];
	/* the killed process; pid is 0 if no line names the victim */
	struct oom_task victim;
	/* Number of killed processes, which may exceed 1 with memory.oom.group. */
	size_t killed_count;
	/* True if the kernel killed the whole cgroup because of memory.oom.group. */
	bool is_group_killed;
	/* Figures of the cgroup whose limit was reached. */
	uint64_t usage_bytes, limit_bytes, fail_count;
	/* cgroup v1: usage and limit of memory plus swap */
	uint64_t swap_usage_bytes, swap_limit_bytes;
	uint64_t kernel_usage_bytes; /* cgroup v1: kernel memory (kmem) */
	/* the cgroup version; 0 if unknown */
	enum cgroup_version version;
	struct cgroup_stat stat;
	struct oom_machine machine;
	struct oom_task *tasks;
	size_t task_count, task_capacity;
	/*
	 * True if the beginning of the report or part of its table of tasks is missing,
	 * so the figures are incomplete.
	 */
	bool is_cut;
	/*
	 * True if memory.stat in the report is out of date, because the kernel had not
	 * updated it before it printed the report. memstate assumes this if the amounts
	 * account for less than half of usage_bytes. stat.anon_bytes is then the sum over
	 * the table of tasks, or unknown. The other amounts in stat are unknown, except
	 * kernel_bytes of cgroup v1.
	 */
	bool is_stat_stale;
};

struct oom_kill_list {
	struct oom_kill *items; /* kills in the order of the log */
	size_t count, capacity;
	/* Number of reports in which the kernel found no process to kill. */
	size_t unkillable_count;
	size_t left_out_count; /* number of kills omitted because the list was full */
	/*
	 * Number of lines that memstate truncated, because they were longer than any line
	 * that the kernel writes.
	 */
	size_t cut_line_count;
};

#define OOM_KILL_LIST_INIT    \
	{                     \
		.items = NULL \
	}

void oom_kill_list_release(struct oom_kill_list *list);

#endif
