/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "store/recording/reader.h"

int recording_prepare(struct recording_reader *r, const char *sql, sqlite3_stmt **ret)
{
	return sqlite.prepare_v2(r->db, sql, -1, ret, NULL) == SQLITE_OK
		       ? 0
		       : recording_sql_errno(r->db);
}

int recording_finish(struct recording_reader *r, sqlite3_stmt *statement, int error)
{
	if (error == 0)
		error = recording_sql_errno(r->db);
	sqlite.finalize(statement);
	return error;
}

int recording_reader_for_each_peak(struct recording_reader *r,
				   int (*fn)(void *context, const struct process *process,
					     const char *command),
				   void *context)
{
	sqlite3_stmt *statement = NULL;
	int error;

	recording_guard_resize(&r->guard, r->file);
	error = recording_prepare(
		r,
		"SELECT process,session,pid,start_ticks,comm,command FROM process "
		"JOIN usage USING(process) GROUP BY process "
		"ORDER BY max(rss_kb) DESC,process",
		&statement);
	while (error == 0 && sqlite.step(statement) == SQLITE_ROW) {
		struct process process = {
			.pid = (int)sqlite.column_int64(statement, 2),
			.start_ticks = (uint64_t)sqlite.column_int64(statement, 3),
		};
		_cleanup_free_ char *comm = NULL, *command = NULL;

		error = recording_schema_check_row(statement, 0, TABLE_PROCESS);
		if (error < 0)
			break;
		comm = recording_copy_text(statement, 4);
		text_copy(process.comm, sizeof(process.comm), comm);
		if (sqlite.column_type(statement, 5) != SQLITE_NULL)
			command = recording_copy_text(statement, 5);
		error = fn(context, &process, command);
	}
	return recording_finish(r, statement, error);
}

int recording_reader_for_each_event(struct recording_reader *r,
				    int (*fn)(void *context,
					      const struct recorded_event *event),
				    void *context)
{
	sqlite3_stmt *statement = NULL;
	uint64_t bytes = 0;
	int64_t last = 0;
	int error;

	recording_guard_resize(&r->guard, r->file);
	error = recording_prepare(
		r, "SELECT event,sample,unix_ms,kind,pid,text FROM event ORDER BY event",
		&statement);
	while (error == 0 && sqlite.step(statement) == SQLITE_ROW) {
		struct recorded_event event;

		error = recording_schema_check_row(statement, 0, TABLE_EVENT);
		if (error < 0)
			break;
		/*
		 * A damaged index may return the same row endlessly, so stop when the
		 * total size of the rows exceeds the size of the file.
		 */
		bytes += (uint64_t)sqlite.column_bytes(statement, 5);
		if (sqlite.column_int64(statement, 0) <= last || bytes > r->guard.bytes) {
			error = recording_damaged("its events are not in order");
			break;
		}
		last = sqlite.column_int64(statement, 0);
		event = (struct recorded_event){
			.unix_ms = (uint64_t)sqlite.column_int64(statement, 2),
			.kind = (const char *)sqlite.column_text(statement, 3),
			.text = (const char *)sqlite.column_text(statement, 5),
			.pid = (int)sqlite.column_int64(statement, 4),
		};
		error = fn(context, &event);
	}
	return recording_finish(r, statement, error);
}

int recording_reader_for_each_note(struct recording_reader *r,
				   int (*fn)(void *context,
					     const struct recorded_note *note),
				   void *context)
{
	sqlite3_stmt *statement = NULL;
	int error;

	if (!r->tables.has_notes)
		return 0;
	recording_guard_resize(&r->guard, r->file);
	error = recording_prepare(
		r,
		"SELECT n.process,n.kind,n.text,p.process,p.session,p.pid,"
		"p.start_ticks,p.comm,p.command FROM note AS n "
		"JOIN process AS p USING(process) "
		"ORDER BY n.process,n.kind,n.text",
		&statement);
	while (error == 0 && sqlite.step(statement) == SQLITE_ROW) {
		_cleanup_free_ char *kind = NULL, *text = NULL, *comm = NULL;
		struct recorded_note note = { 0 };

		error = recording_schema_check_row(statement, 0, TABLE_NOTE);
		if (error == 0)
			error = recording_schema_check_row(statement, 3, TABLE_PROCESS);
		if (error < 0)
			break;
		kind = recording_copy_text(statement, 1);
		text = recording_copy_text(statement, 2);
		note.kind = kind;
		note.text = text;
		comm = recording_copy_text(statement, 7);
		note.process.pid = (int)sqlite.column_int64(statement, 5);
		note.process.start_ticks = (uint64_t)sqlite.column_int64(statement, 6);
		text_copy(note.process.comm, sizeof(note.process.comm), comm);
		error = fn(context, &note);
	}
	return recording_finish(r, statement, error);
}
