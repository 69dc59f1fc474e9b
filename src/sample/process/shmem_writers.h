/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shmem_writers - when the shared memory of a group grows, record which
 * processes have files on tmpfs open for writing, and the sizes of these files,
 * as notes of the processes.
 */
#ifndef MS_SAMPLE_PROCESS_SHMEM_WRITERS_H
#define MS_SAMPLE_PROCESS_SHMEM_WRITERS_H

#include "model/cgroup.h"
#include "model/usage.h"
#include "proc/system/procfs.h"
#include "store/recording/recording.h"

/* The kind of the notes: "UNIX_MS BYTES MAJOR:MINOR:INODE PATH". */
#define NOTE_WRITES "writes"

struct shmem_writers;

/* fs is borrowed. */
struct shmem_writers *shmem_writers_new(const struct procfs *fs);
void shmem_writers_free(struct shmem_writers *writers);

/*
 * Record the files if the group's shared memory has grown since they were last
 * recorded. The sample must have begun and contain these processes. Returns 0 or -errno
 * from the recording.
 */
int shmem_writers_add(struct shmem_writers *writers, const struct snapshot *snapshot,
		      const struct cgroup *cgroup, struct recording *recording);

/*
 * Forget what was added, because it is not in the file; the next call adds it again.
 * writers may be NULL.
 */
void shmem_writers_forget(struct shmem_writers *writers);

#endif
