/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/system/kernel_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "base/xalloc.h"

#define DESCRIPTORS_MAX 50000
#define PATIENCE_MS 1000
#define LINK_SIZE 64
/*
 * Number of empty pages that a pipe keeps for reuse: up to two since Linux 6.14, and one
 * before.
 */
#define SPARE_PAGES 2

/* A pipe or socket, and one of the descriptors that refer to it. */
struct kernel_file {
	uint64_t inode;
	int pid, fd;
};

struct file_list {
	struct kernel_file *items;
	size_t count, capacity;
};

static void add_file(struct file_list *list, uint64_t inode, int pid, int fd)
{
	list->items = xgrow(list->items, &list->capacity, list->count + 1,
			    sizeof(*list->items));
	list->items[list->count++] = (struct kernel_file){ inode, pid, fd };
}

/*
 * Parse the inode number in the target of a link such as "pipe:[123]". `kind` is the text
 * before the bracket. Return false if the link is of another kind.
 */
static bool parse_link(const char *link, const char *kind, uint64_t *ret)
{
	size_t length = strlen(kind), end = strlen(link);
	char digits[LINK_SIZE];

	if (strncmp(link, kind, length) != 0 || end <= length || link[end - 1] != ']')
		return false;
	memcpy(digits, link + length, end - length - 1);
	digits[end - length - 1] = '\0';
	return num_parse_u64(digits, ret) == 0;
}

/*
 * Add the pipes and sockets of a process to the lists. Return 0, -E2BIG if the process
 * has more than *left descriptors, or -errno: -ESRCH if the process has ended.
 */
static int list_process(const struct procfs *fs, int pid, struct file_list *pipes,
			struct file_list *sockets, size_t *left)
{
	_cleanup_closedir_ DIR *dir = NULL;
	const struct dirent *entry;
	int fd = procfs_open_file(fs, pid, "fd");

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOTDIR;
	}
	while ((entry = readdir(dir))) {
		char link[LINK_SIZE];
		uint64_t inode, number;
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);

		/* skip "." and "..", and descriptors that have been closed since */
		if (n < 0 || num_parse_u64(entry->d_name, &number) < 0)
			continue;
		if ((*left)-- == 0)
			return -E2BIG;
		link[n] = '\0';
		if (parse_link(link, "pipe:[", &inode))
			add_file(pipes, inode, pid, (int)number);
		else if (parse_link(link, "socket:[", &inode))
			add_file(sockets, inode, pid, (int)number);
	}
	return 0;
}

static int compare_files(const void *a, const void *b)
{
	const struct kernel_file *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

static void make_unique(struct file_list *list)
{
	size_t kept = 0;

	if (list->count == 0)
		return;
	qsort(list->items, list->count, sizeof(*list->items), compare_files);
	for (size_t i = 1; i < list->count; i++)
		if (list->items[i].inode != list->items[kept].inode)
			list->items[++kept] = list->items[i];
	list->count = kept + 1;
}

uint64_t proc_kernel_files_pipe_limit(uint64_t capacity_bytes, uint64_t content_bytes,
				      uint64_t page_bytes)
{
	uint64_t pages = capacity_bytes / page_bytes;

	/*
	 * each used page contains at least one byte, so at most content_bytes pages are
	 * used
	 */
	if (content_bytes < pages)
		pages = content_bytes;
	return (pages + SPARE_PAGES) * page_bytes;
}

/*
 * Return an upper bound on the memory of a pipe's pages, in bytes. Return BYTES_UNKNOWN
 * if the kernel denies access, or if the descriptor now refers to another file.
 */
static uint64_t read_pipe(const struct kernel_file *file)
{
	_cleanup_close_ int process_fd = (int)syscall(SYS_pidfd_open, file->pid, 0);
	_cleanup_close_ int fd = -1;
	struct stat st;
	int capacity, content;

	if (process_fd < 0)
		return BYTES_UNKNOWN;
	fd = (int)syscall(SYS_pidfd_getfd, process_fd, file->fd, 0);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode) ||
	    st.st_ino != file->inode)
		return BYTES_UNKNOWN;
	capacity = fcntl(fd, F_GETPIPE_SZ);
	if (capacity < 0 || ioctl(fd, FIONREAD, &content) < 0)
		return BYTES_UNKNOWN;
	return proc_kernel_files_pipe_limit((uint64_t)capacity, (uint64_t)content,
					    (uint64_t)sysconf(_SC_PAGESIZE));
}

/*
 * Write the sum over all pipes to out_fd and exit. The child process runs this function.
 */
static _Noreturn void sum_pipes(const struct file_list *pipes, int out_fd)
{
	uint64_t bytes = 0;
	ssize_t n;

	/*
	 * close the standard streams, so that a program that reads memstate's output gets
	 * end of file even if the child process hangs
	 */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fd != out_fd)
			close(fd);
	for (size_t i = 0; i < pipes->count && bytes_known(bytes); i++)
		bytes = bytes_add(bytes, read_pipe(&pipes->items[i]));
	n = write(out_fd, &bytes, sizeof(bytes));
	_exit(n == (ssize_t)sizeof(bytes) ? 0 : 1);
}

/*
 * Wait for the child process to write the total memory of the pipes. Return 0 or
 * -ETIMEDOUT.
 */
static int receive_sum(int fd, uint64_t *ret)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	uint64_t bytes;
	int r;

	do
		r = poll(&polled, 1, PATIENCE_MS);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return -ETIMEDOUT;
	if (r > 0 && read(fd, &bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes))
		*ret = bytes;
	return 0;
}

/*
 * Fork a child process that adds up the memory of the pipes, because a query can hang in
 * the kernel. Return 0, or -ETIMEDOUT if the child does not answer in time. *ret is
 * unchanged if there is no result.
 */
static int read_pipes(const struct file_list *pipes, uint64_t *ret)
{
	int fds[2], r;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return 0;
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		sum_pipes(pipes, fds[1]);
	}
	close(fds[1]);
	r = pid < 0 ? 0 : receive_sum(fds[0], ret);
	close(fds[0]);
	if (pid < 0)
		return 0;
	/*
	 * after a timeout, do not wait for the child process: it may hang in the kernel
	 * on a pipe's lock, and can exit only after the lock is released
	 */
	if (r < 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, NULL, r < 0 ? WNOHANG : 0) < 0 && errno == EINTR)
		;
	return r;
}

int proc_kernel_files_read(const struct procfs *fs, const int *pids, size_t count,
			   struct cgroup_kernel *ret)
{
	struct file_list pipes = { 0 }, sockets = { 0 };
	size_t left = DESCRIPTORS_MAX;
	int r = 0;

	ret->pipe_count = ret->socket_count = COUNT_UNKNOWN;
	ret->pipe_limit_bytes = BYTES_UNKNOWN;
	for (size_t i = 0; i < count && r == 0; i++) {
		r = list_process(fs, pids[i], &pipes, &sockets, &left);
		if (r == -ESRCH)
			r = 0;
	}
	if (r == 0) {
		make_unique(&pipes);
		make_unique(&sockets);
		ret->pipe_count = pipes.count;
		ret->socket_count = sockets.count;
		if (pipes.count == 0)
			ret->pipe_limit_bytes = 0;
		else
			r = read_pipes(&pipes, &ret->pipe_limit_bytes);
	}
	free(pipes.items);
	free(sockets.items);
	return r == -ETIMEDOUT ? r : 0;
}
