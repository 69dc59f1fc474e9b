/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/recording/sql.h"

#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/library.h"
#include "base/strbuf.h"
#include "store/recording/recording.h"

struct sqlite_functions sqlite;

#define NAME(name) "sqlite3_" #name,
static const char *const names[] = { SQLITE_FUNCTIONS(NAME) };
static struct library library = LIBRARY_INIT("libsqlite3.so.0", names, sqlite);

bool recording_sql_load(void)
{
	return library_load(&library);
}

/*
 * Fields of smaps. They are stored in kB, the kernel's unit, because smaller numbers take
 * less space in the file.
 */
#define SMAPS_OFTEN                                                                   \
	"rss_kb", "pss_kb", "shared_clean_kb", "shared_dirty_kb", "private_clean_kb", \
		"private_dirty_kb", "anonymous_kb", "lazyfree_kb"
#define SMAPS_SELDOM                                                                \
	"swap_kb", "size_kb", "swap_pss_kb", "locked_kb", "ksm_kb", "anon_huge_kb", \
		"shmem_pmd_kb", "file_pmd_kb", "shared_hugetlb_kb", "private_hugetlb_kb"

/*
 * The fact tables. While a key exists, the first value in its rows is never unknown; NULL
 * means that the key no longer exists.
 */
const struct fact_table_info fact_tables[FACT_TABLE_COUNT_] = {
	[FACT_STATE] = { "state",
			 { "process" },
			 1,
			 { "ppid", "uid", "threads", "state", "error", "source",
			   "size_kb" },
			 7 },
	[FACT_USAGE] = { "usage",
			 { "process" },
			 1,
			 { SMAPS_OFTEN, "minor_faults", "major_faults" },
			 10 },
	[FACT_USAGE_MORE] = { "usage_more",
			      { "process" },
			      1,
			      { SMAPS_SELDOM, "droppable_kb" },
			      11 },
	[FACT_MAPPING] = { "mapping",
			   { "process", "start" },
			   2,
			   { "end", "flags", "file_offset", "dev", "inode", "name",
			     SMAPS_OFTEN, SMAPS_SELDOM },
			   24 },
	[FACT_HEAP] = { "heap",
			{ "process" },
			1,
			{ "quality", "allocator", "flags", "pause_us", "trimmable",
			  "live", "pool_pages", "pool_fragments", "heap_meta", "of_stack",
			  "of_anon", "of_file", "of_shmem" },
			13 },
	[FACT_HEAP_PART] = { "heap_part",
			     { "process", "allocator" },
			     2,
			     { "quality", "trimmable", "live", "pool_pages",
			       "pool_fragments", "heap_meta" },
			     6 },
	[FACT_GROUP] = { "cgroup_level",
			 { "cgroup", "level" },
			 2,
			 { "flags", "usage", "limit_bytes", "high", "peak", "swap",
			   "swap_limit", "max_count", "high_count", "oom_count",
			   "oom_kill_count", "swap_fail_count" },
			 12 },
	[FACT_GROUP_STAT] = { "cgroup_stat",
			      { "cgroup", "level" },
			      2,
			      { "anon",
				"file",
				"shmem",
				"kernel",
				"kernel_stack",
				"pagetables",
				"percpu",
				"vmalloc",
				"sock",
				"slab_reclaimable",
				"slab_unreclaimable",
				"inactive_anon",
				"active_anon",
				"inactive_file",
				"active_file",
				"unevictable",
				"file_mapped",
				"file_dirty",
				"file_writeback",
				"anon_thp",
				"swap",
				"lazyfree_count",
				"lazyfreed_count" },
			      23 },
	[FACT_GROUP_MORE] = { "cgroup_more",
			      { "cgroup" },
			      1,
			      { "group_count", "slack", "hidden_limit", "some_us",
				"full_us", "some_avg10", "full_avg10" },
			      7 },
};

char *recording_sql_insert(enum fact_table table)
{
	const struct fact_table_info *info = &fact_tables[table];
	struct strbuf sql = STRBUF_INIT;

	strbuf_addf(&sql, "INSERT OR REPLACE INTO %s VALUES(?", info->name);
	strbuf_add_repeat(&sql, ",?", info->key_count + info->value_count);
	strbuf_add_char(&sql, ')');
	return strbuf_take(&sql);
}

static _Thread_local char damage[256];

int recording_damaged(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(damage, sizeof(damage), format, args);
	va_end(args);
	return -EBADMSG;
}

const char *recording_damage(void)
{
	return damage;
}

/*
 * Return the errno value that SQLite stored for the last failed system call on the
 * write-ahead log, or 0.
 */
static int log_errno(sqlite3 *db)
{
	sqlite3_file *log = NULL;
	int error = 0;

	if (sqlite.file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) ==
		    SQLITE_OK &&
	    log && log->pMethods)
		(void)log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &error);
	return error;
}

/*
 * Return the errno value of the last failed system call as -errno, or -EIO if SQLite
 * stored none. sqlite3_system_errno() is 0 after a failed sqlite3_step() or
 * sqlite3_exec(), so also query the database file and its log.
 */
static int system_errno(sqlite3 *db)
{
	int error = sqlite.system_errno(db);

	if (error <= 0 &&
	    sqlite.file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &error) != SQLITE_OK)
		error = 0;
	if (error <= 0)
		error = log_errno(db);
	return error > 0 ? -error : -EIO;
}

int recording_sql_errno(sqlite3 *db)
{
	int code = sqlite.extended_errcode(db);

	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE: return 0;
	case SQLITE_FULL: return -ENOSPC;
	case SQLITE_PERM:
	case SQLITE_AUTH:
	case SQLITE_READONLY: return -EACCES;
	case SQLITE_BUSY:
	case SQLITE_LOCKED: return -EBUSY;
	case SQLITE_NOMEM: return -ENOMEM;
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR: return system_errno(db);
	case SQLITE_INTERRUPT:
		return recording_damaged(
			"reading it takes more work than its size allows");
	/* all other errors, such as SQLITE_CORRUPT, mean that the file is damaged */
	default: return recording_damaged("%s", sqlite.errmsg(db));
	}
}

int recording_sql_execute(sqlite3 *db, const char *sql)
{
	return sqlite.exec(db, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? 0
		       : recording_sql_errno(db);
}

int recording_sql_number(sqlite3 *db, const char *sql, int64_t *ret)
{
	sqlite3_stmt *statement = NULL;
	int code;

	if (sqlite.prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		return recording_sql_errno(db);
	code = sqlite.step(statement);
	*ret = code == SQLITE_ROW ? sqlite.column_int64(statement, 0) : 0;
	sqlite.finalize(statement);
	return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : recording_sql_errno(db);
}

int recording_sql_open_immutable(const char *path, sqlite3 **ret)
{
	_cleanup_strbuf_ struct strbuf uri = STRBUF_INIT;

	strbuf_add_text(&uri, "file:");
	for (const char *at = path; *at; at++)
		if (strchr("%?#", *at))
			strbuf_addf(&uri, "%%%02X", (unsigned int)*at);
		else
			strbuf_add_char(&uri, *at);
	strbuf_add_text(&uri, "?immutable=1");
	if (sqlite.open_v2(uri.text, ret, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) ==
	    SQLITE_OK)
		return 0;
	return *ret ? recording_sql_errno(*ret) : -ENOMEM;
}

/*
 * in SQLite's file header, user_version (offset 60) and application_id (offset 68) are
 * big-endian numbers of 4 bytes
 */
int recording_sql_check_head(int fd)
{
	static const char magic[16] = "SQLite format 3";
	unsigned char head[100];
	struct stat st;
	uint32_t id, version;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EEXIST;
	if (st.st_size == 0)
		return 0;
	n = pread(fd, head, sizeof(head), 0);
	if (n != (ssize_t)sizeof(head) || memcmp(head, magic, sizeof(magic)) != 0)
		return -EEXIST;
	memcpy(&version, head + 60, sizeof(version));
	memcpy(&id, head + 68, sizeof(id));
	if (be32toh(id) != RECORDING_APPLICATION_ID)
		return -EEXIST;
	return be32toh(version) > RECORDING_VERSION ? -ENOTSUP : 0;
}
