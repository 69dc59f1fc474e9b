/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scope - the group whose limit was hit, and which facts of a recording are about it.
 *
 * A recording has the amounts of one group, and processes of that group and of all groups
 * below it. A report may name a container of the recorded pod, or a group above it.
 */
#ifndef MS_SAMPLE_OOM_SCOPE_H
#define MS_SAMPLE_OOM_SCOPE_H

#include "model/cgroup.h"
#include "sample/oom/notes.h"

enum oom_scope_source {
	OOM_SCOPE_AMOUNTS,   /* the recorded amounts are of this group */
	OOM_SCOPE_PROCESSES, /* only its processes were recorded, and all of them */
	OOM_SCOPE_NOTHING    /* the recording shows at most a part of the group */
};

struct oom_scope {
	const char *path; /* borrowed; NULL: unknown */
	enum oom_scope_source source;
};

/*
 * Find the group whose limit was hit. The report may be NULL. recorded is the sample
 * before the end, or NULL if no group was recorded. limit_path is the recorded group that
 * owns the limit; "": an unknown group above. *ret borrows from the report and limit_path.
 */
void oom_scope_find(const struct oom_notes *notes, const struct oom_kill *report,
		    const struct cgroup *recorded, const char *limit_path,
		    struct oom_scope *ret);

/*
 * Return true if the process of the note is below the group. A process whose group was
 * not recorded counts, too.
 */
bool oom_scope_has(const struct oom_scope *scope, const struct oom_note *note);

/*
 * Drop the processes of other groups. Return false if the group of a remaining process is
 * unknown.
 */
bool oom_scope_keep(const struct oom_scope *scope, const struct oom_notes *notes,
		    struct snapshot *processes);

#endif
