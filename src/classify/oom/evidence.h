/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evidence - the facts about one end of a process, from the kernel's report, a
 * recording, or both. The rules evaluate this struct. Plain data, and functions that fill
 * it from a report. Pure.
 *
 * Bytes are BYTES_UNKNOWN and counts COUNT_UNKNOWN if no source has them.
 */
#ifndef MS_CLASSIFY_OOM_EVIDENCE_H
#define MS_CLASSIFY_OOM_EVIDENCE_H

#include "base/strbuf.h"
#include "classify/cgroup/figures.h"
#include "classify/growth/growth.h"
#include "classify/oom/runtime_options.h"
#include "model/oom_kill.h"

enum oom_end {
	OOM_END_KILLED, /* by the kernel, for lack of memory */
	/* The process ended; the kernel did not kill it, or the reason is unknown. */
	OOM_END_GONE,
	OOM_END_NONE, /* all processes are still running */
	OOM_END_COUNT_
};

/* Names in JSON output. */
extern const char *const oom_end_names[OOM_END_COUNT_];

/* One of the processes. pid 0: none. */
struct oom_process {
	int pid;
	char name[OOM_NAME_SIZE];
	uint64_t rss_bytes, lazyfree_bytes;
};

#define OOM_PLACE_SIZE 256

/* Where a process runs; "": unknown. */
struct oom_place {
	char group[OOM_PATH_SIZE];
	char container[OOM_PLACE_SIZE], pod[OOM_PLACE_SIZE], namespace_[OOM_PLACE_SIZE];
	char id[16]; /* first characters of the container's id */
};

/*
 * The process that grew most since its last plateau, and its mapping that grew most. With
 * is_shmem and pid 0, shared memory or a tmpfs grew and the writer is unknown.
 */
struct oom_grower {
	int pid; /* 0: none */
	char name[OOM_NAME_SIZE];
	struct oom_place place;
	uint64_t from_bytes, to_bytes;
	uint64_t ns;	   /* duration of the growth */
	bool is_new;	   /* it started after the recording began */
	bool is_restarted; /* an earlier process of the same name and group had ended */
	bool is_shmem;
	/*
	 * With is_shmem: the tmpfs file that only this process has open
	 * for writing; "": unknown.
	 */
	char file[OOM_PATH_SIZE];
	char mapping[OOM_NAME_SIZE]; /* its mapping that grew most; "": unknown */
	uint64_t mapping_from_bytes, mapping_to_bytes;
};

struct oom_evidence {
	enum oom_end end;
	const struct oom_kill *kill; /* the kernel's report, borrowed; NULL: no report */
	bool has_sample;	     /* a recording contains it */
	uint64_t unix_ms; /* when the process ended or was last seen; 0: unknown */
	enum oom_constraint constraint;
	/* The group whose limit was reached; "": unknown. */
	char limit_path[OOM_PATH_SIZE];
	char victim_path[OOM_PATH_SIZE];
	struct oom_process victim;

	/*
	 * At the time of the end: from the report, or without one from
	 * the last sample before.
	 */
	struct oom_figures at;
	uint64_t unevictable_bytes, dirty_bytes; /* dirty includes writeback */
	/*
	 * Huge pages of private memory; from a recording, the
	 * maximum of the last seconds.
	 */
	uint64_t huge_bytes;
	uint64_t swap_bytes,
		swap_limit_bytes; /* in a v1 report: memory and swap together */
	size_t process_count;
	/* Sum of all processes, and the largest process. */
	uint64_t process_bytes, largest_bytes;
	/*
	 * The kernel killed no process: the kill counts of all groups
	 * concerned did not change.
	 */
	bool is_kernel_excluded;
	/*
	 * The kill count rose but the count of the group's own limit did not: an
	 * ancestor's limit was reached.
	 */
	bool is_limit_above;

	/* The last sample before the end. */
	struct oom_figures last;
	uint64_t last_unix_ms;
	uint64_t age_ns;      /* upper bound of its age at the end; UINT64_MAX: unknown */
	uint64_t interval_ns; /* typical time between samples */
	/* Maximum of the last seconds, and the working set at that time. */
	uint64_t hidden_bytes;
	uint64_t hidden_working_set_bytes;
	uint64_t thread_count; /* sum over all processes; maximum of the last seconds */
	uint64_t stack_bytes;  /* threads' stacks, as far as mappings were read */
	/* LazyFree pages shared with other processes; maximum of the last seconds. */
	uint64_t shared_lazyfree_bytes;
	uint64_t locked_bytes, hugetlb_bytes;
	/* Private memory of processes without LazyFree; its live part in heaps. */
	uint64_t private_bytes, live_bytes;
	uint64_t swap_fail_count; /* increase since the recording began */

	/*
	 * The recording does not have the amounts of the group whose limit was hit: need is
	 * the private memory of its processes in growth, typical_bytes and low_bytes.
	 */
	bool is_need_private;
	/* All samples between the previous end and this one. */
	size_t sample_count;
	uint64_t span_ns;
	struct growth growth;	   /* growth of need before the final rise began */
	struct growth live_growth; /* growth of live bytes */
	uint64_t typical_bytes;	   /* median need */
	/* Lowest need of the last seconds, and its time before the sample. */
	uint64_t low_bytes, low_age_ns;
	struct oom_grower grower;

	/* The largest process whose runtime limits itself, and that limit. */
	struct oom_process runtime;
	struct runtime_limit runtime_limit;

	/*
	 * The process whose allocation hit the limit, according to the
	 * report. pid 0: unknown.
	 */
	struct oom_process invoker;
	struct oom_place invoker_place, victim_place;
};

/* Initialise *e with everything unknown. */
void oom_evidence_init(struct oom_evidence *e);

/*
 * Fill in the facts of a kernel report: the victim, the limit, and the state at that
 * time. Replaces what a recording said about them. The report is borrowed.
 */
void oom_evidence_set_kill(struct oom_evidence *e, const struct oom_kill *kill);

/* Return the amount that shares refer to: the limit, or usage without a limit. */
uint64_t oom_evidence_whole_bytes(const struct oom_evidence *e);

/*
 * Return the part of the limit that no known fact explains: memory allocated after the
 * last sample. Unknown if there is a report or if no process was killed.
 */
uint64_t oom_evidence_gap_bytes(const struct oom_evidence *e);

/*
 * Return by how much need rose at the very end, up to the kill. *ret_ns is set to an
 * upper bound of the duration. Unknown without a recording.
 */
uint64_t oom_evidence_rise_bytes(const struct oom_evidence *e, uint64_t *ret_ns);

enum oom_confidence {
	OOM_LOW,
	OOM_MEDIUM,
	OOM_HIGH
};

extern const char *const oom_confidence_names[OOM_HIGH + 1];

/*
 * Return how reliable the evidence is. Appends the reason to *why as a
 * phrase without a full stop.
 */
enum oom_confidence oom_evidence_confidence(const struct oom_evidence *e,
					    struct strbuf *why);

#endif
