/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/oom/scope.h"

#include <string.h>

static bool is_below(const char *group, const char *path)
{
	size_t length = strlen(path);

	return length <= 1 || (strncmp(group, path, length) == 0 &&
			       (group[length] == '\0' || group[length] == '/'));
}

/* Return true if a recorded process is in a cgroup below this path. */
static bool has_any_below(const struct oom_notes *notes, const char *path)
{
	for (size_t i = 0; i < notes->count; i++)
		if (notes->items[i].place.group[0] != '\0' &&
		    is_below(notes->items[i].place.group, path))
			return true;
	return false;
}

/*
 * Return the level of the cgroup hierarchy whose memory figures were recorded: the owner
 * of the limit or, without a limit, the cgroup itself.
 */
static const struct cgroup_level *find_owner(const struct cgroup *recorded)
{
	const struct cgroup_level *limit = recorded ? cgroup_tightest(recorded) : NULL;

	return !limit && recorded && recorded->level_count > 0 ? &recorded->levels[0]
							       : limit;
}

/*
 * Determine which data about the cgroup in the report was recorded. The report contains
 * paths as the host sees them. If no recorded process is below the reported path, the
 * recording may be from a cgroup namespace, where paths are different. In that case, the
 * recorded limit counts as the limit that was reached, unless the sizes of the two
 * limits differ.
 */
static enum oom_scope_source find_source(const struct oom_notes *notes,
					 const struct oom_kill *report,
					 const struct cgroup_level *owner)
{
	const char *path = report->limit_path;
	bool has_processes = has_any_below(notes, path);

	if (!owner)
		return has_processes ? OOM_SCOPE_PROCESSES : OOM_SCOPE_AMOUNTS;
	if (strcmp(path, owner->path) == 0)
		return OOM_SCOPE_AMOUNTS;
	if (is_below(owner->path, path))
		return OOM_SCOPE_NOTHING;
	/*
	 * In a cgroup namespace, the path of the limit's owner may be "/", while the
	 * report contains the host's path.
	 */
	if (has_processes || (strlen(owner->path) > 1 && is_below(path, owner->path)))
		return has_processes && is_below(path, owner->path) ? OOM_SCOPE_PROCESSES
								    : OOM_SCOPE_NOTHING;
	return bytes_known(report->limit_bytes) && bytes_known(owner->limit_bytes) &&
			       report->limit_bytes != owner->limit_bytes
		       ? OOM_SCOPE_NOTHING
		       : OOM_SCOPE_AMOUNTS;
}

void oom_scope_find(const struct oom_notes *notes, const struct oom_kill *report,
		    const struct cgroup *recorded, const char *limit_path,
		    struct oom_scope *ret)
{
	const char *path = report ? report->limit_path : "";

	*ret = (struct oom_scope){ .source = OOM_SCOPE_AMOUNTS };
	if (path[0] == '\0' && report && report->constraint != OOM_CGROUP)
		return;
	if (path[0] != '\0')
		ret->source = find_source(notes, report, find_owner(recorded));
	if (path[0] == '\0' ||
	    (ret->source == OOM_SCOPE_AMOUNTS && !has_any_below(notes, path)))
		path = limit_path;
	if (path[0] != '\0' &&
	    (ret->source != OOM_SCOPE_AMOUNTS || has_any_below(notes, path)))
		ret->path = path;
}

bool oom_scope_has(const struct oom_scope *scope, const struct oom_note *note)
{
	return !scope->path || !note || note->place.group[0] == '\0' ||
	       is_below(note->place.group, scope->path);
}

bool oom_scope_keep(const struct oom_scope *scope, const struct oom_notes *notes,
		    struct snapshot *processes)
{
	bool are_known = true;
	size_t kept = 0;

	for (size_t i = 0; i < processes->count; i++) {
		struct usage *u = &processes->usages[i];
		const struct oom_note *note = oom_notes_find(notes, &u->process);

		if (!oom_scope_has(scope, note)) {
			usage_release(u);
			continue;
		}
		if (process_has_memory(&u->process))
			are_known &= note && note->place.group[0] != '\0';
		processes->usages[kept++] = *u;
	}
	processes->count = kept;
	return are_known;
}
