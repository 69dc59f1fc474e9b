/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording - store samples over time in one file, with bounds on time and size.
 *
 * A recording contains values as reported by the kernel and by heap reads,
 * without conclusions from them. Values that have not changed since the last
 * sample are not written again.
 *
 * Each sample is one transaction. If memstate is killed, the file can still be opened and
 * has all samples except perhaps the last one. Data is written to the disk within a
 * second or two, so a power loss costs only the samples of the last second or two. Not
 * thread-safe.
 */
#ifndef MS_STORE_RECORDING_RECORDING_H
#define MS_STORE_RECORDING_RECORDING_H

#include <stdint.h>

#include "model/cgroup.h"
#include "model/usage.h"

struct recording;

/*
 * Return the reason for the last -EBADMSG that a function returned in this thread. The
 * string may quote the file, and is valid until the next -EBADMSG.
 */
const char *recording_damage(void);

/*
 * Upper bounds on the time span and the size of a recording; 0 means no bound. If the
 * recording exceeds a bound, memstate removes the oldest samples.
 */
struct recording_bounds {
	uint64_t ns, bytes;
};

struct recorded_event {
	uint64_t unix_ms;
	const char *kind, *text; /* `text` is NULL if the event has no text */
	int pid;		 /* pid of the process concerned, or 0 */
};

struct recording_moment {
	uint64_t unix_ms;
	uint64_t elapsed_ns; /* time since the session began; never decreases */
	uint64_t cost_ns;    /* elapsed time that memstate spent on the sample */
};

/*
 * Begin a session in a new file or an existing recording. Return 0; -EOPNOTSUPP if
 * SQLite is not installed; -EEXIST if path exists and is not a recording; -ENOTSUP if the
 * recording has a newer version; -EBUSY if another process is writing to it; -EBADMSG if
 * it is damaged; or -errno. The caller closes *ret with recording_close().
 */
int recording_open(const char *path, const struct recording_bounds *bounds,
		   struct recording **ret);

/*
 * Close the recording. A sample that has begun but not ended is discarded. NULL
 * is allowed.
 */
void recording_close(struct recording *recording);

/*
 * Adding a sample takes three steps: begin the sample, add its contents, and end it. Each
 * function returns 0 or -errno (-ENOSPC, …). After an error, the sample is discarded, and
 * the caller may begin another sample. Events may also be added between samples.
 */
int recording_begin(struct recording *recording);
int recording_add_usage(struct recording *recording, const struct usage *usage);
/*
 * Add the usage of a process and all its mappings, with SOURCE_SMAPS as the source.
 * (recording_add_usage() stores no mappings, and replaces SOURCE_SMAPS by
 * SOURCE_ROLLUP.) The owners of the mappings must be set. They show which mappings
 * contain a thread's stack, and how many bytes of each mapping belong to the heap.
 */
int recording_add_mappings(struct recording *recording, const struct usage *usage,
			   const struct mapping_list *mappings);
int recording_add_cgroup(struct recording *recording, const struct cgroup *cgroup);
int recording_add_event(struct recording *recording, const struct recorded_event *event);
/*
 * Add a note about a process, which applies for as long as the process keeps its current
 * name. Return -EINVAL if the process was not added to this sample.
 */
int recording_add_note(struct recording *recording, const struct process *process,
		       const char *kind, const char *text);
/* End the sample. Processes that were not added to the sample are recorded as gone. */
int recording_end(struct recording *recording, const struct recording_moment *moment);

#endif
