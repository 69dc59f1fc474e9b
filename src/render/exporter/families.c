/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/exporter/families.h"

#include <string.h>

const char *const metric_type_names[] = {
	[METRIC_TYPE_GAUGE] = "gauge",
	[METRIC_TYPE_COUNTER] = "counter",
	[METRIC_TYPE_INFO] = "info",
	[METRIC_TYPE_HISTOGRAM] = "histogram",
};

const char *const metric_collector_names[METRIC_COLLECTOR_COUNT_] = {
	[METRIC_COLLECTOR_PROCESSES] = "processes",
	[METRIC_COLLECTOR_OWNERS] = "owners",
	[METRIC_COLLECTOR_HEAPS] = "heaps",
	[METRIC_COLLECTOR_CGROUPS] = "cgroups",
	[METRIC_COLLECTOR_EXPORTER] = "exporter",
};

#define GAUGE METRIC_TYPE_GAUGE
#define COUNTER METRIC_TYPE_COUNTER
#define PROCESSES METRIC_COLLECTOR_PROCESSES
#define OWNERS METRIC_COLLECTOR_OWNERS
#define HEAPS METRIC_COLLECTOR_HEAPS
#define CGROUPS METRIC_COLLECTOR_CGROUPS
#define EXPORTER METRIC_COLLECTOR_EXPORTER

/* clang-format off */
const struct metric_family metric_families[METRIC_COUNT_] = {
	[METRIC_GROUP_RESIDENT] = {
		"memstate_group_resident_bytes", GAUGE, "bytes", "group,state", "", PROCESSES,
		"Resident memory of the group's processes by kernel page state. The sum over the states is Rss." },
	[METRIC_GROUP_PSS] = {
		"memstate_group_pss_bytes", GAUGE, "bytes", "group", "", PROCESSES,
		"Proportional set size: resident memory, with each shared page divided by the number of its mappings." },
	[METRIC_GROUP_SWAP] = {
		"memstate_group_swap_bytes", GAUGE, "bytes", "group", "", PROCESSES,
		"Swapped-out anonymous memory of the group's processes." },
	[METRIC_GROUP_HUGE_PAGE] = {
		"memstate_group_huge_page_bytes", GAUGE, "bytes", "group", "", PROCESSES,
		"Resident memory in transparent huge pages. Also included in memstate_group_resident_bytes." },
	[METRIC_GROUP_PROCESSES] = {
		"memstate_group_processes", GAUGE, "", "group", "", PROCESSES,
		"Number of processes whose memory is included in the group's sums." },
	[METRIC_GROUP_UNREADABLE] = {
		"memstate_group_unreadable_processes", GAUGE, "", "group", "", PROCESSES,
		"Number of processes that could not be read. If this number is not 0, the group's sums are lower bounds." },
	[METRIC_GROUP_OLDEST_START] = {
		"memstate_group_oldest_start_time_seconds", GAUGE, "seconds", "group", "", PROCESSES,
		"Start time of the group's oldest process, in seconds since 1970. This time changes when the group restarts." },
	[METRIC_GROUP_AGE] = {
		"memstate_group_age_seconds", GAUGE, "seconds", "group", "", PROCESSES,
		"Age of the oldest figure in the group's sums at the time when the sums were computed." },
	[METRIC_GROUP_OWNER] = {
		"memstate_group_owner_bytes", GAUGE, "bytes", "group,memory_owner", "--owners", OWNERS,
		"Resident memory by owner, such as stack or file. The sum over the owners is Rss. The value for the owner unknown includes changes since the mappings were read, so this value may be negative." },
	[METRIC_GROUP_OWNERS_KNOWN] = {
		"memstate_group_owners_known_processes", GAUGE, "", "group", "--owners", OWNERS,
		"Number of processes whose memory is broken down by owner. The memory of all other processes is counted in the owner unknown." },
	[METRIC_GROUP_UNBACKED] = {
		"memstate_group_unbacked_bytes", GAUGE, "bytes", "group", "--owners", OWNERS,
		"Accessible private anonymous memory that is mapped but neither resident nor in swap, for the processes whose memory is broken down by owner." },
	[METRIC_GROUP_RESERVED] = {
		"memstate_group_reserved_bytes", GAUGE, "bytes", "group", "--owners", OWNERS,
		"Private anonymous address space without access rights, for the processes whose memory is broken down by owner." },
	[METRIC_GROUP_TRIMMABLE] = {
		"memstate_group_trimmable_bytes", GAUGE, "bytes", "group", "--heap", HEAPS,
		"Memory that malloc_trim(0) would return to the kernel, for the processes whose heaps have been read." },
	[METRIC_GROUP_HEAP_KNOWN] = {
		"memstate_group_heap_known_processes", GAUGE, "", "group", "--heap", HEAPS,
		"Number of processes whose heaps have been read. The heaps of all other processes are counted in the owner anon." },
	[METRIC_CGROUP_LIMIT] = {
		"memstate_cgroup_limit_bytes", GAUGE, "bytes", "group", "", CGROUPS,
		"Lowest memory limit of the cgroup and its ancestors. Absent if there is no limit." },
	[METRIC_CGROUP_USAGE] = {
		"memstate_cgroup_usage_bytes", GAUGE, "bytes", "group", "", CGROUPS,
		"Memory charged to the cgroup whose limit applies." },
	[METRIC_CGROUP_NEED] = {
		"memstate_cgroup_need_bytes", GAUGE, "bytes", "group", "", CGROUPS,
		"Memory that the kernel cannot reclaim without swapping: usage minus page cache, LazyFree memory and reclaimable slab." },
	[METRIC_CGROUP_WORKING_SET] = {
		"memstate_cgroup_working_set_bytes", GAUGE, "bytes", "group", "", CGROUPS,
		"Usage minus inactive page cache, as computed by kubelet." },
	[METRIC_CGROUP_HIDDEN] = {
		"memstate_cgroup_hidden_bytes", GAUGE, "bytes", "group", "", CGROUPS,
		"Live anonymous pages that are on the kernel's file LRU lists and are therefore not included in the working set. Absent if unknown." },
	[METRIC_CGROUP_MEMORY] = {
		"memstate_cgroup_memory_bytes", GAUGE, "bytes", "group,part", "", CGROUPS,
		"Parts of the usage, for the largest cgroups. The value for the part unexplained may be negative." },
	[METRIC_CGROUP_NEED_GROWTH] = {
		"memstate_cgroup_need_growth_bytes_per_second", GAUGE, "bytes_per_second", "group", "", CGROUPS,
		"Growth rate of the lowest need in each cycle of the workload. The value is 0 if the need does not grow steadily, and absent until the rate can be determined." },
	[METRIC_CGROUP_LIMIT_ETA] = {
		"memstate_cgroup_limit_eta_seconds", GAUGE, "seconds", "group", "", CGROUPS,
		"Predicted time until the need reaches the limit. Absent unless the need grows steadily." },
	[METRIC_CGROUP_LIMIT_ETA_SOONEST] = {
		"memstate_cgroup_limit_eta_soonest_seconds", GAUGE, "seconds", "group", "", CGROUPS,
		"Lower bound on the predicted time until the need reaches the limit." },
	[METRIC_CGROUP_OOM_KILLS] = {
		"memstate_cgroup_oom_kills", COUNTER, "", "group", "", CGROUPS,
		"Number of the cgroup's processes that the OOM killer has killed since the exporter started. Exported until an hour after the cgroup is removed." },
	[METRIC_CGROUP_LIMIT_HITS] = {
		"memstate_cgroup_limit_hits", COUNTER, "", "group", "", CGROUPS,
		"Number of times that the usage has reached the cgroup's own limit. Most of these events do not cause an OOM kill." },
	[METRIC_CGROUP_WAITING] = {
		"memstate_cgroup_memory_waiting_seconds", COUNTER, "seconds", "group", "", CGROUPS,
		"Time during which at least one task of the cgroup waited for memory (PSI, some)." },
	[METRIC_CGROUP_STALLED] = {
		"memstate_cgroup_memory_stalled_seconds", COUNTER, "seconds", "group", "", CGROUPS,
		"Time during which all tasks of the cgroup waited for memory (PSI, full)." },
	[METRIC_OOM_VERDICTS] = {
		"memstate_oom_verdicts", COUNTER, "", "verdict", "", CGROUPS,
		"Number of OOM kills on this machine, by the reason that memstate oom explain gives. Requires the kernel log." },
	[METRIC_CGROUP_LAST_OOM_KILL] = {
		"memstate_cgroup_last_oom_kill_timestamp_seconds", GAUGE, "seconds", "group,verdict", "", CGROUPS,
		"Time of the last OOM kill in the cgroup, in seconds since 1970. Absent if there has been no kill in the last 24 hours." },
	[METRIC_BUILD] = {
		"memstate_build", METRIC_TYPE_INFO, "", "version,kernel,cgroup_version", "", EXPORTER,
		"Versions of memstate, of the kernel, and of the cgroup hierarchy with the memory controller." },
	[METRIC_COLLECT_DURATION] = {
		"memstate_collect_duration_seconds", GAUGE, "seconds", "stage", "", EXPORTER,
		"Wall time of the last collection." },
	[METRIC_COLLECT_CPU] = {
		"memstate_collect_cpu_seconds", COUNTER, "seconds", "stage", "", EXPORTER,
		"CPU time of all collections." },
	[METRIC_TARGET_LOCKED] = {
		"memstate_target_locked_seconds", COUNTER, "seconds", "", "", EXPORTER,
		"Upper bound on the time for which the exporter has held the mmap locks of processes while reading them." },
	[METRIC_HEAP_PAUSE] = {
		"memstate_heap_pause_seconds", METRIC_TYPE_HISTOGRAM, "seconds", "", "--heap", HEAPS,
		"Time for which a process was paused to read its heap." },
	[METRIC_SERIES_LEFT_OUT] = {
		"memstate_series_left_out", GAUGE, "", "", "", EXPORTER,
		"Number of series omitted because of --max-series. Groups that were merged into (rest) are not counted." },
	[METRIC_TARGETS_LATE] = {
		"memstate_targets_late", GAUGE, "", "", "", EXPORTER,
		"Number of processes that have not been read yet, because the time allowed for a collection ran out." },
	[METRIC_COLLECT_SUCCESS] = {
		"memstate_collect_success", GAUGE, "", "", "", EXPORTER,
		"1 if the exporter could list the processes in the last collection, otherwise 0." },
	[METRIC_LOOK_TIMESTAMP] = {
		"memstate_collect_timestamp_seconds", GAUGE, "seconds", "", "", EXPORTER,
		"Time at which the sums were computed, in seconds since 1970." },
	[METRIC_WEB_FILE_OK] = {
		"memstate_web_file_last_reload_successful", GAUGE, "", "", "", EXPORTER,
		"1 if the web configuration file is in effect, 0 if it could not be loaded and an earlier version remains in effect." },
	[METRIC_WEB_FILE_FAILURES] = {
		"memstate_web_file_failures", COUNTER, "", "", "", EXPORTER,
		"Number of times that the web configuration file could not be loaded." },
	[METRIC_PROCESS_CPU] = {
		"process_cpu_seconds", COUNTER, "seconds", "", "", EXPORTER,
		"CPU time of the exporter's processes." },
	[METRIC_PROCESS_RESIDENT] = {
		"process_resident_memory_bytes", GAUGE, "bytes", "", "", EXPORTER,
		"Resident memory of the exporter's processes." },
	[METRIC_PROCESS_START] = {
		"process_start_time_seconds", GAUGE, "seconds", "", "", EXPORTER,
		"Start time of the exporter in seconds since 1970." },
	[METRIC_PROCESS_OPEN_FDS] = {
		"process_open_fds", GAUGE, "", "", "", EXPORTER,
		"Number of open file descriptors of the exporter process that collects the figures." },
	[METRIC_PROCESS_MAX_FDS] = {
		"process_max_fds", GAUGE, "", "", "", EXPORTER,
		"Maximum number of open file descriptors of the exporter process that collects the figures." },
};
/* clang-format on */

const char *metric_suffix(const struct metric_family *family)
{
	switch (family->type) {
	case METRIC_TYPE_COUNTER: return "_total";
	case METRIC_TYPE_INFO: return "_info";
	default: return "";
	}
}

/* Return true if the name consists of the base and the suffix. */
static bool is_name(const char *name, size_t length, const char *base, const char *suffix)
{
	size_t base_length = strlen(base);

	return length == base_length + strlen(suffix) &&
	       memcmp(name, base, base_length) == 0 &&
	       memcmp(name + base_length, suffix, strlen(suffix)) == 0;
}

enum metric metric_find(const char *name, size_t length)
{
	static const char *const suffixes[] = { "_bucket", "_count", "_sum" };

	for (int i = 0; i < METRIC_COUNT_; i++) {
		const struct metric_family *f = &metric_families[i];

		if (is_name(name, length, f->name, "") ||
		    is_name(name, length, f->name, metric_suffix(f)))
			return (enum metric)i;
		if (f->type != METRIC_TYPE_HISTOGRAM)
			continue;
		for (size_t k = 0; k < sizeof(suffixes) / sizeof(suffixes[0]); k++)
			if (is_name(name, length, f->name, suffixes[k]))
				return (enum metric)i;
	}
	return METRIC_COUNT_;
}

void metric_families_add_list(struct strbuf *out)
{
	for (int i = 0; i < METRIC_COUNT_; i++) {
		const struct metric_family *f = &metric_families[i];

		strbuf_addf(out, "%s%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f->name,
			    metric_suffix(f), metric_type_names[f->type], f->unit,
			    f->labels, f->option, f->help,
			    metric_collector_names[f->collector]);
	}
}
