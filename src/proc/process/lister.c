/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/process/lister.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/search.h"
#include "base/xalloc.h"
#include "proc/process/file.h"
#include "proc/process/statm.h"

struct entry {
	struct process process; /* state is 0 if stat is hidden or has not been read */
	struct statm statm;
	/*
	 * Inode number of the statm file; 0 if unknown. It identifies a process whose
	 * statm is not open, because the kernel creates a new inode for each process.
	 */
	uint64_t inode;
	int fd; /* descriptor of statm that stays open until the next listing, or -1 */
	bool must_read_stat;
};

struct entry_list {
	struct entry *items; /* entries in ascending order of pid */
	size_t count, capacity;
};

struct lister {
	const struct procfs *fs;
	uint64_t page_bytes;
	struct entry_list now, before;
	unsigned int look_count;
	size_t held_count, held_max;
	/*
	 * true after a file could not be opened because too many are open; no descriptors
	 * stay open from then on
	 */
	bool holds_none;
};

struct lister *lister_new(const struct procfs *fs)
{
	struct lister *l = xcalloc(1, sizeof(*l));

	l->fs = fs;
	l->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	return l;
}

static void release_fd(struct lister *l, struct entry *e)
{
	if (e->fd < 0)
		return;
	close(e->fd);
	e->fd = -1;
	l->held_count--;
}

static void release_fds(struct lister *l)
{
	for (size_t i = 0; i < l->now.count; i++)
		release_fd(l, &l->now.items[i]);
	for (size_t i = 0; i < l->before.count; i++)
		release_fd(l, &l->before.items[i]);
}

void lister_free(struct lister *l)
{
	if (!l)
		return;
	release_fds(l);
	free(l->now.items);
	free(l->before.items);
	free(l);
}

/* Recompute how many descriptors may stay open, because the limit may have changed. */
static void set_held_max(struct lister *l)
{
	struct rlimit limit;

	l->held_max = LISTER_HELD_MAX;
	if (l->holds_none || getrlimit(RLIMIT_NOFILE, &limit) < 0)
		l->held_max = 0;
	else if (limit.rlim_cur / 2 < l->held_max)
		l->held_max = (size_t)(limit.rlim_cur / 2);
	if (l->held_count > l->held_max)
		release_fds(l);
}

static int add_pid(void *context, const struct process *p)
{
	struct entry_list *list = context;

	list->items = xgrow(list->items, &list->capacity, list->count + 1,
			    sizeof(*list->items));
	list->items[list->count++] = (struct entry){
		.process = *p,
		.fd = -1,
	};
	return 0;
}

static struct entry *find_entry(const struct entry_list *list, int pid)
{
	size_t i = SEARCH_FIRST(list->count, k, list->items[k].process.pid >= pid);

	return i < list->count && list->items[i].process.pid == pid ? &list->items[i]
								    : NULL;
}

/*
 * Close all descriptors, and keep none open from now on. Called when no more files can be
 * opened.
 */
static void stop_holding(struct lister *l)
{
	release_fds(l);
	l->holds_none = true;
	l->held_max = 0;
}

static bool is_out_of_descriptors(int r)
{
	return r == -EMFILE || r == -ENFILE;
}

static int list_pids(struct lister *l, struct entry_list *list)
{
	int r;

	list->count = 0;
	r = proc_list_read(l->fs, 0, add_pid, list);
	if (!is_out_of_descriptors(r) || l->holds_none)
		return r;
	stop_holding(l);
	list->count = 0;
	return proc_list_read(l->fs, 0, add_pid, list);
}

/* Move the known data of each process to the new list. */
static void move_known(struct entry_list *from, struct entry_list *to)
{
	size_t old = 0;

	for (size_t i = 0; i < to->count; i++) {
		struct entry *e = &to->items[i];

		while (old < from->count && from->items[old].process.pid < e->process.pid)
			old++;
		if (old == from->count || from->items[old].process.pid != e->process.pid)
			continue;
		*e = from->items[old];
		e->must_read_stat = false;
		from->items[old].fd = -1;
	}
}

static int list_entries(struct lister *l)
{
	struct entry_list list;
	int r = list_pids(l, &l->before);

	if (r < 0) {
		l->before.count = 0;
		return r;
	}
	list = l->now;
	l->now = l->before;
	l->before = list;
	move_known(&l->before, &l->now);
	for (size_t i = 0; i < l->before.count; i++)
		release_fd(l, &l->before.items[i]);
	l->before.count = 0;
	return 0;
}

/*
 * Return true if the parent of the process has ended. The kernel then gives the process
 * another parent.
 */
static bool has_lost_parent(const struct lister *l, const struct entry *e)
{
	const struct entry *parent;

	if (e->process.ppid == 0)
		return false;
	parent = find_entry(&l->now, e->process.ppid);
	return !parent || process_has_ended(&parent->process);
}

static void mark_stat(struct lister *l, const int *pids, size_t count)
{
	bool is_lost = false;
	int ppid = 0;

	for (size_t i = 0; i < count; i++) {
		struct entry *e = find_entry(&l->now, pids[i]);

		if (e)
			e->must_read_stat = true;
	}
	for (size_t i = 0; i < l->now.count; i++) {
		struct entry *e = &l->now.items[i];

		/* check a parent once for consecutive processes with the same parent */
		if (i == 0 || e->process.ppid != ppid)
			is_lost = has_lost_parent(l, e);
		ppid = e->process.ppid;
		if (is_lost ||
		    ((unsigned int)e->process.pid + l->look_count) % LISTER_TURNS == 0)
			e->must_read_stat = true;
	}
}

/* Forget a process whose pid may belong to another process now. */
static void forget(struct lister *l, struct entry *e)
{
	int pid = e->process.pid;

	release_fd(l, e);
	*e = (struct entry){
		.process = { .pid = pid, .uid = UINT32_MAX },
		.fd = -1,
		.must_read_stat = true,
	};
}

/*
 * Forget the process if statm has another inode number than before, because the pid was
 * then reused.
 */
static void check_inode(struct lister *l, struct entry *e, const struct stat *st)
{
	if (e->inode == st->st_ino)
		return;
	forget(l, e);
	e->inode = st->st_ino;
}

/*
 * Open statm. The caller either closes the descriptor or keeps it in e->fd for the next
 * listing.
 */
static int open_statm(struct lister *l, struct entry *e)
{
	int fd = proc_file_open(l->fs, e->process.pid, PROC_STATM);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	check_inode(l, e, &st);
	return fd;
}

static int read_stat(struct lister *l, struct entry *e)
{
	struct process p;
	int r = proc_list_read_one(l->fs, e->process.pid, &p);

	if (r < 0)
		return r;
	e->process = p;
	return 0;
}

/*
 * Return true if the process has no pages although it is not a kernel thread: it has
 * ended, or its main thread has. Its state is then read in each listing.
 */
static bool is_ending(const struct entry *e)
{
	return e->statm.size_pages == 0 && !e->process.is_kernel_thread;
}

static bool is_changed(const struct statm *a, const struct statm *b)
{
	return a->size_pages != b->size_pages || a->resident_pages != b->resident_pages ||
	       a->shared_pages != b->shared_pages;
}

/*
 * Read stat, and ensure that it belongs to the process whose statm is open. If stat shows
 * a new process, read statm again. Success means that the process whose statm is open
 * still exists. Its pid was then not reused, so stat belongs to the same process.
 */
static int read_stat_of_statm(struct lister *l, struct entry *e, int fd,
			      struct statm *statm)
{
	struct process before = e->process;
	int r = read_stat(l, e);

	if (r == 0 && (before.state == '\0' || !process_is_same(&before, &e->process)))
		r = proc_statm_read(fd, statm);
	return r;
}

static int read_files(struct lister *l, struct entry *e, int fd)
{
	struct statm statm;
	int r = proc_statm_read(fd, &statm);

	if (r == 0 &&
	    (e->must_read_stat || is_changed(&statm, &e->statm) || is_ending(e)))
		r = read_stat_of_statm(l, e, fd, &statm);
	if (r < 0)
		return r;
	e->statm = statm;
	if (e->process.state != '\0')
		e->process.stat_rss_bytes = statm.resident_pages * l->page_bytes;
	return 0;
}

/*
 * Update a kernel thread. Its statm never changes, and therefore need not stay open.
 * Return false if the pid belongs to another process now.
 */
static bool update_kernel_thread(struct lister *l, struct entry *e, int *ret)
{
	char path[PROCFS_PATH_SIZE];
	struct stat st;

	proc_file_format_path(path, e->process.pid, PROC_STATM);
	if (procfs_stat_path(l->fs, path, &st) < 0 || st.st_ino != e->inode)
		return false;
	*ret = e->must_read_stat ? read_stat(l, e) : 0;
	return true;
}

/* Open the statm file of a process, and update the data of the process. */
static int update_by_opening(struct lister *l, struct entry *e)
{
	int fd, r;

	if (e->process.is_kernel_thread && update_kernel_thread(l, e, &r))
		return r;
	fd = open_statm(l, e);
	if (fd == -EACCES || fd == -EPERM || fd == -EOPNOTSUPP) {
		/* if statm cannot be opened, read stat in each listing */
		forget(l, e);
		return read_stat(l, e);
	}
	if (fd < 0)
		return fd;
	r = read_files(l, e, fd);
	if (r == 0 && l->held_count < l->held_max && process_has_memory(&e->process)) {
		e->fd = fd;
		l->held_count++;
		return 0;
	}
	close(fd);
	return r;
}

static int update(struct lister *l, struct entry *e)
{
	if (e->fd >= 0) {
		int r = read_files(l, e, e->fd);

		if (r != -ESRCH)
			return r;
		forget(l, e);
	}
	return update_by_opening(l, e);
}

/*
 * Update all entries, and drop those of processes that have ended. If a process cannot be
 * read for another reason, the listing fails, and all entries are forgotten.
 */
static int update_all(struct lister *l)
{
	size_t kept = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < l->now.count; i++) {
		struct entry *e = &l->now.items[i];

		r = update(l, e);
		if (is_out_of_descriptors(r) && !l->holds_none) {
			stop_holding(l);
			r = update(l, e);
		}
		if (r == -ESRCH || r == -EOPNOTSUPP) {
			release_fd(l, e);
			r = 0;
			continue;
		}
		if (r < 0)
			break;
		if (kept != i) {
			l->now.items[kept] = *e;
			e->fd = -1;
		}
		kept++;
	}
	if (r < 0) {
		release_fds(l);
		kept = 0;
	}
	l->now.count = kept;
	return r;
}

int lister_read(struct lister *l, const int *pids, size_t count, process_fn fn,
		void *context)
{
	int r;

	set_held_max(l);
	l->look_count++;
	r = list_entries(l);
	if (r < 0)
		return r;
	mark_stat(l, pids, count);
	r = update_all(l);
	for (size_t i = 0; r == 0 && i < l->now.count; i++)
		r = fn(context, &l->now.items[i].process);
	return r;
}
