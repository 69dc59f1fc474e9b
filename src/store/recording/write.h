/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write - declarations shared by the files that write rows to a recording.
 * Internal to store/.
 */
#ifndef MS_STORE_RECORDING_WRITE_H
#define MS_STORE_RECORDING_WRITE_H

#include <stdbool.h>

#include "model/process.h"
#include "store/recording/known.h"
#include "store/recording/recording.h"
#include "store/recording/schema.h"
#include "store/recording/sql.h"

enum statement {
	/* STATEMENT_FACT + table is the statement that writes to a fact table */
	STATEMENT_FACT,
	STATEMENT_SAMPLE = FACT_TABLE_COUNT_,
	STATEMENT_PROCESS,
	STATEMENT_NAME,
	STATEMENT_FIND_NAME,
	STATEMENT_CGROUP,
	STATEMENT_EVENT,
	STATEMENT_NOTE,
	STATEMENT_COUNT_
};

/* A process with a row in the process table. It gets a new row if it changes its name. */
struct known_process {
	int pid;
	uint64_t start_ticks;
	char comm[PROCESS_COMM_SIZE];
	int64_t row;
	int64_t sample; /* the last sample in which the process was recorded */
};

struct recording {
	sqlite3 *db;
	/* the recording, locked with flock(2) so that no other process writes to it */
	struct recording_file *file;
	struct recording_guard guard;
	struct recording_bounds bounds;
	sqlite3_stmt *statements[STATEMENT_COUNT_];
	struct known_facts known;
	struct known_process *processes;
	size_t process_count, process_capacity;
	char *cgroup_key; /* paths and names of the cgroup that was added last */
	int64_t cgroup_row;
	int64_t session, sample;
	uint64_t synced_elapsed_ns, trimmed_elapsed_ns;
	bool is_begun;
	bool has_content; /* true if the recording has at least one sample or event */
};

/*
 * The two steps of opening a recording: recording_lock_file() opens or creates the file
 * and locks it, and recording_open_database() creates or checks the tables. Both return 0
 * or -errno. The caller closes the recording in either case.
 */
int recording_lock_file(struct recording *r, const char *path);
int recording_open_database(struct recording *r, const char *path);

/*
 * Record the values of a key in the current sample if they have changed. Return 0
 * or -errno.
 */
int recording_add_fact(struct recording *r, enum fact_table table,
		       const int64_t keys[FACT_KEYS_MAX], const int64_t *values);

/*
 * Record that all keys that begin with first_key no longer exist, except keys recorded in
 * the current sample. Return 0 or -errno.
 */
int recording_add_removals(struct recording *r, enum fact_table table, int64_t first_key);

/*
 * Execute a statement that returns no rows and whose parameters have been
 * bound. Return 0 or -errno.
 */
int recording_run(struct recording *r, enum statement which);

/*
 * Bind numbers to consecutive parameters of the statement, starting with parameter
 * `first` (1 or higher). FACT_UNKNOWN becomes NULL.
 */
void recording_bind_numbers(sqlite3_stmt *statement, int first, const int64_t *numbers,
			    size_t count);
/* Bind a string to parameter `at` of the statement. A NULL pointer becomes SQL's NULL. */
void recording_bind_text(sqlite3_stmt *statement, int at, const char *text);

/*
 * Roll back the transaction, and forget the last recorded values, because the file may
 * not contain them. The next sample then records all values again. Return `error`.
 */
int recording_roll_back(struct recording *r, int error);

#endif
