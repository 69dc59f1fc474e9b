/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/track/fault_fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "probe/borrow/borrow.h"
#include "probe/borrow/gates.h"
#include "probe/track/others.h"
#include "proc/process/dir.h"
#include "proc/smaps/maps.h"
#include "tracee/ptrace/trace.h"

#ifndef SYS_pidfd_open
#	define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#	define SYS_pidfd_getfd 438
#endif
#ifndef UFFD_USER_MODE_ONLY
#	define UFFD_USER_MODE_ONLY 1
#endif

/*
 * Time that the tracing thread may take in addition to request->limit_ns, which limits
 * the wait for a safe moment.
 */
#define TRACE_EXTRA_NS (20 * NS_PER_S)

/*
 * Maximum number of open descriptors of a process; memstate refuses a process with more.
 */
#define DESCRIPTORS_MAX 65536

struct work {
	struct borrow borrow;
	int pidfd;
	int fd; /* memstate's duplicate of the userfaultfd, or -1 */
};

/* Return true if memstate's descriptor fd is a userfaultfd. */
static bool is_fault_fd(int fd)
{
	static const char expected[] = "anon_inode:[userfaultfd]";
	_cleanup_close_ int own_fd = proc_own_open(PROC_FDS, O_RDONLY | O_DIRECTORY);
	char name[16], target[64];
	ssize_t length;

	snprintf(name, sizeof(name), "%d", fd);
	length = readlinkat(own_fd, name, target, sizeof(target));
	return length == (ssize_t)strlen(expected) &&
	       memcmp(target, expected, strlen(expected)) == 0;
}

static int duplicate(void *context, int fd)
{
	struct work *w = context;
	int r = (int)syscall(SYS_pidfd_getfd, w->pidfd, fd, 0);

	if (r < 0) {
		w->borrow.reason = "the kernel did not pass the descriptor on";
		return -errno;
	}
	if (!is_fault_fd(r)) {
		close(r);
		w->borrow.reason = "its threads do not share their descriptors";
		return -EOPNOTSUPP;
	}
	w->fd = r;
	return 0;
}

/* Return the lowest descriptor number that is free in the borrowed thread, or -errno. */
static int find_free_number(const struct borrow *b)
{
	_cleanup_close_ int task_fd = proc_dir_open_threads(b->process_fd);
	_cleanup_free_ uint8_t *used = xcalloc(DESCRIPTORS_MAX, 1);
	_cleanup_closedir_ DIR *list = NULL;
	struct dirent *entry;
	uint64_t open_number;
	int number, fd;

	fd = task_fd < 0 ? task_fd
			 : proc_thread_open(task_fd, b->tid, PROC_FDS,
					    O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	list = fdopendir(fd);
	if (!list) {
		close(fd);
		return -ENOMEM;
	}
	while ((entry = readdir(list)))
		if (num_parse_u64(entry->d_name, &open_number) == 0 &&
		    open_number < DESCRIPTORS_MAX)
			used[open_number] = 1;
	for (number = 0; number < DESCRIPTORS_MAX; number++)
		if (!used[number])
			return number;
	return -EMFILE;
}

static int open_stopped(struct work *w)
{
	const uint64_t call[7] = { SYS_userfaultfd,
				   O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY };
	int number = find_free_number(&w->borrow);
	long result = 0;
	int r;

	if (number < 0) {
		w->borrow.reason = "its descriptors cannot be listed";
		return number;
	}
	r = borrow_open_briefly(&w->borrow, call, number, duplicate, w, &result);
	if (r == 0 && result < 0) {
		w->borrow.reason = result == -EMFILE || result == -ENFILE
					   ? "it cannot open more files"
					   : "it may not use userfaultfd";
		return (int)result;
	}
	return r;
}

static int work(void *context)
{
	struct work *w = context;
	struct others others = OTHERS_INIT;
	int r = borrow_begin(&w->borrow), ended;

	if (r < 0)
		return r;
	r = others_hold(&others, &w->borrow);
	if (r == 0)
		r = open_stopped(w);
	ended = borrow_end(&w->borrow);
	others_release(&others);
	return r < 0 ? r : ended;
}

static int run(struct work *w, const struct probe_request *request,
	       struct landmarks *marks, const char **ret_reason)
{
	int r;

	w->borrow.reason = "the kernel refused it";
	w->borrow.request = request;
	w->borrow.marks = marks;
	w->borrow.is_interruptible = true;
	w->pidfd = (int)syscall(SYS_pidfd_open, request->pid, 0);
	if (w->pidfd < 0)
		r = -errno;
	else
		r = trace_run(work, w, request->limit_ns + TRACE_EXTRA_NS);
	if (w->pidfd >= 0)
		close(w->pidfd);
	if (r < 0)
		*ret_reason = r == -EUSERS || r == -ENOBUFS ? gates_error_text(r)
							    : w->borrow.reason;
	if (r < 0 && w->fd >= 0)
		close(w->fd);
	borrow_release(&w->borrow);
	return r;
}

int fault_fd_open(const struct probe_request *request, int *ret_fd,
		  struct probe_cost *ret_cost, const char **ret_reason)
{
	_cleanup_close_ int process_fd = proc_dir_open(request->fs, request->pid);
	_cleanup_close_ int mem_fd = -1;
	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct landmarks marks = LANDMARKS_INIT;
	struct work w = { .fd = -1 };
	int r;

	*ret_cost = (struct probe_cost){ .stops = 0 };
	*ret_reason = gates_error_text(process_fd < 0 ? process_fd : -ESRCH);
	if (process_fd < 0)
		return process_fd;
	r = gates_check(request, process_fd, ret_reason);
	if (r == 0) {
		mem_fd = gates_open_memory(process_fd, ret_reason);
		r = mem_fd < 0 ? mem_fd : 0;
	}
	if (r == 0)
		r = proc_maps_read(process_fd, &mappings);
	if (r == 0)
		r = landmarks_read_code(process_fd, &mappings, &marks, ret_reason);
	mapping_list_release(&mappings);
	w.borrow.process_fd = process_fd;
	w.borrow.mem_fd = mem_fd;
	if (r == 0)
		r = run(&w, request, &marks, ret_reason);
	landmarks_release(&marks);
	*ret_cost = w.borrow.cost;
	*ret_fd = r == 0 ? w.fd : -1;
	return r;
}
