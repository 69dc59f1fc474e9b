/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/exporter/places.h"

#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/search.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/cgroup/container_names.h"
#include "proc/process/file.h"
#include "sample/process/container_files.h"

/*
 * Time for which the cgroup of a process is cached. A new process is looked up again in
 * each round, because runtimes and systemd move a process after they have started it.
 */
#define CHECK_NS (60 * NS_PER_S)
#define NEW_NS (30 * NS_PER_S)

/* Maximum number of cached user names. Further users are shown by their uid. */
#define USERS_MAX 1000

struct place_process {
	int pid;
	uint64_t start_ticks;
	struct process_cgroup *cgroup; /* NULL: unknown */
	uint64_t first_ns, checked_ns, seen_ns;
};

void places_init(struct places *places, const struct procfs *fs, enum grouping grouping)
{
	*places = (struct places){ .fs = fs, .grouping = grouping };
	places->mount = (struct cgroup_mount)CGROUP_MOUNT_INIT;
	places->has_mount = cgroup_mount_find(fs, &places->mount) == 0;
	group_name_set_word(&places->rest, GROUP_NAME_REST);
}

static void place_free(struct place *place)
{
	free(place->path);
	group_name_release(&place->name);
	free(place);
}

static void process_cgroup_free(struct process_cgroup *cgroup)
{
	free(cgroup->path);
	free(cgroup);
}

void places_release(struct places *places)
{
	for (size_t i = 0; i < places->count; i++)
		place_free(places->items[i]);
	for (size_t i = 0; i < places->cgroup_count; i++)
		process_cgroup_free(places->cgroups[i]);
	for (size_t i = 0; i < places->user_count; i++)
		free(places->users[i].name);
	free(places->items);
	free(places->cgroups);
	free(places->processes);
	free(places->users);
	group_name_release(&places->rest);
	group_name_release(&places->word);
	if (places->has_mount)
		cgroup_mount_release(&places->mount);
}

void places_begin(struct places *places, uint64_t now_ns)
{
	places->now_ns = now_ns;
}

/*
 * Return the grouping that determines the names of cgroups: the grouping of the processes
 * if it is by cgroup, otherwise GROUPING_AUTO.
 */
static enum grouping cgroup_grouping(const struct places *places)
{
	return grouping_is_by_cgroup(places->grouping) ? places->grouping : GROUPING_AUTO;
}

/*
 * Append the full path of a cgroup, which starts at the root of the hierarchy. If the
 * path of the highest visible cgroup is unknown, start at that cgroup.
 */
static void add_full_path(const struct places *places, const char *path,
			  struct strbuf *out)
{
	const char *root = places->mount.root;

	if (places->has_mount && root && strcmp(root, "/") != 0 && !strstr(root, ".."))
		strbuf_add_text(out, root);
	strbuf_add_text(out, path);
}

/*
 * Find the names of the container, the pod and the unit. pid is a process in the
 * cgroup, or 0.
 */
static void find_names(const struct places *places, const char *path, int pid,
		       char *names[CGROUP_NAME_COUNT_])
{
	_cleanup_close_ int root_fd = -1;

	container_names_find(path, names);
	if (!names[CGROUP_NAME_CONTAINER_ID] && !names[CGROUP_NAME_POD_UID])
		return;
	root_fd = container_files_open_root(places->fs);
	if (root_fd >= 0)
		container_files_find(root_fd, path, names);
	if (pid > 0)
		container_files_find_pod(places->fs, pid, names);
}

static bool is_matched(const struct places *places, const char *name)
{
	for (size_t i = 0; i < places->pattern_count; i++)
		if (regexec(&places->patterns[i], name, 0, NULL, 0) == 0)
			return true;
	return places->pattern_count == 0;
}

static void set_name(const struct places *places, const char *path, int pid,
		     struct group_name *ret)
{
	_cleanup_strbuf_ struct strbuf full = STRBUF_INIT;
	char *names[CGROUP_NAME_COUNT_] = { NULL };

	add_full_path(places, path, &full);
	find_names(places, strbuf_text(&full), pid, names);
	group_name_set_cgroup(ret, cgroup_grouping(places), strbuf_text(&full), names);
	cgroup_names_clear(names);
}

/*
 * `path` is the path of a cgroup, relative to the highest cgroup that is visible to
 * memstate. Return the length of its prefix that is the path of the cgroup that gives the
 * group its name, such as a container. Return 0 if that cgroup is the highest visible
 * cgroup or above it.
 */
static size_t find_length(const struct places *places, const char *path)
{
	_cleanup_strbuf_ struct strbuf full = STRBUF_INIT;
	size_t length, hidden;

	add_full_path(places, path, &full);
	hidden = full.length - strlen(path);
	length = group_name_find_cgroup(cgroup_grouping(places), strbuf_text(&full));
	return length > hidden ? length - hidden : 0;
}

/*
 * Return true if memstate does not read the files of the cgroup with this name: it is
 * "(rest)", or processes are grouped by cgroup and the name does not match any pattern.
 */
static bool is_left_out(const struct places *places, const char *name)
{
	return strcmp(name, GROUP_NAME_REST) == 0 ||
	       (grouping_is_by_cgroup(places->grouping) && !is_matched(places, name));
}

static struct place *find_place(struct places *places, const char *path, int pid)
{
	size_t at =
		SEARCH_FIRST(places->count, i, strcmp(places->items[i]->path, path) >= 0);
	struct place *place;

	if (at < places->count && strcmp(places->items[at]->path, path) == 0)
		return places->items[at];
	place = xcalloc(1, sizeof(*place));
	place->path = xstrdup(path);
	set_name(places, path, pid, &place->name);
	place->is_left_out = is_left_out(places, place->name.group);
	place->is_old = !places->has_looked;
	places->items = xgrow(places->items, &places->capacity, places->count + 1,
			      sizeof(*places->items));
	memmove(places->items + at + 1, places->items + at,
		(places->count - at) * sizeof(*places->items));
	places->items[at] = place;
	places->count++;
	return place;
}

static struct process_cgroup *find_cgroup(struct places *places, const char *path,
					  int pid)
{
	size_t at = SEARCH_FIRST(places->cgroup_count, i,
				 strcmp(places->cgroups[i]->path, path) >= 0);
	_cleanup_free_ char *above = NULL;
	struct process_cgroup *cgroup;

	if (at < places->cgroup_count && strcmp(places->cgroups[at]->path, path) == 0)
		return places->cgroups[at];
	above = xstrndup(path, find_length(places, path));
	cgroup = xcalloc(1, sizeof(*cgroup));
	cgroup->path = xstrdup(path);
	cgroup->place = find_place(places, above, pid);
	places->cgroups = xgrow(places->cgroups, &places->cgroup_capacity,
				places->cgroup_count + 1, sizeof(*places->cgroups));
	memmove(places->cgroups + at + 1, places->cgroups + at,
		(places->cgroup_count - at) * sizeof(*places->cgroups));
	places->cgroups[at] = cgroup;
	places->cgroup_count++;
	return cgroup;
}

static struct place_process *find_process(struct places *places, const struct process *p)
{
	size_t at = SEARCH_FIRST(places->process_count, i,
				 places->processes[i].pid >= p->pid);
	struct place_process *found;

	if (at == places->process_count || places->processes[at].pid != p->pid) {
		places->processes = xgrow(places->processes, &places->process_capacity,
					  places->process_count + 1,
					  sizeof(*places->processes));
		memmove(places->processes + at + 1, places->processes + at,
			(places->process_count - at) * sizeof(*places->processes));
		places->process_count++;
		places->processes[at].start_ticks = UINT64_MAX;
	}
	found = &places->processes[at];
	if (found->start_ticks != p->start_ticks)
		*found = (struct place_process){ .pid = p->pid,
						 .start_ticks = p->start_ticks,
						 .first_ns = places->now_ns };
	return found;
}

/* Return true if the cgroup of the process must be read. */
static bool is_due(const struct places *places, const struct place_process *process)
{
	return process->checked_ns == 0 || places->now_ns - process->first_ns < NEW_NS ||
	       places->now_ns - process->checked_ns >= CHECK_NS;
}

static struct process_cgroup *read_cgroup(struct places *places, const struct process *p)
{
	struct place_process *process = find_process(places, p);
	_cleanup_free_ char *path = NULL;

	process->seen_ns = places->now_ns;
	if (is_due(places, process)) {
		process->cgroup = NULL;
		process->checked_ns = places->now_ns;
		if (cgroup_mount_path_of(&places->mount, places->fs, p->pid, &path) == 0)
			process->cgroup = find_cgroup(places, path, p->pid);
	}
	if (process->cgroup) {
		process->cgroup->seen_ns = places->now_ns;
		process->cgroup->place->seen_ns = places->now_ns;
	}
	return process->cgroup;
}

/*
 * Find the name of a user in /etc/passwd. Do not query the other sources of
 * nsswitch.conf, because a server that does not answer would block the exporter.
 */
static char *read_user(uint32_t uid)
{
	FILE *file = fopen("/etc/passwd", "re");
	struct passwd *entry;
	struct strbuf name = STRBUF_INIT;

	while (file && (entry = fgetpwent(file)))
		if (entry->pw_uid == uid) {
			strbuf_add_text(&name, entry->pw_name);
			break;
		}
	if (file)
		fclose(file);
	if (name.length == 0)
		strbuf_addf(&name, "%" PRIu32, uid);
	return strbuf_take(&name);
}

static const char *find_user(struct places *places, uint32_t uid)
{
	for (size_t i = 0; i < places->user_count; i++)
		if (places->users[i].uid == uid)
			return places->users[i].name;
	if (places->user_count == USERS_MAX)
		free(places->users[--places->user_count].name);
	places->users = xgrow(places->users, &places->user_capacity,
			      places->user_count + 1, sizeof(*places->users));
	places->users[places->user_count] = (struct user_name){ uid, read_user(uid) };
	return places->users[places->user_count++].name;
}

/* Find the base name of the program; "?" if the program cannot be read. */
static void set_program(struct places *places, const struct process *p)
{
	char path[PATH_MAX];
	const char *slash;

	if (proc_file_read_link(places->fs, p->pid, PROC_EXE, path, sizeof(path)) < 0) {
		group_name_set_word(&places->word, "?");
		return;
	}
	slash = strrchr(path, '/');
	group_name_set_word(&places->word, slash ? slash + 1 : path);
}

static const struct group_name *find_name(struct places *places, const struct process *p,
					  const struct process_cgroup *cgroup)
{
	switch (places->grouping) {
	case GROUPING_COMM: group_name_set_word(&places->word, p->comm); break;
	case GROUPING_EXE: set_program(places, p); break;
	case GROUPING_USER:
		group_name_set_word(&places->word, find_user(places, p->uid));
		break;
	default: return cgroup ? &cgroup->place->name : &places->rest;
	}
	return &places->word;
}

const struct group_name *places_find(struct places *places, const struct process *p,
				     const struct process_cgroup **ret_cgroup)
{
	const struct process_cgroup *cgroup = places->has_mount ? read_cgroup(places, p)
								: NULL;
	const struct group_name *name = find_name(places, p, cgroup);

	*ret_cgroup = cgroup;
	return is_matched(places, name->group) ? name : &places->rest;
}

/*
 * Return true if the entry of a cgroup must be kept. If memstate forgot a cgroup that
 * still exists, it would count the kills in that cgroup once more when the cgroup gets
 * processes again.
 */
static bool is_kept(const struct places *places, const struct place *place)
{
	return places->now_ns - place->seen_ns < PLACES_KEEP_NS ||
	       (place->has_figures && !place->is_removed);
}

void places_end(struct places *places)
{
	size_t kept = 0;

	for (size_t i = 0; i < places->process_count; i++)
		if (places->processes[i].seen_ns == places->now_ns)
			places->processes[kept++] = places->processes[i];
	places->process_count = kept;
	kept = 0;
	for (size_t i = 0; i < places->cgroup_count; i++) {
		if (places->cgroups[i]->seen_ns == places->now_ns)
			places->cgroups[kept++] = places->cgroups[i];
		else
			process_cgroup_free(places->cgroups[i]);
	}
	places->cgroup_count = kept;
	kept = 0;
	for (size_t i = 0; i < places->count; i++) {
		if (is_kept(places, places->items[i]))
			places->items[kept++] = places->items[i];
		else
			place_free(places->items[i]);
	}
	places->count = kept;
	places->has_looked = true;
}

void places_name_path(struct places *places, const char *path, struct group_name *ret)
{
	_cleanup_free_ char *above = xstrndup(path, find_length(places, path));

	for (size_t i = 0; i < places->count; i++)
		if (strcmp(places->items[i]->path, above) == 0) {
			group_name_copy(ret, &places->items[i]->name);
			return;
		}
	*ret = (struct group_name){ .group = NULL };
	set_name(places, above, 0, ret);
}
