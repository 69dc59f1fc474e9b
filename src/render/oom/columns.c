/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stddef.h>
#include <string.h>

#include "base/units.h"
#include "render/oom/report.h"

static const struct cgroup *cgroup_of(const void *row)
{
	return ((const struct oom_row *)row)->cgroup;
}

/*
 * Set *ret to a figure of a cgroup. If the figure is a limit that is not set, *ret stays
 * unknown.
 */
static void set_figure(struct value *ret, uint64_t figure)
{
	if (figure != CGROUP_NO_LIMIT)
		value_set_amount(ret, figure);
}

static void get_time(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_amount(ret, cgroup_of(row)->unix_ms);
}

static void get_elapsed(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_amount(ret, ((const struct oom_row *)row)->elapsed_ns);
}

static void get_path(const void *row, int arg, struct value *ret)
{
	const struct cgroup *c = cgroup_of(row);

	(void)arg;
	value_set_text(ret, c->level_count > 0 ? c->levels[0].path : NULL);
}

static void get_limit_path(const void *row, int arg, struct value *ret)
{
	const struct cgroup_level *level = cgroup_tightest(cgroup_of(row));

	(void)arg;
	value_set_text(ret, level ? level->path : NULL);
}

/* Get a figure of the cgroup. `arg` is an offset in struct oom_figures. */
static void get_figure(const void *row, int arg, struct value *ret)
{
	uint64_t number;

	memcpy(&number, (const char *)((const struct oom_row *)row)->figures + arg,
	       sizeof(number));
	set_figure(ret, number);
}

/* Get a name derived from the cgroup's path. `arg` is a value of enum cgroup_name. */
static void get_name(const void *row, int arg, struct value *ret)
{
	value_set_text(ret, cgroup_of(row)->names[arg]);
}

static void get_process_count(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_amount(ret, cgroup_of(row)->pid_count);
}

/* Get a figure of the cgroup itself. `arg` is an offset in struct cgroup_level. */
static void get_own(const void *row, int arg, struct value *ret)
{
	const struct cgroup *c = cgroup_of(row);
	uint64_t number = BYTES_UNKNOWN;

	if (c->level_count > 0)
		memcpy(&number, (const char *)&c->levels[0] + arg, sizeof(number));
	set_figure(ret, number);
}

/*
 * Get a figure of the cgroup whose limit applies, which may be an ancestor. `arg` is an
 * offset in struct cgroup_level.
 */
static void get_owner(const void *row, int arg, struct value *ret)
{
	const struct cgroup_level *level = cgroup_tightest(cgroup_of(row));
	uint64_t number = BYTES_UNKNOWN;

	if (level)
		memcpy(&number, (const char *)level + arg, sizeof(number));
	set_figure(ret, number);
}

/* Get the memory pressure of the cgroup. `arg` is an offset in struct cgroup_pressure. */
static void get_pressure(const void *row, int arg, struct value *ret)
{
	const struct cgroup *c = cgroup_of(row);
	uint64_t ns = BYTES_UNKNOWN;

	if (c->has_pressure)
		memcpy(&ns, (const char *)&c->pressure + arg, sizeof(ns));
	value_set_amount(ret, ns);
}

#define FIGURE(name, heading, field, help)                                   \
	{                                                                    \
		name, heading, help, VALUE_BYTES, true, 0,                   \
			(int)offsetof(struct oom_figures, field), get_figure \
	}
#define COUNT(name, heading, field, help)                                    \
	{                                                                    \
		name, heading, help, VALUE_COUNT, true, 0,                   \
			(int)offsetof(struct oom_figures, field), get_figure \
	}
#define LEVEL(name, heading, kind, get, field, help)                   \
	{                                                              \
		name, heading, help, kind, true, 0,                    \
			(int)offsetof(struct cgroup_level, field), get \
	}
#define NAME(name, heading, which, help)                                                 \
	{                                                                                \
		name, heading, help, VALUE_TEXT, false, 0, CGROUP_NAME_##which, get_name \
	}

static const struct column columns[] = {
	{ "time", "TIME", "time of the sample, RFC 3339 UTC", VALUE_TIME, false, 0, 0,
	  get_time },
	{ "elapsed_s", "ELAPSED", "seconds since the series began", VALUE_SECONDS, false,
	  0, 0, get_elapsed },
	{ "cgroup", "CGROUP", "the group, as /proc/PID/cgroup names it", VALUE_TEXT,
	  false, 0, 0, get_path },
	{ "limit_cgroup", "OF",
	  "the group that has the tightest limit: itself, or a group "
	  "above it",
	  VALUE_TEXT, false, 0, 0, get_limit_path },
	FIGURE("limit_bytes", "LIMIT", limit_bytes,
	       "the tightest limit of the group and all groups above it"),
	FIGURE("usage_bytes", "USAGE", usage_bytes,
	       "memory charged to the group that owns the limit"),
	FIGURE("need_bytes", "NEED", need_bytes,
	       "part of usage: cannot be reclaimed without swap"),
	FIGURE("headroom_bytes", "HEADROOM", headroom_bytes, "the limit minus need"),
	FIGURE("live_anon_bytes", "ANON", live_anon_bytes,
	       "part of need: anonymous memory without LazyFree"),
	FIGURE("shmem_bytes", "SHMEM", shmem_bytes,
	       "part of need: shared memory, and files on tmpfs; they stay after their "
	       "processes exit"),
	FIGURE("kernel_bytes", "KERNEL", kernel_bytes,
	       "part of need: the kernel's own memory for the group, without "
	       "reclaimable slab"),
	FIGURE("sock_bytes", "SOCK", sock_bytes,
	       "part of need: network buffers (0 in version 1, which has another limit "
	       "for them)"),
	FIGURE("lazyfree_bytes", "LAZYFREE", lazyfree_bytes,
	       "reclaimable: freed with MADV_FREE, and not shared"),
	FIGURE("file_bytes", "FILE", file_bytes, "reclaimable: page cache without shmem"),
	FIGURE("slab_reclaimable_bytes", "SLAB", slab_reclaimable_bytes,
	       "reclaimable: the kernel's caches (unknown in version 1, where they are "
	       "in kernel_bytes)"),
	FIGURE("working_set_bytes", "WSET", working_set_bytes,
	       "usage minus inactive files, as shown by kubectl top"),
	FIGURE("hidden_bytes", "HIDDEN", hidden_bytes,
	       "live memory outside the working set: it was freed with MADV_FREE, and "
	       "written again"),
	FIGURE("process_bytes", "PSS", process_bytes,
	       "Pss of all processes of the group"),
	FIGURE("unaccounted_bytes", "LEFT", unaccounted_bytes,
	       "charged, but in no process: files left on a tmpfs, processes that are "
	       "not visible"),
	FIGURE("kernel_stack_bytes", "STACKS", kernel_stack_bytes,
	       "part of kernel: the threads' stacks"),
	FIGURE("pagetables_bytes", "TABLES", pagetables_bytes,
	       "part of kernel: page "
	       "tables"),
	FIGURE("percpu_bytes", "PERCPU", percpu_bytes,
	       "part of kernel: memory for each CPU"),
	FIGURE("vmalloc_bytes", "VMALLOC", vmalloc_bytes,
	       "part of kernel: vmalloc areas"),
	FIGURE("slab_unreclaimable_bytes", "SLABU", slab_unreclaimable_bytes,
	       "part of kernel: unreclaimable slab"),
	FIGURE("other_kernel_bytes", "OTHER", other_kernel_bytes,
	       "part of kernel: memory that it does not itemize, such as pipe buffers"),
	FIGURE("pipe_limit_bytes", "PIPES", pipe_limit_bytes,
	       "part of kernel, version 1: upper bound of the pages of pipes that its "
	       "processes have open"),
	COUNT("pipe_count", "PIPECNT", pipe_count,
	      "version 1: pipes that its processes have open"),
	FIGURE("inode_slab_bytes", "INODES", inode_slab_bytes,
	       "part of kernel, version 1 before Linux 5.9: slab of inodes and names "
	       "of files"),
	FIGURE("socket_slab_bytes", "SOCKSLAB", socket_slab_bytes,
	       "part of kernel, version 1 before Linux 5.9: slab of sockets"),
	COUNT("socket_count", "SOCKETS", socket_count,
	      "version 1: sockets that its processes have open"),
	FIGURE("tcp_bytes", "TCP", tcp_bytes,
	       "version 1: TCP buffers, charged to a limit of their own; unknown "
	       "without that limit"),
	FIGURE("swap_bytes", "SWAP", swap_bytes, "on swap"),
	FIGURE("slack_bytes", "SLACK", slack_bytes,
	       "maximum error of the kernel's amounts"),
	{ "process_count", "PROCS", "processes of the group that owns the limit",
	  VALUE_COUNT, true, 0, 0, get_process_count },
	LEVEL("peak_bytes", "PEAK", VALUE_BYTES, get_owner, peak_bytes,
	      "the highest usage so far"),
	LEVEL("high_bytes", "HIGH", VALUE_BYTES, get_own, high_bytes,
	      "the group's own memory.high: above it, the kernel slows it down"),
	LEVEL("max_count", "MAX", VALUE_COUNT, get_owner, max_count,
	      "how often the limit was reached; most such events do not "
	      "cause a kill"),
	LEVEL("oom_count", "OOM", VALUE_COUNT, get_owner, oom_count,
	      "how often the kernel could not reclaim enough memory"),
	LEVEL("oom_kill_count", "KILLS", VALUE_COUNT, get_own, oom_kill_count,
	      "processes of the group itself that the OOM killer killed"),
	{ "pressure_some_s", "STALLED",
	  "time that some of the group's tasks waited for memory, since the group was "
	  "created (PSI; version 2)",
	  VALUE_SECONDS, true, 0, (int)offsetof(struct cgroup_pressure, some_ns),
	  get_pressure },
	{ "pressure_full_s", "STUCK",
	  "time that all runnable tasks of the group waited for memory "
	  "(PSI; version 2)",
	  VALUE_SECONDS, true, 0, (int)offsetof(struct cgroup_pressure, full_ns),
	  get_pressure },
	NAME("container", "CONTAINER", CONTAINER,
	     "the container's name, according to the machine's files"),
	NAME("pod", "POD", POD, "the pod's name"),
	NAME("namespace", "NAMESPACE", NAMESPACE, "the pod's namespace"),
	NAME("runtime", "RUNTIME", RUNTIME,
	     "docker, containerd, cri-o, podman, lxc, or cri if the path does not show "
	     "which of kubelet's runtimes it is"),
	NAME("container_id", "ID", CONTAINER_ID, "the container's id"),
	NAME("pod_uid", "UID", POD_UID, "the pod's uid"),
	NAME("qos", "QOS", QOS, "the pod's class: guaranteed, burstable, besteffort"),
	NAME("unit", "UNIT", UNIT, "systemd's service or scope"),
};

const struct column_set oom_columns = {
	.columns = columns,
	.count = sizeof(columns) / sizeof(columns[0]),
	.csv_default =
		"time,elapsed_s,cgroup,limit_cgroup,limit_bytes,usage_bytes,need_bytes,"
		"headroom_bytes,live_anon_bytes,shmem_bytes,kernel_bytes,sock_bytes,"
		"lazyfree_bytes,file_bytes,slab_reclaimable_bytes,working_set_bytes,"
		"hidden_bytes,process_bytes,unaccounted_bytes,swap_bytes,process_count,"
		"max_count,oom_kill_count,container,pod,namespace",
	.table_default = "",
};
