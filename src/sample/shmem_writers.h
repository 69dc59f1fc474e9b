/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shmem_writers - when the shared memory of a group grows: which processes have files on tmpfs
 * open for writing, and how large these are. Recorded as notes of the processes.
 */
#ifndef MS_SAMPLE_SHMEM_WRITERS_H
#define MS_SAMPLE_SHMEM_WRITERS_H

#include "model/cgroup.h"
#include "model/usage.h"
#include "proc/procfs.h"
#include "store/recording.h"

/* The kind of the notes: "UNIX_MS BYTES MAJOR:MINOR:INODE PATH". */
#define NOTE_WRITES "writes"

struct shmem_writers;

/* fs is borrowed. */
struct shmem_writers *shmem_writers_new(const struct procfs *fs);
void shmem_writers_free(struct shmem_writers *writers);

/*
 * Record them in a sample that was begun and has these processes, if its group's shared memory
 * has grown since they were recorded last. Returns 0 or -errno of the recording.
 */
int shmem_writers_add(struct shmem_writers *writers, const struct snapshot *snapshot,
		      const struct cgroup *cgroup, struct recording *recording);

/* What was added is not in the file: add it again. NULL is fine. */
void shmem_writers_forget(struct shmem_writers *writers);

#endif
