/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/mapped_file.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "proc/process/dir.h"
#include "proc/system/foreign_file.h"

#ifndef BTRFS_SUPER_MAGIC
#	define BTRFS_SUPER_MAGIC 0x9123683E
#endif
#ifndef OVERLAYFS_SUPER_MAGIC
#	define OVERLAYFS_SUPER_MAGIC 0x794c7630
#endif

/*
 * Return true if fd is on a file system for which stat(2) and /proc/PID/maps report
 * different devices.
 */
static bool may_differ_in_device(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 &&
	       ((unsigned long)fs.f_type == BTRFS_SUPER_MAGIC ||
		(unsigned long)fs.f_type == OVERLAYFS_SUPER_MAGIC);
}

static bool is_file_of(int fd, const struct mapping *m)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino == m->inode &&
	       ((major(st.st_dev) == m->dev_major && minor(st.st_dev) == m->dev_minor) ||
		may_differ_in_device(fd));
}

/* Return fd if it is the mapping's file. Otherwise close fd, and return an error. */
static int check_opened(int fd, const struct mapping *m)
{
	if (fd < 0 || is_file_of(fd, m))
		return fd;
	close(fd);
	return -ESTALE;
}

/*
 * Open the mapping's path below the root directory of the process. The process can
 * replace the file at this path, so the caller checks the file. A path with a line break
 * is not found, because the kernel writes the line break as \012.
 */
static int open_path(int process_fd, const struct mapping *m)
{
	if (m->name[0] != '/')
		return -ESTALE;
	return check_opened(foreign_file_open(FOREIGN_ROOT_OF(process_fd), m->name,
					      FOREIGN_ELF_BYTES_MAX),
			    m);
}

int mapped_file_open(int process_fd, const struct mapping *m)
{
	int fd;

	if (m->inode == 0)
		return -ESTALE;
	if (m->flags & MAPPING_REMOTE)
		return -EREMOTE;
	/*
	 * /proc/PID/map_files also works for deleted files, but requires
	 * CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN
	 */
	fd = check_opened(proc_dir_open_mapped(process_fd, m->start_addr, m->end_addr),
			  m);
	if (fd < 0)
		fd = check_opened(proc_dir_open_program(process_fd), m);
	return fd < 0 ? open_path(process_fd, m) : fd;
}
