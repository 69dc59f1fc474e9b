/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/process/pids.h"

#include <errno.h>
#include <libproc2/pids.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "proc/process/task.h"

/*
 * The items to request from libproc2. All of them come from /proc/PID/stat and the owner
 * of that file, so libproc2 opens only one file per process.
 */
enum {
	ITEM_PID,
	ITEM_PPID,
	ITEM_STATE,
	ITEM_FLAGS,
	ITEM_THREADS,
	ITEM_START,
	ITEM_RSS,
	ITEM_SIZE,
	ITEM_MINFLT,
	ITEM_MAJFLT,
	ITEM_COMM,
	ITEM_UID,
	ITEM_COUNT_
};

static enum pids_item items[ITEM_COUNT_] = {
	[ITEM_PID] = PIDS_ID_PID,     [ITEM_PPID] = PIDS_ID_PPID,
	[ITEM_STATE] = PIDS_STATE,    [ITEM_FLAGS] = PIDS_FLAGS,
	[ITEM_THREADS] = PIDS_NLWP,   [ITEM_START] = PIDS_TICS_BEGAN,
	[ITEM_RSS] = PIDS_RSS,	      [ITEM_SIZE] = PIDS_VSIZE_BYTES,
	[ITEM_MINFLT] = PIDS_FLT_MIN, [ITEM_MAJFLT] = PIDS_FLT_MAJ,
	[ITEM_COMM] = PIDS_CMD,	      [ITEM_UID] = PIDS_ID_EUID,
};

/*
 * PIDS_VAL has four arguments in libproc2 4.0.2 (Debian 12), and three in later versions.
 * configure checks which version is installed.
 */
#if HAVE_PIDS_VAL_WITH_INFO
#	define VALUE(item, type, stack) PIDS_VAL(item, type, stack, NULL)
#else
#	define VALUE(item, type, stack) PIDS_VAL(item, type, stack)
#endif

/*
 * Set the process's name. libproc2 replaces bytes that are not printable in the locale
 * with '?', while the comm file contains the original bytes.
 */
static void read_comm(const struct procfs *fs, const char *shown, struct process *p)
{
	text_copy(p->comm, sizeof(p->comm), shown);
	if (strchr(shown, '?'))
		(void)proc_task_read_comm(fs, p->pid, p->comm);
}

static void fill(const struct procfs *fs, struct pids_stack *stack, struct process *p)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

	memset(p, 0, sizeof(*p));
	p->pid = VALUE(ITEM_PID, s_int, stack);
	p->ppid = VALUE(ITEM_PPID, s_int, stack);
	p->uid = VALUE(ITEM_UID, u_int, stack);
	p->state = (char)VALUE(ITEM_STATE, s_ch, stack);
	p->is_kernel_thread = VALUE(ITEM_FLAGS, ul_int, stack) &
			      PROCESS_FLAG_KERNEL_THREAD;
	p->is_fork = VALUE(ITEM_FLAGS, ul_int, stack) & PROCESS_FLAG_FORK;
	p->thread_count = (uint32_t)VALUE(ITEM_THREADS, s_int, stack);
	p->start_ticks = VALUE(ITEM_START, ull_int, stack);
	p->stat_rss_bytes = VALUE(ITEM_RSS, ul_int, stack) * page_bytes;
	p->stat_size_bytes = VALUE(ITEM_SIZE, ul_int, stack);
	p->minor_fault_count = VALUE(ITEM_MINFLT, ul_int, stack);
	p->major_fault_count = VALUE(ITEM_MAJFLT, ul_int, stack);
	read_comm(fs, VALUE(ITEM_COMM, str, stack), p);
}

int proc_pids_read(const struct procfs *fs, process_fn fn, void *context)
{
	struct pids_info *info = NULL;
	struct pids_stack *stack;
	bool is_empty = true;
	int r;

	/*
	 * create a new context, which takes a few us, for each listing: in libproc2
	 * 4.0.2, a context returns nothing more once it has reached the end of the list
	 */
	r = procps_pids_new(&info, items, ITEM_COUNT_);
	if (r < 0)
		return r;
	/*
	 * read the processes one by one, because procps_pids_reap() would hold all
	 * results in memory
	 */
	while (r == 0 &&
	       (errno = 0, stack = procps_pids_get(info, PIDS_FETCH_TASKS_ONLY))) {
		struct process p;

		is_empty = false;
		fill(fs, stack, &p);
		r = fn(context, &p);
	}
	/*
	 * a complete list contains memstate itself, so an empty list means that libproc2
	 * could not open /proc
	 */
	if (is_empty && r == 0)
		r = errno ? -errno : -EIO;
	procps_pids_unref(&info);
	return r;
}
