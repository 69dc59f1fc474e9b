/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/process/shmem_writers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "proc/cgroup/tmpfs_files.h"

#define GROWTH_MIN_BYTES MIB
/*
 * A file is recorded again when it has grown by GROWTH_MIN_BYTES plus 1/GROWN_PART of
 * its size.
 */
#define GROWN_PART 8
/* maximum number of descriptors to examine per reading, for all processes together */
#define DESCRIPTORS_MAX 4096
#define FILES_MAX 4096
#define COST_PART 20 /* maximum share of the time that reading may take: 1/COST_PART */

struct written {
	int pid;
	uint64_t start_ticks, inode;
	uint32_t major, minor;
	uint64_t bytes; /* size of the file when it was last recorded */
};

struct shmem_writers {
	const struct procfs *fs;
	struct tmpfs_devices devices;
	struct written *files;
	size_t count, capacity;
	bool has_looked;
	uint64_t shmem_bytes; /* the cgroup's shared memory when last read */
	uint64_t due_ns;
	uint64_t start_unix_ms;
};

struct adder {
	struct shmem_writers *writers;
	const struct snapshot *snapshot;
	const struct process *process;
	struct recording *recording;
};

struct shmem_writers *shmem_writers_new(const struct procfs *fs)
{
	struct shmem_writers *w = xcalloc(1, sizeof(*w));

	w->fs = fs;
	w->devices = (struct tmpfs_devices)TMPFS_DEVICES_INIT;
	return w;
}

void shmem_writers_free(struct shmem_writers *w)
{
	if (!w)
		return;
	tmpfs_devices_release(&w->devices);
	free(w->files);
	free(w);
}

void shmem_writers_forget(struct shmem_writers *w)
{
	if (!w)
		return;
	w->count = 0;
	w->has_looked = false;
	w->due_ns = 0;
}

static struct written *find(struct shmem_writers *w, const struct process *process,
			    const struct tmpfs_file *file)
{
	for (size_t i = 0; i < w->count; i++) {
		struct written *f = &w->files[i];

		if (f->pid == process->pid && f->start_ticks == process->start_ticks &&
		    f->inode == file->inode && f->major == file->major &&
		    f->minor == file->minor)
			return f;
	}
	return NULL;
}

static int add_note(const struct adder *a, const struct tmpfs_file *file,
		    uint64_t unix_ms, uint64_t bytes)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "%llu %llu %u:%u:%llu %s", (unsigned long long)unix_ms,
		    (unsigned long long)bytes, file->major, file->minor,
		    (unsigned long long)file->inode, file->path);
	return recording_add_note(a->recording, a->process, NOTE_WRITES, text.text);
}

static int add_file(void *context, const struct tmpfs_file *file)
{
	const struct adder *a = context;
	struct shmem_writers *w = a->writers;
	struct written *known = find(w, a->process, file);
	int r = 0;

	if (known && file->bytes >= known->bytes &&
	    file->bytes - known->bytes < GROWTH_MIN_BYTES + known->bytes / GROWN_PART)
		return 0;
	if (!known) {
		if (w->count == FILES_MAX)
			return 0;
		w->files = xgrow(w->files, &w->capacity, w->count + 1, sizeof(*w->files));
		known = &w->files[w->count++];
		*known = (struct written){ a->process->pid, a->process->start_ticks,
					   file->inode,	    file->major,
					   file->minor,	    0 };
		/*
		 * If the file was created after the recording began, also record its size
		 * of 0 at its creation.
		 */
		if (file->born_unix_ms > w->start_unix_ms)
			r = add_note(a, file, file->born_unix_ms, 0);
	}
	known->bytes = file->bytes;
	return r < 0 ? r : add_note(a, file, a->snapshot->unix_ms, file->bytes);
}

int shmem_writers_add(struct shmem_writers *w, const struct snapshot *snapshot,
		      const struct cgroup *cgroup, struct recording *recording)
{
	uint64_t shmem = cgroup->limit_stat.shmem_bytes, began_ns = clock_now_ns();
	struct adder adder = { w, snapshot, NULL, recording };
	size_t left = DESCRIPTORS_MAX;
	int error = 0;

	if (w->start_unix_ms == 0)
		w->start_unix_ms = snapshot->unix_ms;
	if (!bytes_known(shmem) || began_ns < w->due_ns)
		return 0;
	/* after the shared memory has shrunk, measure growth from the lower amount */
	if (w->has_looked && shmem < w->shmem_bytes)
		w->shmem_bytes = shmem;
	if (w->has_looked && shmem - w->shmem_bytes < GROWTH_MIN_BYTES)
		return 0;
	for (size_t i = 0; i < snapshot->count && left > 0 && error == 0; i++) {
		const struct process *process = &snapshot->usages[i].process;
		int r;

		if (!process_has_memory(process))
			continue;
		adder.process = process;
		r = proc_tmpfs_files_for_each(w->fs, &w->devices, process->pid, &left,
					      add_file, &adder);
		/* ignore processes that have ended or cannot be read */
		if (r < 0 && r != -ESRCH && r != -EACCES && r != -EPERM && r != -ENOTDIR)
			error = r;
	}
	w->has_looked = true;
	w->shmem_bytes = shmem;
	w->due_ns = clock_now_ns() + (clock_now_ns() - began_ns) * COST_PART;
	return error;
}
