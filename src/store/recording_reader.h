/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_reader - what the parts that read a recording share. For store/ alone.
 */
#ifndef MS_STORE_RECORDING_READER_H
#define MS_STORE_RECORDING_READER_H

#include <stdbool.h>

#include "store/recording_latest.h"
#include "store/recording_mappings.h"
#include "store/recording_read.h"
#include "store/recording_schema.h"

/* A process under one name: in samples from first on, and before end. */
struct recorded_process {
	int64_t row, first, end;
	int pid;
	uint64_t start_ticks;
	char *comm, *command; /* command may be NULL */
};

struct recording_reader {
	sqlite3 *db;
	struct recording_file *file; /* stays open until SQLite has closed db */
	struct recording_guard guard;
	char *tidy_path; /* of a file without a log when it was opened, else NULL */
	bool has_notes;
	struct recorded_sample *samples;
	size_t count, capacity;
	struct latest_facts *latest;
	bool is_scanning;
	struct mapping_walks walks; /* while scanning */
	sqlite3_stmt *starts, *name, *group;
	/* Of the session that was looked at last. */
	struct recorded_process *processes;
	size_t process_count, process_capacity;
	uint64_t process_bytes; /* at least what they take in the file */
	int64_t session;
};

static inline bool recorded_process_is_there(const struct recorded_process *p, int64_t sample)
{
	return p->first <= sample && sample < p->end;
}

/* All of a session, by pid, into the reader. Returns 0 or -errno. */
int recording_find_processes(struct recording_reader *r, int64_t session);

/* Prepare a statement that is only read. Returns 0 or -errno. */
int recording_prepare(struct recording_reader *r, const char *sql, sqlite3_stmt **ret);

/* Finalize a statement after its last row or an error. Returns error, else SQLite's own. */
int recording_finish(struct recording_reader *r, sqlite3_stmt *statement, int error);

/* Text that may hold anything, up to the first NUL. The caller frees it. */
char *recording_copy_text(sqlite3_stmt *statement, int column);

#endif
