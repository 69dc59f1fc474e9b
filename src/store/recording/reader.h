/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader - declarations shared by the files that read a
 * recording. Internal to store/.
 */
#ifndef MS_STORE_RECORDING_READER_H
#define MS_STORE_RECORDING_READER_H

#include <stdbool.h>

#include "store/recording/latest.h"
#include "store/recording/mappings.h"
#include "store/recording/read.h"
#include "store/recording/schema.h"

/*
 * A process under one name, in successive samples: from number `first` up to, but not
 * including, number `end`. A process that was missing from some samples has several of
 * these structs.
 */
struct recorded_process {
	int64_t row, first, end;
	int pid;
	uint64_t start_ticks;
	/* the process's name and command line; `command` is NULL if unknown */
	char *comm, *command;
};

struct recording_reader {
	sqlite3 *db;
	/*
	 * Descriptor of the recording. It stays open until db is closed, because closing
	 * a descriptor of the file would release SQLite's locks.
	 */
	struct recording_file *file;
	struct recording_guard guard;
	/*
	 * Path of the recording if it had no write-ahead log when memstate opened it;
	 * otherwise NULL.
	 */
	char *tidy_path;
	struct recording_tables tables;
	struct recorded_sample *samples;
	size_t count, capacity;
	struct latest_facts *latest;
	bool is_scanning;
	/* the readers of mappings, used only during sequential reading */
	struct mapping_walks walks;
	sqlite3_stmt *starts, *name, *group;
	/* processes of the session that was read last */
	struct recorded_process *processes;
	size_t process_count, process_capacity;
	/* lower bound on the bytes that the processes occupy in the file */
	uint64_t process_bytes;
	int64_t session;
};

static inline bool recorded_process_is_there(const struct recorded_process *p,
					     int64_t sample)
{
	return p->first <= sample && sample < p->end;
}

/*
 * Open the database and check that it is a recording. Return 0 or -errno. The caller
 * closes the reader even after an error.
 */
int recording_reader_connect(struct recording_reader *r, const char *path);

/*
 * Remove the -wal and -shm files that this read-only connection has created. SQLite
 * cannot remove them through a read-only connection, so open and close a writable
 * connection: SQLite then deletes an empty log under its own locks, unless another
 * connection is open. A log with content is not removed, because SQLite would first copy
 * the content into the recording.
 */
void recording_reader_remove_log(struct recording_reader *r);

/*
 * Read all processes of a session into the reader, in ascending order of
 * pid. Return 0 or -errno.
 */
int recording_find_processes(struct recording_reader *r, int64_t session);

/* Prepare a read-only statement. Return 0 or -errno. */
int recording_prepare(struct recording_reader *r, const char *sql, sqlite3_stmt **ret);

/*
 * Finalise a statement after its last row or after an error. Return `error` if it is not
 * 0; otherwise SQLite's error as -errno.
 */
int recording_finish(struct recording_reader *r, sqlite3_stmt *statement, int error);

/*
 * Return a copy of the text in a column, up to the first NUL. The text may contain any
 * other bytes. The caller frees the copy.
 */
char *recording_copy_text(sqlite3_stmt *statement, int column);

#endif
