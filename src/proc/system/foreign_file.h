/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * foreign_file - open a file whose path or directory another user controls.
 *
 * A symlink may point anywhere, a FIFO blocks the process that opens it, and opening a
 * device can have side effects. The lookup of a foreign file therefore starts at a root
 * directory, which no symlink or ".." can leave, and does not follow the kernel's magic
 * links. The file is examined before it is opened, and opened without blocking. It must
 * be a regular file, not on a kernel file system (proc, sysfs …), and not larger than the
 * caller's limit.
 *
 * On FUSE, the server can delay the lookup or the examination of a file indefinitely. If
 * a path leads from the root's mount to another mount, or is below the root of another
 * process, the lookup therefore uses only local file systems (local_mount.h).
 *
 * Errors: -EBADMSG if the file is not such a regular file, -EFBIG if it is larger than
 * the limit, -ELOOP for a magic link or too many symlinks, -EREMOTE if the file system
 * may never answer, -ENOTDIR if a directory was expected, or another -errno.
 */
#ifndef MS_PROC_SYSTEM_FOREIGN_FILE_H
#define MS_PROC_SYSTEM_FOREIGN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* Value of root_fd that stands for memstate's own root directory. */
#define FOREIGN_OWN_ROOT (-1000)

/*
 * Value of root_fd that stands for the root directory of the process whose /proc
 * directory is process_fd.
 */
#define FOREIGN_ROOT_OF(process_fd) (-2000 - (process_fd))

/*
 * Size limit for ELF and debug files, which is larger than the files of any real program.
 */
#define FOREIGN_ELF_BYTES_MAX (UINT64_C(16) << 30)

/*
 * Open path below root_fd for reading; leading slashes are ignored. root_fd is
 * FOREIGN_OWN_ROOT, FOREIGN_ROOT_OF(), or a descriptor of a trusted directory, for which
 * O_PATH suffices. Return a descriptor that the caller closes, or -errno as described at
 * the top of this file.
 */
int foreign_file_open(int root_fd, const char *path, uint64_t bytes_max);

/*
 * Like foreign_file_open(), but open an entry of dir_fd, and fail with -ELOOP if the
 * entry is a symlink. Use this function where a symlink would make the same file count
 * twice.
 */
int foreign_file_open_entry(int dir_fd, const char *name, uint64_t bytes_max);

/*
 * Append a whole file, at most `bytes_max` bytes. Return 0, or -errno with
 * *out unchanged.
 */
int foreign_file_read(int root_fd, const char *path, size_t bytes_max,
		      struct strbuf *out);

/*
 * The user and groups on whose behalf memstate reads a file. memstate may have more
 * rights than the process that chose the path.
 */
struct foreign_reader {
	/* if false, the ids are unknown, and only the permissions of "others" count */
	bool has_ids;
	uint32_t uid, gid;
	uint32_t *groups;
	size_t group_count;
};

#define FOREIGN_READER_INIT    \
	{                      \
		.groups = NULL \
	}

void foreign_reader_release(struct foreign_reader *reader);

/*
 * Like foreign_file_read(), but fail with -EACCES unless the mode bits allow the reader
 * to search each directory, starting with root_fd, and to read the file. Capabilities and
 * POSIX ACLs grant nothing: if a file has an ACL, only its owner may read the file.
 */
int foreign_file_read_for(const struct foreign_reader *reader, int root_fd,
			  const char *path, size_t bytes_max, struct strbuf *out);

/*
 * Open a directory to read its entries. Return a descriptor that the caller closes, or
 * -errno as described at the top of this file.
 */
int foreign_file_open_dir(int root_fd, const char *path);

/*
 * Find a file of any type without opening it. Return an O_PATH descriptor for fstat(2),
 * or -errno as described at the top of this file. If is_link is set, a symlink at the end
 * of the path is not followed.
 */
int foreign_file_find(int root_fd, const char *path, bool is_link);

/*
 * Like foreign_file_open(), but open a magic link, such as map_files/ADDRESSES or exe, in
 * a process's directory in the kernel's own /proc. The link itself is trusted, but not
 * the file that it refers to.
 */
int foreign_file_open_link(int process_fd, const char *link, uint64_t bytes_max);

#endif
