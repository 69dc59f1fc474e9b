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

/* A process under one name. It exists in samples with first <= number < end. */
struct recorded_process {
	int64_t row, first, end;
	int pid;
	uint64_t start_ticks;
	char *comm, *command; /* command may be NULL */
};

struct recording_reader {
	sqlite3 *db;
	struct recording_file *file; /* must stay open until SQLite has closed db */
	struct recording_guard guard;
	/* path if the file had no write-ahead log when it was opened, else NULL */
	char *tidy_path;
	bool has_notes;
	struct recorded_sample *samples;
	size_t count, capacity;
	struct latest_facts *latest;
	bool is_scanning;
	struct mapping_walks walks; /* used while is_scanning */
	sqlite3_stmt *starts, *name, *group;
	/* The processes of the session that was read last. */
	struct recorded_process *processes;
	size_t process_count, process_capacity;
	uint64_t process_bytes; /* lower bound of their size in the file */
	int64_t session;
};

static inline bool recorded_process_is_there(const struct recorded_process *p,
					     int64_t sample)
{
	return p->first <= sample && sample < p->end;
}

/*
 * Open the database and check that it is a recording. Return 0 or -errno; the caller
 * closes the reader in either case.
 */
int recording_reader_connect(struct recording_reader *r, const char *path);

/*
 * Remove the -wal and -shm files that our read-only connection has created but cannot
 * remove itself. Do it as SQLite does: a writable connection, when closed, deletes an
 * empty log under SQLite's own locks, unless another connection is open. A log with
 * content is kept, because SQLite would first copy it into the recording.
 */
void recording_reader_remove_log(struct recording_reader *r);

/* Read all processes of a session into the reader, sorted by pid. Returns 0 or -errno. */
int recording_find_processes(struct recording_reader *r, int64_t session);

/* Prepare a read-only statement. Returns 0 or -errno. */
int recording_prepare(struct recording_reader *r, const char *sql, sqlite3_stmt **ret);

/*
 * Finalize a statement after its last row or an error. Returns error if it is not 0,
 * else SQLite's error as -errno.
 */
int recording_finish(struct recording_reader *r, sqlite3_stmt *statement, int error);

/*
 * Copy the text of a column up to the first NUL. It may contain any
 * bytes. The caller frees it.
 */
char *recording_copy_text(sqlite3_stmt *statement, int column);

#endif
