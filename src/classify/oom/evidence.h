/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evidence - the facts about the end of one process, from the kernel's report, a
 * recording, or both. The rules of verdict.h evaluate these facts. Pure.
 *
 * Bytes are BYTES_UNKNOWN and counts COUNT_UNKNOWN if no source contains them.
 */
#ifndef MS_CLASSIFY_OOM_EVIDENCE_H
#define MS_CLASSIFY_OOM_EVIDENCE_H

#include "base/strbuf.h"
#include "classify/cgroup/figures.h"
#include "classify/growth/growth.h"
#include "classify/oom/runtime_options.h"
#include "model/oom_kill.h"

enum oom_end {
	OOM_END_KILLED, /* killed by the kernel because memory ran out */
	/* The process ended, but the kernel did not kill it, or the reason is unknown. */
	OOM_END_GONE,
	OOM_END_NONE, /* all processes are still running */
	OOM_END_COUNT_
};

/* Names of the kinds of end in JSON output. */
extern const char *const oom_end_names[OOM_END_COUNT_];

/* A process; pid 0 means that there is no process. */
struct oom_process {
	int pid;
	char name[OOM_NAME_SIZE];
	uint64_t rss_bytes, lazyfree_bytes;
};

#define OOM_PLACE_SIZE 256

/* Where a process runs. Unknown texts are "". */
struct oom_place {
	char group[OOM_PATH_SIZE];
	char container[OOM_PLACE_SIZE], pod[OOM_PLACE_SIZE], namespace_[OOM_PLACE_SIZE];
	char id[16]; /* first characters of the container id */
};

/*
 * The process that grew most since its last plateau, and the mapping of that
 * process that grew most. If is_shmem is set and pid is 0, shared memory or a
 * tmpfs grew, and the writer is unknown.
 */
struct oom_grower {
	int pid; /* 0: none */
	char name[OOM_NAME_SIZE];
	struct oom_place place;
	uint64_t from_bytes, to_bytes;
	uint64_t ns; /* duration of the growth in ns */
	bool is_new; /* the process started after the recording began */
	/* an earlier process with the same name in the same cgroup had ended */
	bool is_restarted;
	bool is_shmem;
	/*
	 * If is_shmem: the tmpfs file that no other process has
	 * open for writing; "": unknown.
	 */
	char file[OOM_PATH_SIZE];
	/* mapping of the process that grew most; "": unknown */
	char mapping[OOM_NAME_SIZE];
	/*
	 * Memory of this mapping, and of all mappings of the process, at two readings of
	 * the mappings. The readings may be older than the samples that from_bytes and
	 * to_bytes are from.
	 */
	uint64_t mapping_from_bytes, mapping_to_bytes;
	uint64_t mappings_from_bytes, mappings_to_bytes;
};

struct oom_evidence {
	enum oom_end end;
	const struct oom_kill *kill; /* the kernel's report, borrowed; NULL: no report */
	bool has_sample;	     /* a recording contains the process */
	uint64_t unix_ms; /* when the process ended or was last seen; 0: unknown */
	enum oom_constraint constraint;
	/* Path of the cgroup whose limit was reached; "": unknown. */
	char limit_path[OOM_PATH_SIZE];
	char victim_path[OOM_PATH_SIZE];
	struct oom_process victim;

	/*
	 * State at the end of the process: from the kernel's report or, without a
	 * report, from the last sample before the end.
	 */
	struct oom_figures at;
	/* dirty_bytes includes pages under writeback */
	uint64_t unevictable_bytes, dirty_bytes;
	/*
	 * Huge pages of private memory. If taken from a recording, the
	 * maximum of the last seconds.
	 */
	uint64_t huge_bytes;
	uint64_t swap_bytes,
		/* in a report of cgroup v1, the limit of memory and swap together */
		swap_limit_bytes;
	size_t process_count;
	/* Memory of all processes together, and of the largest process. */
	uint64_t process_bytes, largest_bytes;
	/*
	 * The kernel killed no process: the kill counts of all
	 * cgroups concerned did not change.
	 */
	bool is_kernel_excluded;
	/*
	 * An ancestor's limit was reached: the kill count rose, but the count
	 * for the cgroup's own limit did not.
	 */
	bool is_limit_above;

	/* The last sample before the end. */
	struct oom_figures last;
	uint64_t last_unix_ms;
	/* upper bound on the last sample's age at the end; UINT64_MAX: unknown */
	uint64_t age_ns;
	uint64_t interval_ns; /* typical time between two samples */
	/*
	 * Maximum of hidden memory in the last seconds, and the
	 * working set at that time.
	 */
	uint64_t hidden_bytes;
	uint64_t hidden_working_set_bytes;
	/* number of threads of all processes; maximum of the last seconds */
	uint64_t thread_count;
	/* thread stacks of all processes whose mappings were read */
	uint64_t stack_bytes;
	/* LazyFree pages shared with other processes; maximum of the last seconds. */
	uint64_t shared_lazyfree_bytes;
	uint64_t locked_bytes, hugetlb_bytes;
	/*
	 * Private memory of all processes, not counting LazyFree, and
	 * the live part of their heaps.
	 */
	uint64_t private_bytes, live_bytes;
	/*
	 * number of swap-outs that failed because swap was full,
	 * since the recording began
	 */
	uint64_t swap_fail_count;

	/*
	 * The recording lacks the figures of the cgroup whose limit was hit. In growth,
	 * typical_bytes and low_bytes, the private memory of all processes replaces the
	 * memory need.
	 */
	bool is_need_private;
	/*
	 * Number of samples between the previous end of a process and this end, and the
	 * duration from the first to the last sample.
	 */
	size_t sample_count;
	uint64_t span_ns;
	/* growth of the memory need before the final rise began */
	struct growth growth;
	struct growth live_growth; /* growth of live memory */
	uint64_t typical_bytes;	   /* median of need */
	/*
	 * Lowest memory need of the last seconds, and its age at the time of the
	 * last sample.
	 */
	uint64_t low_bytes, low_age_ns;
	struct oom_grower grower;

	/* The largest process whose runtime limits its own memory, and that limit. */
	struct oom_process runtime;
	struct runtime_limit runtime_limit;

	/*
	 * The process whose allocation hit the limit, according to the
	 * kernel's report. pid 0: unknown.
	 */
	struct oom_process invoker;
	struct oom_place invoker_place, victim_place;
};

/* Set all facts in *e to unknown. */
void oom_evidence_init(struct oom_evidence *e);

/*
 * Fill in the facts of a kernel report: the victim, the limit, and the state at the
 * time of the kill. Facts from a recording are replaced. The report is borrowed.
 */
void oom_evidence_set_kill(struct oom_evidence *e, const struct oom_kill *kill);

/*
 * Return the amount that percentages refer to: the limit or,
 * without a limit, the usage.
 */
uint64_t oom_evidence_base_bytes(const struct oom_evidence *e);

/*
 * Return the part of the limit that no known fact explains: memory that was allocated
 * after the last sample. Unknown if there is a report, or if no process was killed.
 */
uint64_t oom_evidence_gap_bytes(const struct oom_evidence *e);

/*
 * Return how much the memory need rose immediately before the kill, and set *ret_ns to an
 * upper bound on the duration. Unknown without a recording.
 */
uint64_t oom_evidence_rise_bytes(const struct oom_evidence *e, uint64_t *ret_ns);

enum oom_confidence {
	OOM_LOW,
	OOM_MEDIUM,
	OOM_HIGH
};

extern const char *const oom_confidence_names[OOM_HIGH + 1];

/*
 * Return how reliable the evidence is. Append the reason to *why,
 * as a phrase without a full stop.
 */
enum oom_confidence oom_evidence_confidence(const struct oom_evidence *e,
					    struct strbuf *why);

#endif
