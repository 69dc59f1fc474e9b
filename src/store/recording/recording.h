/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording - store samples over time in one file, bounded in time and size. It stores
 * facts as the kernel and the heap walks gave them, and no conclusions from them.
 *
 * Values that have not changed since the last sample are not written again. Each sample
 * is one transaction: if memstate is killed at any moment, the file still opens and has
 * all samples except perhaps the last one. Data is written to the disk within a second or
 * two, so a power loss costs no more than that. Not thread-safe.
 */
#ifndef MS_STORE_RECORDING_RECORDING_H
#define MS_STORE_RECORDING_RECORDING_H

#include <stdint.h>

#include "model/cgroup.h"
#include "model/usage.h"

struct recording;

/*
 * Return why the last function in this thread that returned -EBADMSG did so. The text may
 * quote the file and is valid until the next call.
 */
const char *recording_damage(void);

/*
 * Upper bounds for a file, in time and size; 0: no bound. The
 * oldest samples are removed first.
 */
struct recording_bounds {
	uint64_t ns, bytes;
};

struct recorded_event {
	uint64_t unix_ms;
	const char *kind, *text; /* text may be NULL */
	int pid;		 /* 0: not about a process */
};

struct recording_moment {
	uint64_t unix_ms;
	uint64_t elapsed_ns; /* since this session began; never decreases */
	uint64_t cost_ns;    /* time spent on taking the sample */
};

/*
 * Begin a session in a new file or an existing recording. Returns 0; -EOPNOTSUPP if
 * SQLite is not installed; -EEXIST if path is something other than a recording; -ENOTSUP
 * if the recording has a newer version; -EBUSY if another process is recording there;
 * -EBADMSG if it is damaged; or -errno. The caller closes *ret with recording_close().
 */
int recording_open(const char *path, const struct recording_bounds *bounds,
		   struct recording **ret);

/* Close the recording. An unfinished sample is discarded. NULL is allowed. */
void recording_close(struct recording *recording);

/*
 * The steps of a sample: begin it, add its content, end it. Each function returns 0, or
 * -errno (-ENOSPC, …) after which the sample is discarded and the next one may be tried.
 * Events may also be added between samples.
 */
int recording_begin(struct recording *recording);
int recording_add_usage(struct recording *recording, const struct usage *usage);
/*
 * Add a usage and all its mappings. The usage is stored with source SOURCE_SMAPS, which
 * recording_add_usage() replaces with SOURCE_ROLLUP because it stores no mappings. The
 * mappings' owners are used to mark those with a thread's stack.
 */
int recording_add_mappings(struct recording *recording, const struct usage *usage,
			   const struct mapping_list *mappings);
int recording_add_cgroup(struct recording *recording, const struct cgroup *cgroup);
int recording_add_event(struct recording *recording, const struct recorded_event *event);
/*
 * Add a note that holds for a process as long as it has its current name. Returns -EINVAL
 * if the process was not added to this sample.
 */
int recording_add_note(struct recording *recording, const struct process *process,
		       const char *kind, const char *text);
/* End the sample. Processes that were not added to it are recorded as gone. */
int recording_end(struct recording *recording, const struct recording_moment *moment);

#endif
