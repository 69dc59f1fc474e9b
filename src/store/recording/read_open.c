/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include "base/xalloc.h"
#include "store/recording/reader.h"

#define BUSY_MS 5000

static int check_database(struct recording_reader *r)
{
	int64_t id = 0, version = 0;
	int error = recording_sql_number(r->db, "PRAGMA application_id", &id);

	if (error == 0)
		error = recording_sql_number(r->db, "PRAGMA user_version", &version);
	/*
	 * the file has the header of a recording, but SQLite cannot read it, so the file
	 * is damaged, perhaps truncated
	 */
	if (error == -EBADMSG &&
	    recording_sql_check_head(recording_file_fd(r->file)) != 0)
		return -EEXIST;
	if (error < 0)
		return error;
	if (id != RECORDING_APPLICATION_ID)
		return -EEXIST;
	return version > RECORDING_VERSION ? -ENOTSUP
					   : recording_schema_check(r->db, &r->tables);
}

static int check_connection(struct recording_reader *r)
{
	recording_guard_resize(&r->guard, r->file);
	recording_guard_open(r->db, &r->guard);
	sqlite.busy_timeout(r->db, BUSY_MS);
	return check_database(r);
}

/*
 * Open a recording in a directory where the user may not create the -wal and -shm files
 * that SQLite needs. If the recording has no write-ahead log, the file is complete, so
 * SQLite can open it as immutable. SQLite does not lock an immutable database; flock(2)
 * prevents other processes from recording into the file until the reader closes it.
 */
static int open_immutable(struct recording_reader *r, const char *path, int error)
{
	if ((error != -EACCES && error != -EROFS && error != -EPERM) ||
	    flock(recording_file_fd(r->file), LOCK_SH | LOCK_NB) < 0)
		return error;
	if (recording_file_wal_bytes(path) >= 0) {
		flock(recording_file_fd(r->file), LOCK_UN);
		return error;
	}
	sqlite.close(r->db);
	r->db = NULL;
	error = recording_sql_open_immutable(path, &r->db);
	return error < 0 ? error : check_connection(r);
}

int recording_reader_connect(struct recording_reader *r, const char *path)
{
	int error = recording_file_open(path, O_RDONLY, &r->file);

	if (error < 0)
		return error;
	if (recording_file_wal_bytes(path) < 0)
		r->tidy_path = xstrdup(path);
	if (sqlite.open_v2(path, &r->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		return r->db ? recording_sql_errno(r->db) : -ENOMEM;
	error = check_connection(r);
	return error < 0 ? open_immutable(r, path, error) : 0;
}

void recording_reader_remove_log(struct recording_reader *r)
{
	struct recording_guard guard = r->guard;
	sqlite3 *db = NULL;
	int64_t unused;

	if (!r->tidy_path || recording_file_wal_bytes(r->tidy_path) != 0)
		return;
	if (sqlite.open_v2(r->tidy_path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK) {
		recording_guard_reset(&guard);
		recording_guard_open(db, &guard);
		(void)recording_sql_number(db, "SELECT count(*) FROM sqlite_master",
					   &unused);
	}
	sqlite.close(db);
}
