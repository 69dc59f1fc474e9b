/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_evidence - what is known of one end of a process, from the kernel's report, from a
 * recording, or from both: what rules are told from. Plain data, and how it is filled from
 * a report. Pure.
 *
 * Bytes are BYTES_UNKNOWN and counts COUNT_UNKNOWN where nothing tells.
 */
#ifndef MS_CLASSIFY_OOM_EVIDENCE_H
#define MS_CLASSIFY_OOM_EVIDENCE_H

#include "base/strbuf.h"
#include "classify/growth.h"
#include "classify/oom_figures.h"
#include "classify/runtime_options.h"
#include "model/oom_kill.h"

enum oom_end {
	OOM_END_KILLED, /* by the kernel, for want of memory */
	OOM_END_GONE, /* it ended, and that was not the kernel's doing, or cannot be told */
	OOM_END_NONE, /* all live on */
	OOM_END_COUNT_
};

/* As JSON has them. */
extern const char *const oom_end_names[OOM_END_COUNT_];

/* One of the processes. pid 0: nobody. */
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
	char id[16]; /* the first characters of the container's id */
};

/*
 * Which process grew most since its last plateau, and which of its mappings. With is_shmem
 * and without a process it was shared memory or a tmpfs, by an unknown writer.
 */
struct oom_grower {
	int pid; /* 0: none */
	char name[OOM_NAME_SIZE];
	struct oom_place place;
	uint64_t from_bytes, to_bytes;
	uint64_t ns;	  /* how long that took */
	bool is_new;	  /* it was not there when the recording began */
	bool is_restarted; /* an earlier process of the same name and group had ended */
	bool is_shmem;
	/* With is_shmem: the file on tmpfs that it alone has open for writing; "": unknown. */
	char file[OOM_PATH_SIZE];
	char mapping
		[OOM_NAME_SIZE]; /* of its mappings the one that grew most; "": not known */
	uint64_t mapping_from_bytes, mapping_to_bytes;
};

struct oom_evidence {
	enum oom_end end;
	const struct oom_kill
		*kill;	  /* the kernel's report, borrowed; NULL: there is none */
	bool has_sample;  /* a recording has it */
	uint64_t unix_ms; /* when it ended, or was last seen; 0: unknown */
	enum oom_constraint constraint;
	char limit_path[OOM_PATH_SIZE]; /* the group whose limit it was; "": unknown */
	char victim_path[OOM_PATH_SIZE];
	struct oom_process victim;

	/* At that time: by the report; without one, of the last sample before it. */
	struct oom_figures at;
	uint64_t unevictable_bytes, dirty_bytes; /* dirty: writeback too */
	uint64_t huge_bytes; /* of private memory; of a recording the most of the last seconds */
	uint64_t swap_bytes,
		swap_limit_bytes; /* v1's report: of memory and swap together */
	size_t process_count;
	uint64_t process_bytes, largest_bytes; /* of all processes, and the most of one */
	/* The kernel killed nobody: its counts of all groups that are meant stayed the same. */
	bool is_kernel_excluded;
	/* The count of kills rose, the one of the group's own limit did not: it is one above. */
	bool is_limit_above;

	/* The last sample before it. */
	struct oom_figures last;
	uint64_t last_unix_ms;
	uint64_t age_ns;       /* how long before the end, at most; UINT64_MAX: unknown */
	uint64_t interval_ns;  /* between samples, usually */
	uint64_t hidden_bytes; /* the most of the last seconds, and the working set then */
	uint64_t hidden_working_set_bytes;
	uint64_t thread_count; /* of all processes, the most of the last seconds */
	uint64_t stack_bytes;  /* of threads' stacks, as far as mappings were read */
	uint64_t shared_lazyfree_bytes; /* LazyFree that others have too: the most of the last seconds */
	uint64_t locked_bytes, hugetlb_bytes;
	uint64_t private_bytes, live_bytes; /* of processes, without LazyFree; of that, in heaps */
	uint64_t swap_fail_count; /* more of them since the recording began */

	/* Of all samples before it, since the end before this one. */
	size_t sample_count;
	uint64_t span_ns;
	struct growth growth;	      /* of need, before rise_ns began */
	struct growth live_growth;    /* of live bytes */
	uint64_t typical_bytes;	      /* of need, the middle one */
	uint64_t low_bytes, low_age_ns; /* the least need of the last seconds, before the sample */
	struct oom_grower grower;

	/* The largest process whose runtime sets itself a limit, and that limit. */
	struct oom_process runtime;
	struct runtime_limit runtime_limit;

	/* Whose allocation hit the limit, as the report names it. pid 0: unknown. */
	struct oom_process invoker;
	struct oom_place invoker_place, victim_place;
};

/* Nothing is known. */
void oom_evidence_init(struct oom_evidence *e);

/*
 * A kernel's report, which must live as long: who, whose limit, and all that was so at that
 * time. What a recording said of that is replaced.
 */
void oom_evidence_set_kill(struct oom_evidence *e, const struct oom_kill *kill);

/* What shares are of: the limit, or usage where there is none. */
uint64_t oom_evidence_whole_bytes(const struct oom_evidence *e);

/*
 * What of the limit nothing that is known explains: what came after the last sample.
 * Unknown where there is a report, or nobody was killed.
 */
uint64_t oom_evidence_gap_bytes(const struct oom_evidence *e);

/*
 * What need rose by at the very end, up to the kill, and how long that took at most.
 * Unknown without a recording.
 */
uint64_t oom_evidence_rise_bytes(const struct oom_evidence *e, uint64_t *ret_ns);

enum oom_confidence {
	OOM_LOW,
	OOM_MEDIUM,
	OOM_HIGH
};

extern const char *const oom_confidence_names[OOM_HIGH + 1];

/* How well all that is known; why, in words that end no sentence, is appended. */
enum oom_confidence oom_evidence_confidence(const struct oom_evidence *e,
					    struct strbuf *why);

#endif
