/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scope - find the cgroup whose limit was reached, and the facts in a recording that
 * describe this cgroup.
 *
 * A recording contains the memory figures of one cgroup, and the processes in it and in
 * all cgroups below it. A kernel report may name a container of the recorded pod, or a
 * cgroup above the recorded cgroup.
 */
#ifndef MS_SAMPLE_OOM_SCOPE_H
#define MS_SAMPLE_OOM_SCOPE_H

#include "model/cgroup.h"
#include "sample/oom/notes.h"

enum oom_scope_source {
	/* the recorded memory figures are those of the cgroup whose limit was reached */
	OOM_SCOPE_AMOUNTS,
	/*
	 * the recording contains all processes of the cgroup, but not the memory figures
	 * of the cgroup as a whole
	 */
	OOM_SCOPE_PROCESSES,
	OOM_SCOPE_NOTHING /* the cgroup was recorded only in part or not at all */
};

struct oom_scope {
	/* path of the cgroup whose limit was reached, borrowed, or NULL if unknown */
	const char *path;
	enum oom_scope_source source;
};

/*
 * Find the cgroup whose limit was reached. The report may be NULL. `recorded` is the
 * cgroup in the sample before the end, or NULL if no cgroup was recorded. limit_path is
 * the path of the cgroup that owns the recorded limit, or "" if it is an ancestor whose
 * path is unknown. *ret borrows from the report and from limit_path.
 */
void oom_scope_find(const struct oom_notes *notes, const struct oom_kill *report,
		    const struct cgroup *recorded, const char *limit_path,
		    struct oom_scope *ret);

/*
 * Return true if the process that the note describes is in the cgroup or below it, or if
 * the cgroup of the process was not recorded.
 */
bool oom_scope_has(const struct oom_scope *scope, const struct oom_note *note);

/*
 * Drop the processes outside the cgroup. Return false if the cgroup of any remaining
 * process is unknown.
 */
bool oom_scope_keep(const struct oom_scope *scope, const struct oom_notes *notes,
		    struct snapshot *processes);

#endif
