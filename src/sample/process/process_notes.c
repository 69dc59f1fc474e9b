/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/process/process_notes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "classify/cgroup/container_names.h"
#include "classify/oom/runtime_options.h"
#include "proc/cgroup/mount.h"
#include "proc/process/dir.h"
#include "proc/process/file.h"
#include "proc/process/status.h"
#include "proc/process/task.h"
#include "sample/process/container_files.h"
#include "sample/process/runtime_config.h"

#define ENVIRON_SIZE_MAX ((size_t)2 << 20)
#define GO_VARIABLE "GOMEMLIMIT="

/*
 * A cgroup, which several processes may share, with the names of its container and pod.
 */
struct place {
	char *path;
	char *names[CGROUP_NAME_COUNT_];
};

struct process_notes {
	const struct procfs *fs;
	struct cgroup_mount mount;
	bool has_mount;
	struct place *places;
	size_t place_count, place_capacity;
	/* processes of the last sample for which notes were recorded, sorted by pid */
	struct process *noted;
	size_t noted_count;
};

struct process_notes *process_notes_new(const struct procfs *fs)
{
	struct process_notes *notes = xcalloc(1, sizeof(*notes));

	notes->fs = fs;
	notes->mount = (struct cgroup_mount)CGROUP_MOUNT_INIT;
	notes->has_mount = cgroup_mount_find(fs, &notes->mount) == 0;
	return notes;
}

static void forget_places(struct process_notes *notes)
{
	for (size_t i = 0; i < notes->place_count; i++) {
		free(notes->places[i].path);
		cgroup_names_clear(notes->places[i].names);
	}
	notes->place_count = 0;
}

void process_notes_forget(struct process_notes *notes)
{
	if (!notes)
		return;
	notes->noted_count = 0;
	forget_places(notes);
}

void process_notes_free(struct process_notes *notes)
{
	if (!notes)
		return;
	forget_places(notes);
	free(notes->places);
	free(notes->noted);
	if (notes->has_mount)
		cgroup_mount_release(&notes->mount);
	free(notes);
}

static void find_names(const struct process_notes *notes, const char *path, int pid,
		       char *names[CGROUP_NAME_COUNT_])
{
	_cleanup_strbuf_ struct strbuf whole = STRBUF_INIT;
	_cleanup_close_ int root_fd = -1;

	if (strcmp(notes->mount.root, "/") != 0 && !strstr(notes->mount.root, ".."))
		strbuf_add_text(&whole, notes->mount.root);
	strbuf_add_text(&whole, path);
	container_names_find(strbuf_text(&whole), names);
	if (!names[CGROUP_NAME_CONTAINER_ID] && !names[CGROUP_NAME_POD_UID])
		return;
	root_fd = container_files_open_root(notes->fs);
	if (root_fd >= 0)
		container_files_find(root_fd, strbuf_text(&whole), names);
	container_files_find_pod(notes->fs, pid, names);
}

/* Return the cgroup of a process, or NULL. */
static const struct place *find_place(struct process_notes *notes, int pid)
{
	_cleanup_free_ char *path = NULL;
	struct place *place;

	if (!notes->has_mount ||
	    cgroup_mount_path_of(&notes->mount, notes->fs, pid, &path) < 0)
		return NULL;
	for (size_t i = 0; i < notes->place_count; i++)
		if (strcmp(notes->places[i].path, path) == 0)
			return &notes->places[i];
	notes->places = xgrow(notes->places, &notes->place_capacity,
			      notes->place_count + 1, sizeof(*notes->places));
	place = &notes->places[notes->place_count++];
	*place = (struct place){ .path = xstrdup(path) };
	find_names(notes, path, pid, place->names);
	return place;
}

static int add_place(struct process_notes *notes, const struct process *process,
		     struct recording *recording)
{
	const struct place *place = find_place(notes, process->pid);
	int r;

	if (!place)
		return 0;
	r = recording_add_note(recording, process, NOTE_GROUP, place->path);
	for (size_t i = 0; i < CGROUP_NAME_COUNT_ && r == 0; i++)
		if (place->names[i])
			r = recording_add_note(recording, process, cgroup_name_keys[i],
					       place->names[i]);
	return r;
}

struct adder {
	struct recording *recording;
	const struct process *process;
};

static int add_option(void *context, const char *text)
{
	const struct adder *adder = context;

	return recording_add_note(adder->recording, adder->process, NOTE_OPTION, text);
}

/*
 * Read the configuration files of a process with the rights of its user instead of
 * memstate's rights, because the user chose the names of these files.
 */
static bool read_config(int process_fd, const struct runtime_environment *environment,
			struct strbuf *option)
{
	_cleanup_strbuf_ struct strbuf status = STRBUF_INIT;
	struct foreign_reader reader;
	bool is_found;

	if (proc_status_read(process_fd, &status) < 0)
		return false;
	proc_status_find_reader(strbuf_text(&status), &reader);
	is_found = runtime_config_read(FOREIGN_ROOT_OF(process_fd), &reader, environment,
				       option);
	foreign_reader_release(&reader);
	return is_found;
}

/* Record the memory limit that the configuration files of a process set. */
static int add_config(const struct process_notes *notes, const struct process *process,
		      const struct runtime_environment *environment,
		      struct recording *recording)
{
	_cleanup_strbuf_ struct strbuf option = STRBUF_INIT;
	_cleanup_close_ int process_fd = -1;

	/*
	 * a captured /proc tree does not contain the configuration files of its processes
	 */
	if (notes->fs->is_foreign)
		return 0;
	process_fd = proc_dir_find(notes->fs, process->pid);
	if (process_fd < 0 || !read_config(process_fd, environment, &option))
		return 0;
	return recording_add_note(recording, process, NOTE_OPTION, option.text);
}

/*
 * Record the runtime options in the environment and the configuration files of a process.
 * Record known options only, because the environment and the files may contain passwords.
 */
static int add_options(const struct process_notes *notes, const struct usage *u,
		       struct recording *recording)
{
	struct adder adder = { recording, &u->process };
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct runtime_environment environment = { .command = u->command };
	int r;

	(void)proc_file_read(notes->fs, u->process.pid, PROC_ENVIRON, ENVIRON_SIZE_MAX,
			     &text);
	environment.text = strbuf_text(&text);
	environment.length = text.length;
	/*
	 * programs that are not written in Go may inherit GOMEMLIMIT, so check the
	 * program, too
	 */
	environment.is_go =
		memmem(environment.text, text.length, GO_VARIABLE, strlen(GO_VARIABLE)) &&
		proc_task_is_go(notes->fs, u->process.pid);
	r = runtime_variables_for_each(&environment, add_option, &adder);
	return r < 0 ? r : add_config(notes, &u->process, &environment, recording);
}

static int compare_processes(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static bool has_notes(const struct process_notes *notes, const struct process *process)
{
	const struct process *found =
		notes->noted_count == 0
			? NULL
			: bsearch(process, notes->noted, notes->noted_count,
				  sizeof(*notes->noted), compare_processes);

	return found && process_is_same(found, process) &&
	       strcmp(found->comm, process->comm) == 0;
}

static int add_notes(struct process_notes *notes, const struct usage *u,
		     struct recording *recording)
{
	int r = add_place(notes, &u->process, recording);

	return r < 0 ? r : add_options(notes, u, recording);
}

int process_notes_add(struct process_notes *notes, const struct snapshot *snapshot,
		      struct recording *recording)
{
	struct process *now = xcalloc(snapshot->count + 1, sizeof(*now));
	int r = 0;

	for (size_t i = 0; i < snapshot->count && r == 0; i++) {
		const struct process *process = &snapshot->usages[i].process;

		if (!has_notes(notes, process))
			r = add_notes(notes, &snapshot->usages[i], recording);
		now[i] = *process;
	}
	qsort(now, snapshot->count, sizeof(*now), compare_processes);
	free(notes->noted);
	notes->noted = now;
	notes->noted_count = r == 0 ? snapshot->count : 0;
	return r;
}
