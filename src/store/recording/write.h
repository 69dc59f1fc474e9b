/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write - declarations shared by the files that fill a recording with rows of
 * facts and other rows. Internal to store/.
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
	STATEMENT_FACT, /* base index: add an enum fact_table */
	STATEMENT_SAMPLE = FACT_TABLE_COUNT_,
	STATEMENT_PROCESS,
	STATEMENT_NAME,
	STATEMENT_FIND_NAME,
	STATEMENT_CGROUP,
	STATEMENT_EVENT,
	STATEMENT_NOTE,
	STATEMENT_COUNT_
};

/* A process as stored in the file. A process with another name has another row. */
struct known_process {
	int pid;
	uint64_t start_ticks;
	char comm[PROCESS_COMM_SIZE];
	int64_t row;
	int64_t sample; /* the last sample that it was added to */
};

struct recording {
	sqlite3 *db;
	struct recording_file *file; /* locked with flock(2) against a second recorder */
	struct recording_guard guard;
	struct recording_bounds bounds;
	sqlite3_stmt *statements[STATEMENT_COUNT_];
	struct known_facts known;
	struct known_process *processes;
	size_t process_count, process_capacity;
	char *cgroup_key; /* paths and names of the cgroup added last */
	int64_t cgroup_row;
	int64_t session, sample;
	uint64_t synced_elapsed_ns, trimmed_elapsed_ns;
	bool is_begun;
	bool has_content; /* a sample or an event was stored */
};

/*
 * Open or create the file and lock it, then open it as a database and create or check its
 * tables. Return 0 or -errno; the caller closes the recording in either case.
 */
int recording_lock_file(struct recording *r, const char *path);
int recording_open_database(struct recording *r, const char *path);

/*
 * Record the values of these keys as of the current sample, if they have changed. Returns
 * 0 or -errno, as do the other functions here.
 */
int recording_say(struct recording *r, enum fact_table table,
		  const int64_t keys[FACT_KEYS_MAX], const int64_t *values);

/*
 * Record that all keys with this first key are gone, except
 * those recorded in this sample.
 */
int recording_say_gone(struct recording *r, enum fact_table table, int64_t first_key);

/* Run a statement that returns no rows and whose parameters have been bound. */
int recording_run(struct recording *r, enum statement which);

/*
 * Bind numbers to the parameters from `first` on, counted from
 * 1. FACT_UNKNOWN becomes NULL.
 */
void recording_bind_numbers(sqlite3_stmt *statement, int first, const int64_t *numbers,
			    size_t count);
/* Bind a text to parameter `at`; a NULL pointer becomes SQL's NULL. */
void recording_bind_text(sqlite3_stmt *statement, int at, const char *text);

/*
 * Roll back and forget the values recorded last, because the file may not have them: the
 * next sample records everything again. Returns error.
 */
int recording_give_up(struct recording *r, int error);

#endif
