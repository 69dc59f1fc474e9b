/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include "base/cleanup.h"
#include "store/recording/write.h"

#define BUSY_MS 5000

int recording_lock_file(struct recording *r, const char *path)
{
	int error = recording_file_open(path, O_RDWR | O_CREAT, &r->file), fd;

	if (error < 0)
		return error;
	fd = recording_file_fd(r->file);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return recording_sql_check_head(fd);
}

/*
 * Settings of the database. With a write-ahead log, readers and the writer do not block
 * each other, and memstate waits for the disk only at checkpoints instead of at each
 * sample. SQLite reuses freed pages.
 */
static const char settings[] = "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"
			       "PRAGMA wal_autocheckpoint=0;PRAGMA cache_size=-256;"
			       "PRAGMA temp_store=MEMORY;";

/*
 * Create the tables before the write-ahead log is in use, so that SQLite writes the
 * application_id to the database file and not only to the log.
 */
static int create_tables(struct recording *r)
{
	_cleanup_free_ char *schema = recording_schema_sql();
	int error = recording_sql_execute(r->db, "BEGIN IMMEDIATE");

	if (error == 0)
		error = recording_sql_execute(r->db, schema);
	return error < 0 ? error : recording_sql_execute(r->db, "COMMIT");
}

/*
 * Check the tables of an existing recording, and add the tables that an earlier version
 * of memstate did not create.
 */
static int check_tables(struct recording *r)
{
	_cleanup_free_ char *upgrade = NULL;
	struct recording_tables tables;
	int error = recording_schema_check(r->db, &tables);

	if (error < 0 || (tables.has_notes && tables.has_heap_parts))
		return error;
	upgrade = recording_schema_upgrade_sql(&tables);
	return recording_sql_execute(r->db, upgrade);
}

int recording_open_database(struct recording *r, const char *path)
{
	int64_t version = 0;
	int error;

	if (sqlite.open_v2(path, &r->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		return r->db ? recording_sql_errno(r->db) : -ENOMEM;
	recording_guard_resize(&r->guard, r->file);
	recording_guard_open(r->db, &r->guard);
	sqlite.busy_timeout(r->db, BUSY_MS);
	error = recording_sql_number(r->db, "PRAGMA user_version", &version);
	if (error == 0)
		error = version == 0 ? create_tables(r) : check_tables(r);
	if (error == 0)
		error = recording_sql_execute(r->db, settings);
	return error;
}
