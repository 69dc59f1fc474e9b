/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_write - what the parts that fill a recording share: rows of facts, and other
 * rows. For store/ alone.
 */
#ifndef MS_STORE_RECORDING_WRITE_H
#define MS_STORE_RECORDING_WRITE_H

#include <stdbool.h>

#include "model/process.h"
#include "store/recording.h"
#include "store/recording_known.h"
#include "store/recording_schema.h"
#include "store/recording_sql.h"

enum statement {
	STATEMENT_FACT, /* + enum fact_table */
	STATEMENT_SAMPLE = FACT_TABLE_COUNT_,
	STATEMENT_PROCESS,
	STATEMENT_NAME,
	STATEMENT_FIND_NAME,
	STATEMENT_CGROUP,
	STATEMENT_EVENT,
	STATEMENT_NOTE,
	STATEMENT_COUNT_
};

/* A process as it is in the file: another name is another row. */
struct known_process {
	int pid;
	uint64_t start_ticks;
	char comm[PROCESS_COMM_SIZE];
	int64_t row;
	int64_t sample; /* in which it was last added */
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
	char *cgroup_key; /* of the group that was added last: where it is, what it is called */
	int64_t cgroup_row;
	int64_t session, sample;
	uint64_t synced_elapsed_ns, trimmed_elapsed_ns;
	bool is_begun;
	bool has_content; /* a sample or an event was stored */
};

/*
 * That these values are true of these keys as of the sample that was begun: written if that
 * is news. Returns 0 or -errno, as all here.
 */
int recording_say(struct recording *r, enum fact_table table, const int64_t keys[FACT_KEYS_MAX],
		  const int64_t *values);

/* That what was not said in this sample, of this first key, is gone. */
int recording_say_gone(struct recording *r, enum fact_table table, int64_t first_key);

/* Run a statement that gives no row, whose values are bound. */
int recording_run(struct recording *r, enum statement which);

/* From the parameter "first" on, which is 1 or more; FACT_UNKNOWN is NULL. */
void recording_bind_numbers(sqlite3_stmt *statement, int first, const int64_t *numbers,
			    size_t count);
/* NULL is NULL. */
void recording_bind_text(sqlite3_stmt *statement, int at, const char *text);

/* What the file has is not what was said last: say all of it again. Returns error. */
int recording_give_up(struct recording *r, int error);

#endif
