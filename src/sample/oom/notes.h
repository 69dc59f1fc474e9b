/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * notes - read the notes in a recording and group them by process: its cgroup and
 * container, the runtime options in its environment, and the files on tmpfs that it had
 * open for writing.
 */
#ifndef MS_SAMPLE_OOM_NOTES_H
#define MS_SAMPLE_OOM_NOTES_H

#include "classify/oom/evidence.h"
#include "sample/recording/replay.h"

/* A tmpfs file that a process had open for writing, and its size at that time. */
struct oom_written {
	uint64_t unix_ms, bytes;
	char *file; /* "MAJOR:MINOR:INODE PATH" of the file */
};

struct oom_note {
	/* process that the notes describe; only pid, start_ticks and comm are set */
	struct process process;
	struct oom_place place;
	/* options of the language runtime, each in the form "VARIABLE WORD" */
	char **options;
	size_t option_count, option_capacity;
	struct oom_written *written;
	size_t written_count, written_capacity;
};

struct oom_notes {
	struct oom_note *items;
	size_t count, capacity;
};

/* Read the notes of a recording. Return 0 or -errno from reading the recording. */
int oom_notes_read(struct replay *replay, struct oom_notes *ret);
void oom_notes_release(struct oom_notes *notes);

/* Return the notes about the process with the given pid, start time and name, or NULL. */
const struct oom_note *oom_notes_find(const struct oom_notes *notes,
				      const struct process *process);

/*
 * Return the cgroup, container and pod of a process. Names that were not recorded are "".
 */
struct oom_place oom_notes_place(const struct oom_notes *notes,
				 const struct process *process);

#endif
