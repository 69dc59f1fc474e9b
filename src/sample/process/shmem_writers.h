/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shmem_writers - when the shared memory of a cgroup grows, record which processes
 * have files on tmpfs open for writing, and the sizes of these files, as notes about
 * the processes.
 */
#ifndef MS_SAMPLE_PROCESS_SHMEM_WRITERS_H
#define MS_SAMPLE_PROCESS_SHMEM_WRITERS_H

#include "model/cgroup.h"
#include "model/usage.h"
#include "proc/system/procfs.h"
#include "store/recording/recording.h"

/* Kind of the notes, whose texts have the form "UNIX_MS BYTES MAJOR:MINOR:INODE PATH". */
#define NOTE_WRITES "writes"

struct shmem_writers;

/* Create the state for one recording. fs is borrowed. */
struct shmem_writers *shmem_writers_new(const struct procfs *fs);
void shmem_writers_free(struct shmem_writers *writers);

/*
 * If the cgroup's shared memory has grown since notes were last added, add notes about
 * its processes that write to tmpfs files; each note names a file. The recording of the
 * sample must have begun, and contain the processes of the snapshot. Return 0 or -errno
 * from the recording.
 */
int shmem_writers_add(struct shmem_writers *writers, const struct snapshot *snapshot,
		      const struct cgroup *cgroup, struct recording *recording);

/*
 * Forget which notes were added, because they were not written to the file. The next call
 * of shmem_writers_add() adds them again. writers may be NULL.
 */
void shmem_writers_forget(struct shmem_writers *writers);

#endif
