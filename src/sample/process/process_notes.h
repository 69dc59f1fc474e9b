/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_notes - facts about a process that do not change while it runs the same
 * program: its group, the names of its container and pod, and the runtime options in its
 * environment and configuration files that bound its memory. Read once per process, and
 * recorded.
 */
#ifndef MS_SAMPLE_PROCESS_PROCESS_NOTES_H
#define MS_SAMPLE_PROCESS_PROCESS_NOTES_H

#include "model/usage.h"
#include "proc/system/procfs.h"
#include "store/recording/recording.h"

/* Kinds of notes in addition to cgroup_name_keys. */
#define NOTE_GROUP "group"   /* the path of its group */
#define NOTE_OPTION "option" /* "VARIABLE WORD" or "FILE WORD": runtime_options.h */

struct process_notes;

/* fs is borrowed. */
struct process_notes *process_notes_new(const struct procfs *fs);
void process_notes_free(struct process_notes *notes);

/*
 * Record notes on the processes of a sample that have none yet. The sample must have
 * begun and contain these processes. What cannot be read is left out. Returns 0 or -errno
 * from the recording.
 */
int process_notes_add(struct process_notes *notes, const struct snapshot *snapshot,
		      struct recording *recording);

/*
 * Forget what was added, because it is not in the file; the next call adds it again.
 * notes may be NULL.
 */
void process_notes_forget(struct process_notes *notes);

#endif
