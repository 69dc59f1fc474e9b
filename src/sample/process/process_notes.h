/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_notes - record facts about each process that do not change while it runs the
 * same program: its cgroup, the names of its container and pod, and the runtime options
 * in its environment and configuration files that limit its memory. The facts are read
 * once per process.
 */
#ifndef MS_SAMPLE_PROCESS_PROCESS_NOTES_H
#define MS_SAMPLE_PROCESS_PROCESS_NOTES_H

#include "model/usage.h"
#include "proc/system/procfs.h"
#include "store/recording/recording.h"

/*
 * Kinds of notes about a process. Further kinds are the names in cgroup_name_keys
 * (model/cgroup.h), such as those of the container and the pod.
 */
#define NOTE_GROUP "group" /* path of the process's cgroup */
/* text "VARIABLE WORD" or "FILE WORD", as in runtime_options.h */
#define NOTE_OPTION "option"

struct process_notes;

/* Create an empty set of notes. fs is borrowed. */
struct process_notes *process_notes_new(const struct procfs *fs);
void process_notes_free(struct process_notes *notes);

/*
 * Record notes about those processes of a sample that have no notes yet. The recording of
 * the sample must have begun and contain these processes. Facts that cannot be read are
 * left out. Return 0 or -errno from the recording.
 */
int process_notes_add(struct process_notes *notes, const struct snapshot *snapshot,
		      struct recording *recording);

/*
 * Forget which notes were added, because they were not written to the file. The next call
 * of process_notes_add() adds them again. notes may be NULL.
 */
void process_notes_forget(struct process_notes *notes);

#endif
