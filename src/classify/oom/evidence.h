/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evidence - the facts about the end of a process, from the kernel's report, a recording,
 * or both. The rules in verdict.h evaluate these facts. The functions are pure.
 *
 * A value that no source contains is BYTES_UNKNOWN or COUNT_UNKNOWN.
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
	/* the process ended, but the kernel did not kill it, or the reason is unknown */
	OOM_END_GONE,
	OOM_END_NONE, /* all processes are still running */
	OOM_END_COUNT_
};

/* Names of the ways in which a process ended (enum oom_end), for JSON output. */
extern const char *const oom_end_names[OOM_END_COUNT_];

/* Identity and memory of a process; pid is 0 if there is no process. */
struct oom_process {
	int pid;
	char name[OOM_NAME_SIZE];
	uint64_t rss_bytes, lazyfree_bytes;
};

#define OOM_PLACE_SIZE 256

/* The cgroup, container and pod of a process. Unknown strings are empty. */
struct oom_place {
	char group[OOM_PATH_SIZE];
	char container[OOM_PLACE_SIZE], pod[OOM_PLACE_SIZE], namespace_[OOM_PLACE_SIZE];
	char id[16]; /* first characters of the container ID */
};

/*
 * The process with the largest growth since its last plateau, and the mapping that grew
 * most in this process. If is_shmem is set and pid is 0, shared memory or a tmpfs grew,
 * and the process that wrote to it is unknown.
 */
struct oom_grower {
	int pid; /* 0: none */
	char name[OOM_NAME_SIZE];
	struct oom_place place;
	uint64_t from_bytes, to_bytes;
	uint64_t ns; /* duration of the growth in ns */
	bool is_new; /* true if the process started after the recording began */
	/*
	 * true if an earlier process of the same name and cgroup ended before this
	 * process started
	 */
	bool is_restarted;
	bool is_shmem;
	/*
	 * The growing tmpfs file, if is_shmem is set and no other process has the file
	 * open for writing; "" if unknown.
	 */
	char file[OOM_PATH_SIZE];
	/* name of the mapping that grew most in the process; "": unknown */
	char mapping[OOM_NAME_SIZE];
	/*
	 * Sizes of the mapping that grew most, and of all mappings of the process, at two
	 * readings of the mappings. The readings may be older than the samples for
	 * from_bytes and to_bytes.
	 */
	uint64_t mapping_from_bytes, mapping_to_bytes;
	uint64_t mappings_from_bytes, mappings_to_bytes;
};

struct oom_evidence {
	/*
	 * how the process ended. With OOM_END_NONE, "ended" in the comments below refers
	 * to the end of the recording
	 */
	enum oom_end end;
	/* the kernel's report on the kill, borrowed; NULL: no report */
	const struct oom_kill *kill;
	bool has_sample; /* true if the recording contains the process */
	/* time when the process ended or was last seen; 0: unknown */
	uint64_t unix_ms;
	enum oom_constraint constraint;
	/* Path of the cgroup whose limit was reached; "": unknown. */
	char limit_path[OOM_PATH_SIZE];
	char victim_path[OOM_PATH_SIZE];
	struct oom_process victim;

	/*
	 * State of the cgroup when the process ended: from the kernel's report or,
	 * without a report, from the last sample before the process ended.
	 */
	struct oom_figures at;
	/* dirty_bytes includes pages under writeback */
	uint64_t unevictable_bytes, dirty_bytes;
	/*
	 * private memory in huge pages; in a recording, the maximum in the final seconds
	 * before the process ended
	 */
	uint64_t huge_bytes;
	uint64_t swap_bytes,
		/* combined limit of memory and swap, from a cgroup v1 report */
		swap_limit_bytes;
	size_t process_count;
	/* memory of all processes together, and of the largest process */
	uint64_t process_bytes, largest_bytes;
	/*
	 * true if the kernel did not kill any process, because no relevant kill
	 * counter changed
	 */
	bool is_kernel_excluded;
	/*
	 * True if the limit of an ancestor was reached: the cgroup's kill counter rose,
	 * but the counter of events at its own limit did not.
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
	 * Maximum of hidden_bytes in the final seconds before the process ended, and the
	 * working set at the time of this maximum. The working set excludes hidden
	 * memory.
	 */
	uint64_t hidden_bytes;
	uint64_t hidden_working_set_bytes;
	/*
	 * maximum of the total number of threads in the final seconds before the process
	 * ended
	 */
	uint64_t thread_count;
	/* sum of the thread stacks of all processes whose mappings were read */
	uint64_t stack_bytes;
	/*
	 * maximum size of the LazyFree pages that several processes share, in the final
	 * seconds before the process ended
	 */
	uint64_t shared_lazyfree_bytes;
	uint64_t locked_bytes, hugetlb_bytes;
	/*
	 * sums over all processes: private memory except LazyFree pages, and live heap
	 * memory
	 */
	uint64_t private_bytes, live_bytes;
	/*
	 * number of attempts to swap out memory during the recording that failed because
	 * swap was full
	 */
	uint64_t swap_fail_count;

	/*
	 * True if the recording lacks the figures of the cgroup whose limit was reached.
	 * The members growth, typical_bytes and low_bytes then describe the private
	 * memory of the processes instead of the cgroup's memory need.
	 */
	bool is_need_private;
	/*
	 * number of samples in the recording since the previous end of a process (or
	 * since the start of the recording), up to this end, and the time that these
	 * samples cover
	 */
	size_t sample_count;
	uint64_t span_ns;
	/* growth of the memory need up to the final seconds before the process ended */
	struct growth growth;
	struct growth live_growth; /* growth of live heap memory */
	/* median of the memory need (memory that cannot be reclaimed) */
	uint64_t typical_bytes;
	/*
	 * minimum of the memory need in the final seconds before the process ended, and
	 * the time from this minimum to the last sample
	 */
	uint64_t low_bytes, low_age_ns;
	struct oom_grower grower;

	/*
	 * the largest process whose language runtime limits its own memory, and
	 * that limit
	 */
	struct oom_process runtime;
	struct runtime_limit runtime_limit;

	/*
	 * process whose allocation reached the limit, from the kernel's report; pid
	 * 0: unknown
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
 * Return the amount that percentages refer to: the limit or, without a limit, the
 * memory usage.
 */
uint64_t oom_evidence_base_bytes(const struct oom_evidence *e);

/*
 * Return the part of the limit that no known fact explains. That memory must have been
 * allocated after the last sample. The result is unknown if the kernel's report states
 * the memory usage, if the recording contains no sample or no limit, or if no process was
 * killed.
 */
uint64_t oom_evidence_gap_bytes(const struct oom_evidence *e);

/*
 * Return the rise of the memory need (memory that cannot be reclaimed) immediately before
 * the kill, and set *ret_ns to an upper bound on its duration. Without a recording, the
 * result is unknown.
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
