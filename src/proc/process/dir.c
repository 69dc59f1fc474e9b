/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/process/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/io.h"
#include "proc/system/foreign_file.h"

#define PATH_SIZE 96
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

static int open_at(int dir_fd, const char *path, int flags)
{
	int fd = openat(dir_fd, path, flags);

	return fd < 0 ? -errno : fd;
}

int proc_dir_open(const struct procfs *fs, int pid)
{
	return procfs_open_file(fs, pid, "");
}

int proc_dir_open_live(int pid)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return open_at(AT_FDCWD, path, DIR_FLAGS);
}

int proc_dir_find(const struct procfs *fs, int pid)
{
	char path[PROCFS_PATH_SIZE];

	procfs_format_path(path, pid, "");
	return open_at(fs->fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int proc_dir_open_root(const struct procfs *fs, int pid)
{
	char path[PROCFS_PATH_SIZE];

	proc_file_format_path(path, pid, PROC_ROOT);
	if (fs->is_foreign)
		return foreign_file_find(fs->fd, path, false);
	return open_at(fs->fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int proc_dir_open_file(int process_fd, enum proc_file file, int flags)
{
	return open_at(process_fd, proc_file_name(file), flags | O_CLOEXEC);
}

int proc_dir_read(int process_fd, enum proc_file file, size_t limit, struct strbuf *out)
{
	return io_read_file_at(process_fd, proc_file_name(file), limit, out);
}

int proc_dir_stat(int process_fd, enum proc_file file, struct stat *ret)
{
	return fstatat(process_fd, proc_file_name(file), ret, 0) < 0 ? -errno : 0;
}

ssize_t proc_dir_read_link(int process_fd, enum proc_file file, char *ret, size_t size)
{
	ssize_t n = readlinkat(process_fd, proc_file_name(file), ret, size);

	return n < 0 ? -errno : n;
}

int proc_dir_open_program(int process_fd)
{
	return foreign_file_open_link(process_fd, proc_file_name(PROC_EXE),
				      FOREIGN_ELF_BYTES_MAX);
}

static void format_mapped(char path[PATH_SIZE], uint64_t start_addr, uint64_t end_addr)
{
	snprintf(path, PATH_SIZE, "map_files/%" PRIx64 "-%" PRIx64, start_addr, end_addr);
}

int proc_dir_open_mapped(int process_fd, uint64_t start_addr, uint64_t end_addr)
{
	char path[PATH_SIZE];

	format_mapped(path, start_addr, end_addr);
	return foreign_file_open_link(process_fd, path, FOREIGN_ELF_BYTES_MAX);
}

static void format_mapped_of(char path[PROCFS_PATH_SIZE], int pid, uint64_t start_addr,
			     uint64_t end_addr)
{
	char file[PATH_SIZE];

	format_mapped(file, start_addr, end_addr);
	procfs_format_path(path, pid, file);
}

bool proc_mapped_exists(const struct procfs *fs, int pid, uint64_t start_addr,
			uint64_t end_addr)
{
	char path[PROCFS_PATH_SIZE];
	struct stat link;

	format_mapped_of(path, pid, start_addr, end_addr);
	return fstatat(fs->fd, path, &link, AT_SYMLINK_NOFOLLOW) == 0;
}

int proc_mapped_find(const struct procfs *fs, int pid, uint64_t start_addr,
		     uint64_t end_addr)
{
	char path[PROCFS_PATH_SIZE];

	format_mapped_of(path, pid, start_addr, end_addr);
	return open_at(fs->fd, path, O_PATH | O_CLOEXEC);
}

int proc_dir_open_threads(int process_fd)
{
	return proc_dir_open_file(process_fd, PROC_TASK, DIR_FLAGS);
}

DIR *proc_dir_list_threads(int process_fd)
{
	int fd = proc_dir_open_threads(process_fd);
	DIR *threads = fd < 0 ? NULL : fdopendir(fd);

	if (!threads && fd >= 0)
		close(fd);
	return threads;
}

int proc_dir_read_thread(int process_fd, int tid, enum proc_file file, size_t limit,
			 struct strbuf *out)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "task/%d/%s", tid, proc_file_name(file));
	return io_read_file_at(process_fd, path, limit, out);
}

bool proc_dir_has_thread(int process_fd, int tid)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "task/%d", tid);
	return faccessat(process_fd, path, F_OK, 0) == 0;
}

int proc_thread_open(int task_fd, int tid, enum proc_file file, int flags)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%d/%s", tid, proc_file_name(file));
	return open_at(task_fd, path, flags | O_CLOEXEC);
}

int proc_thread_read(int task_fd, int tid, enum proc_file file, size_t limit,
		     struct strbuf *out)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%d/%s", tid, proc_file_name(file));
	return io_read_file_at(task_fd, path, limit, out);
}

bool proc_thread_exists(int task_fd, int tid)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%d", tid);
	return faccessat(task_fd, path, F_OK, 0) == 0;
}
