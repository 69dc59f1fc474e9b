/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evidence - the facts about the end of one process, from the kernel's report, a
 * recording, or both. The rules declared in verdict.h evaluate these facts. The functions
 * are pure.
 *
 * If no source contains a value, it is BYTES_UNKNOWN or COUNT_UNKNOWN.
 */
#ifndef MS_CLASSIFY_OOM_EVIDENCE_H
#define MS_CLASSIFY_OOM_EVIDENCE_H

#include "base/strbuf.h"
#include "classify/cgroup/figures.h"
#include "classify/growth/growth.h"
#include "classify/oom/runtime_options.h"
#include "model/oom_kill.h"

enum oom_end {
	OOM_END_KILLED, /* the kernel killed the process because memory ran out */
	/* The process ended, but the kernel did not kill it, or the reason is unknown. */
	OOM_END_GONE,
	OOM_END_NONE, /* all processes are still running */
	OOM_END_COUNT_
};

/* Names of the kinds of process end in JSON output. */
extern const char *const oom_end_names[OOM_END_COUNT_];

/* A process. If pid is 0, the struct does not describe any process. */
struct oom_process {
	int pid;
	char name[OOM_NAME_SIZE];
	uint64_t rss_bytes, lazyfree_bytes;
};

#define OOM_PLACE_SIZE 256

/* The cgroup, container and pod of a process. Unknown texts are "". */
struct oom_place {
	char group[OOM_PATH_SIZE];
	char container[OOM_PLACE_SIZE], pod[OOM_PLACE_SIZE], namespace_[OOM_PLACE_SIZE];
	char id[16]; /* first characters of the container ID */
};

/*
 * The process that has grown most since its last plateau, and the mapping that grew most
 * in that process. If is_shmem is set and pid is 0, shared memory or a tmpfs grew, and
 * the process that wrote it is unknown.
 */
struct oom_grower {
	int pid; /* 0: none */
	char name[OOM_NAME_SIZE];
	struct oom_place place;
	uint64_t from_bytes, to_bytes;
	uint64_t ns; /* duration of the growth in ns */
	bool is_new; /* the process started after the recording began */
	/*
	 * an earlier process with the same name in the same cgroup had ended
	 * before this process started
	 */
	bool is_restarted;
	bool is_shmem;
	/*
	 * If is_shmem is set: the growing tmpfs file, which no other process has open for
	 * writing. "": unknown.
	 */
	char file[OOM_PATH_SIZE];
	/* name of the mapping that grew most in the process; "": unknown */
	char mapping[OOM_NAME_SIZE];
	/*
	 * Sizes of that mapping, and of all mappings of the process, at two readings of
	 * the mappings. The readings may be older than the samples from which from_bytes
	 * and to_bytes were taken.
	 */
	uint64_t mapping_from_bytes, mapping_to_bytes;
	uint64_t mappings_from_bytes, mappings_to_bytes;
};

struct oom_evidence {
	enum oom_end end;
	/* the kernel's report about the kill, borrowed; NULL: no report */
	const struct oom_kill *kill;
	bool has_sample; /* the process is part of a recording */
	/* time when the process ended or was last seen; 0: unknown */
	uint64_t unix_ms;
	enum oom_constraint constraint;
	/* Path of the cgroup whose limit was reached; "": unknown. */
	char limit_path[OOM_PATH_SIZE];
	char victim_path[OOM_PATH_SIZE];
	struct oom_process victim;

	/*
	 * State of the cgroup when the process ended. The state is from the kernel's
	 * report or, without a report, from the last sample before the end.
	 */
	struct oom_figures at;
	/* dirty_bytes includes pages that are under writeback */
	uint64_t unevictable_bytes, dirty_bytes;
	/*
	 * Private memory in huge pages; if taken from a recording, the
	 * maximum of the last seconds.
	 */
	uint64_t huge_bytes;
	uint64_t swap_bytes,
		/* from a report of cgroup v1: the combined limit of memory and swap */
		swap_limit_bytes;
	size_t process_count;
	/* Memory of all processes together, and memory of the largest process. */
	uint64_t process_bytes, largest_bytes;
	/*
	 * The kernel did not kill any process: the kill counters of all
	 * relevant cgroups did not change.
	 */
	bool is_kernel_excluded;
	/*
	 * The limit of an ancestor was reached: the cgroup's kill counter rose, but the
	 * counter for its own limit did not.
	 */
	bool is_limit_above;

	/* Figures of the last sample before the process ended. */
	struct oom_figures last;
	uint64_t last_unix_ms;
	/*
	 * Upper bound on the time from the last sample to the end of the process;
	 * UINT64_MAX: unknown.
	 */
	uint64_t age_ns;
	uint64_t interval_ns; /* typical time between two samples, in ns */
	/*
	 * Maximum of the hidden memory in the last seconds, and the working set at the
	 * time of that maximum. Hidden memory is not included in any working set.
	 */
	uint64_t hidden_bytes;
	uint64_t hidden_working_set_bytes;
	/*
	 * number of threads of all processes together, as the maximum of the last seconds
	 */
	uint64_t thread_count;
	/* sum of the thread stacks of all processes whose mappings were read */
	uint64_t stack_bytes;
	/*
	 * LazyFree pages that processes share with others, as the
	 * maximum of the last seconds.
	 */
	uint64_t shared_lazyfree_bytes;
	uint64_t locked_bytes, hugetlb_bytes;
	/*
	 * Private memory of all processes without LazyFree, and the
	 * live part of their heaps.
	 */
	uint64_t private_bytes, live_bytes;
	/*
	 * number of attempts to swap out memory that failed during the
	 * recording because swap was full
	 */
	uint64_t swap_fail_count;

	/*
	 * The recording lacks the figures of the cgroup whose limit was reached. In
	 * growth, typical_bytes and low_bytes, the processes' private memory is used
	 * instead of the cgroup's memory need.
	 */
	bool is_need_private;
	/*
	 * Number of samples since the previous end of a process, and the time from the
	 * first to the last of these samples.
	 */
	size_t sample_count;
	uint64_t span_ns;
	/* growth of the memory need before its final rise */
	struct growth growth;
	struct growth live_growth; /* growth of live heap memory */
	uint64_t typical_bytes;	   /* median of need */
	/*
	 * Minimum of the memory need in the last seconds, and the age of that
	 * minimum at the last sample.
	 */
	uint64_t low_bytes, low_age_ns;
	struct oom_grower grower;

	/*
	 * The largest process whose language runtime limits its own
	 * memory, and the runtime's limit.
	 */
	struct oom_process runtime;
	struct runtime_limit runtime_limit;

	/*
	 * The process whose allocation reached the limit, according to the kernel's
	 * report. pid 0: unknown.
	 */
	struct oom_process invoker;
	struct oom_place invoker_place, victim_place;
};

/* Set all facts in *e to unknown. */
void oom_evidence_init(struct oom_evidence *e);

/*
 * Set the facts from a kernel report: the victim, the limit, and the state at the time of
 * the kill. These facts replace those from a recording. The report is borrowed.
 */
void oom_evidence_set_kill(struct oom_evidence *e, const struct oom_kill *kill);

/*
 * Return the amount to which percentages refer: the limit or, without
 * a limit, the memory usage.
 */
uint64_t oom_evidence_base_bytes(const struct oom_evidence *e);

/*
 * Return the part of the limit that no known fact explains, which must have been
 * allocated after the last sample. The result is unknown if there is a kernel report or
 * if no process was killed.
 */
uint64_t oom_evidence_gap_bytes(const struct oom_evidence *e);

/*
 * Return how much the memory need rose immediately before the kill, and set *ret_ns to an
 * upper bound on the duration of the rise. Without a recording, the result is unknown.
 */
uint64_t oom_evidence_rise_bytes(const struct oom_evidence *e, uint64_t *ret_ns);

enum oom_confidence {
	OOM_LOW,
	OOM_MEDIUM,
	OOM_HIGH
};

extern const char *const oom_confidence_names[OOM_HIGH + 1];

/*
 * Return how reliable the evidence is. Append the reason to *why as a
 * phrase without a full stop.
 */
enum oom_confidence oom_evidence_confidence(const struct oom_evidence *e,
					    struct strbuf *why);

#endif
