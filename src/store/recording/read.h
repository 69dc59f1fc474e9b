/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read - read the samples of a recording in any order, even while another process writes
 * to the recording. The file is not trusted: impossible values become unknown, and a
 * damaged file is rejected. A recording contains only figures from the kernel and from
 * heap reads; classify/ derives the states and owners from these figures again.
 */
#ifndef MS_STORE_RECORDING_READ_H
#define MS_STORE_RECORDING_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "model/cgroup.h"
#include "model/heap.h"
#include "model/usage.h"
#include "store/recording/recording.h"

struct recorded_sample {
	int64_t number; /* number of the sample in the recording */
	int64_t session;
	/* moment.elapsed_ns counts from the start of the session */
	struct recording_moment moment;
};

struct recording_reader;

/*
 * Open a recording. Return 0; -EOPNOTSUPP if SQLite is not installed; -EEXIST if
 * path is not a recording; -ENOTSUP if the recording has a newer version; -EBADMSG if
 * it is damaged, with the reason in recording_damage(); -ENODATA if it has no
 * samples; or -errno.
 *
 * While the reader is open, only SQLite may open the file in this process, because
 * closing any other descriptor of the file would release SQLite's locks.
 */
int recording_reader_open(const char *path, struct recording_reader **ret);
void recording_reader_close(struct recording_reader *reader);

/*
 * Return all samples that existed when the file was opened, in ascending order of time.
 * The array is valid until the reader is closed.
 */
const struct recorded_sample *
recording_reader_samples(const struct recording_reader *reader, size_t *ret_count);

/*
 * Switch sequential reading on or off. In this mode, the caller should read samples in
 * ascending order, and the time for a sample depends only on how much it differs from the
 * previous one. Until sequential reading is switched off, a program that writes to the
 * file cannot reuse space in it.
 */
void recording_reader_scan(struct recording_reader *reader, bool is_on);

/*
 * Read the processes of a sample: their identities, totals and sources. If a process's
 * source is SOURCE_SMAPS, the sample also contains the mappings of that process. Return 0
 * or -errno.
 */
int recording_reader_read(struct recording_reader *reader, size_t index,
			  struct snapshot *ret);

/*
 * Read the last mappings of a process that were recorded at or before the given sample.
 * An empty list is not an error. A mapping that contains a thread's stack has the owner
 * OWNER_STACK, and every other mapping OWNER_ANON. Return 0 or -errno.
 */
int recording_reader_read_mappings(struct recording_reader *reader, size_t index,
				   const struct process *process,
				   struct mapping_list *ret);

/*
 * Return the same mappings as recording_reader_read_mappings(). Sequential reading must
 * be on. The list is valid until the next call for the same process, and *ret_version
 * changes whenever the list changes. Return 0 or -errno.
 */
int recording_reader_scan_mappings(struct recording_reader *reader, size_t index,
				   const struct process *process,
				   const struct mapping_list **ret,
				   uint64_t *ret_version);

bool recording_reader_is_scanning(const struct recording_reader *reader);

/*
 * Find the last sample, at or before *index, that contains a process for which
 * is_wanted() returns true. Return 0, -ENOENT if no sample contains one, or
 * another -errno.
 */
int recording_reader_find_last(struct recording_reader *reader,
			       bool (*is_wanted)(const void *context,
						 const struct process *process,
						 const char *command),
			       const void *context, size_t *index);

/*
 * Read the results of the heap read of a process in a sample. The sample must contain the
 * mappings of the process. Return 0, -ENOENT if the heap was not read, or another -errno.
 */
int recording_reader_read_heap(struct recording_reader *reader, size_t index,
			       const struct process *process, struct heap_sums *ret);

/*
 * Read the cgroup of a sample, with the pids of the processes in the sample. Return 0,
 * -ENOENT if the sample has no cgroup, or another -errno.
 */
int recording_reader_read_cgroup(struct recording_reader *reader, size_t index,
				 struct cgroup *ret);

/*
 * Call fn for the processes in descending order of their peak Rss. A process that changed
 * its name is listed under each name. Only the pid, the start time and the comm in
 * *process are set. `command` is the command line, or NULL if unknown. If fn returns a
 * value other than 0, stop and return that value. Otherwise return 0 or -errno.
 */
int recording_reader_for_each_peak(struct recording_reader *reader,
				   int (*fn)(void *context, const struct process *process,
					     const char *command),
				   void *context);

struct recorded_note {
	struct process process; /* only the members pid, start_ticks and comm are set */
	const char *kind, *text;
};

/*
 * Call fn for each note on a process. The arguments are valid only during the call. If fn
 * returns a value other than 0, stop and return that value. Otherwise return 0 or -errno.
 */
int recording_reader_for_each_note(struct recording_reader *reader,
				   int (*fn)(void *context,
					     const struct recorded_note *note),
				   void *context);

/*
 * Call fn for each event in chronological order. The event is valid only during the
 * call. If fn returns a value other than 0, stop and return that value. Otherwise return
 * 0 or -errno.
 */
int recording_reader_for_each_event(struct recording_reader *reader,
				    int (*fn)(void *context,
					      const struct recorded_event *event),
				    void *context);

#endif
