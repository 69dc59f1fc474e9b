/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file - keep the descriptors of recordings open, so that SQLite keeps its locks.
 *
 * SQLite locks a database with fcntl(2). The kernel releases these locks as soon as the
 * process closes any descriptor of the file. A descriptor that memstate opens itself must
 * therefore stay open until SQLite has closed its last connection to the file.
 */
#ifndef MS_STORE_RECORDING_FILE_H
#define MS_STORE_RECORDING_FILE_H

#include <stdint.h>

struct recording_file;

/*
 * Open path as open(2) does, but return immediately if path is a FIFO. Return 0; -EEXIST
 * if path is not a regular file; or -errno. The caller closes *ret with
 * recording_file_close().
 */
int recording_file_open(const char *path, int flags, struct recording_file **ret);

/*
 * Return the descriptor of the recording. The caller may read from it and lock it with
 * flock(2), but must not close it.
 */
int recording_file_fd(const struct recording_file *file);

/* Return the total size of the recording and its write-ahead log, in bytes. */
uint64_t recording_file_bytes(const struct recording_file *file);

/*
 * Return the size in bytes of the write-ahead log of the recording at path, or -1 if it
 * has no log.
 */
int64_t recording_file_wal_bytes(const char *path);

/*
 * Remove the file, and the files that SQLite created next to it, if recording_file_open()
 * created the file and the file still has its name.
 */
void recording_file_remove_created(const struct recording_file *file);

/*
 * Release the file after sqlite3_close(). The descriptor is closed when no other
 * recording_file of this process refers to the same inode. NULL is allowed.
 */
void recording_file_close(struct recording_file *file);

#endif
