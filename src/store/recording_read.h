/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_read - a recording, sample by sample, in any order; also one that is just
 * being written.
 *
 * The file is foreign: what cannot be is unknown, what is damaged is refused. What it has
 * is facts; states and owners are for classify to tell anew.
 */
#ifndef MS_STORE_RECORDING_READ_H
#define MS_STORE_RECORDING_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "model/cgroup.h"
#include "model/heap.h"
#include "model/usage.h"
#include "store/recording.h"

struct recorded_sample {
	int64_t number; /* in the file */
	int64_t session;
	struct recording_moment moment; /* elapsed since its session began */
};

struct recording_reader;

/*
 * Returns 0; -EOPNOTSUPP: SQLite is not there; -EEXIST: not a recording; -ENOTSUP: of a newer
 * version; -EBADMSG: damaged, and recording_damage() has the reason; -ENODATA: it has no
 * sample; or -errno. The recording must not be opened for reading by anything but SQLite
 * while it is open here: closing another descriptor drops SQLite's locks.
 */
int recording_reader_open(const char *path, struct recording_reader **ret);
void recording_reader_close(struct recording_reader *reader);

/* All that were there when it was opened, by time. Borrowed. */
const struct recorded_sample *recording_reader_samples(const struct recording_reader *reader,
						       size_t *ret_count);

/*
 * Samples will be read as they rise: each costs what changed in it. Until it is switched
 * off a program that writes the file cannot use room in it again.
 */
void recording_reader_scan(struct recording_reader *reader, bool is_on);

/*
 * The processes of a sample, by its index: totals, source, and who they are. Of a source
 * of SOURCE_SMAPS mappings were read in that sample. Returns 0 or -errno as above.
 */
int recording_reader_read(struct recording_reader *reader, size_t index, struct snapshot *ret);

/*
 * The mappings of a process as they were read last, up to that sample; none is no error.
 * Those where a thread had its stack have OWNER_STACK, all others OWNER_ANON.
 */
int recording_reader_read_mappings(struct recording_reader *reader, size_t index,
				   const struct process *process, struct mapping_list *ret);

/*
 * The same while samples are read as they rise; borrowed until the next call for that process.
 * *ret_version is another one whenever they are.
 */
int recording_reader_scan_mappings(struct recording_reader *reader, size_t index,
				   const struct process *process, const struct mapping_list **ret,
				   uint64_t *ret_version);

bool recording_reader_is_scanning(const struct recording_reader *reader);

/*
 * What a read of its heap had found, in a sample in which its mappings were read. -ENOENT:
 * it was not read.
 */
int recording_reader_read_heap(struct recording_reader *reader, size_t index,
			       const struct process *process, struct heap_sums *ret);

/* The group of a sample; its pids are the sample's. -ENOENT: there is none. */
int recording_reader_read_cgroup(struct recording_reader *reader, size_t index,
				 struct cgroup *ret);

/*
 * Who processes are, by how much Rss they ever had, the largest first; one that had several
 * names comes under each. Of the process only these are set. As the following.
 */
int recording_reader_for_each_peak(struct recording_reader *reader,
				   int (*fn)(void *context, const struct process *process),
				   void *context);

struct recorded_note {
	struct process process; /* only pid, start_ticks and comm */
	const char *kind, *text;
};

/* Notes on processes; the arguments live as long as the call. As the following. */
int recording_reader_for_each_note(struct recording_reader *reader,
				   int (*fn)(void *context, const struct recorded_note *note),
				   void *context);

/* Events by time, each for the time of the call; a return of fn that is not 0 ends it and is its result. */
int recording_reader_for_each_event(struct recording_reader *reader,
				    int (*fn)(void *context, const struct recorded_event *event),
				    void *context);

#endif
