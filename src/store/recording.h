/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording - samples over time in one file, bounded in time and size, for later: facts as
 * the kernel and the walks gave them, nothing that was concluded from them.
 *
 * What did not change since the last sample is not written again. Each sample is one
 * transaction: whoever ends this program at any moment, the file opens, and has all
 * samples but perhaps the last one. What has been written is on the disk within a second
 * or two, so that a loss of power costs no more. Not for several threads at once.
 */
#ifndef MS_STORE_RECORDING_H
#define MS_STORE_RECORDING_H

#include <stdint.h>

#include "model/cgroup.h"
#include "model/usage.h"

struct recording;

/*
 * Why the last function of this thread that returned -EBADMSG did so. The text may quote the
 * file, and is valid until the next call.
 */
const char *recording_damage(void);

/* What a file keeps at most; 0: no bound. The oldest samples go first. */
struct recording_bounds {
	uint64_t ns, bytes;
};

struct recorded_event {
	uint64_t unix_ms;
	const char *kind, *text; /* text may be NULL */
	int pid;		 /* 0: none */
};

struct recording_moment {
	uint64_t unix_ms;
	uint64_t elapsed_ns; /* since this session began; never less than before */
	uint64_t cost_ns;    /* of taking the sample */
};

/*
 * Begin a session in a new file, or in one that is a recording already. Returns 0;
 * -EOPNOTSUPP: SQLite is not there; -EEXIST: there is something else; -ENOTSUP: it is of a
 * newer version; -EBUSY: another one records there; -EBADMSG: it is damaged; or -errno.
 */
int recording_open(const char *path, const struct recording_bounds *bounds,
		   struct recording **ret);

/* Ends an unfinished sample as if it had not begun. NULL is fine. */
void recording_close(struct recording *recording);

/*
 * A sample: begun, filled, ended. Any of these returns 0, or -errno (-ENOSPC, …) after
 * which the sample is given up, and the next one may be tried. Events may also be added
 * between two samples.
 */
int recording_begin(struct recording *recording);
int recording_add_usage(struct recording *recording, const struct usage *usage);
/*
 * All mappings of a usage, which is added too, as of SOURCE_SMAPS; of another source it is
 * only with these. Owners are looked at to tell where threads have their stacks.
 */
int recording_add_mappings(struct recording *recording, const struct usage *usage,
			   const struct mapping_list *mappings);
int recording_add_cgroup(struct recording *recording, const struct cgroup *cgroup);
int recording_add_event(struct recording *recording, const struct recorded_event *event);
/*
 * Add something that is true of a process for as long as it has its name, in a sample to
 * which the process was added. -EINVAL if it was not.
 */
int recording_add_note(struct recording *recording, const struct process *process,
		       const char *kind, const char *text);
/* Processes that were not added are gone. */
int recording_end(struct recording *recording, const struct recording_moment *moment);

#endif
