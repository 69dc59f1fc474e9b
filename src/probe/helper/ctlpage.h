/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctlpage - memstate's side of the page that it shares with a helper
 * (agent/helper/abi.h): find the page, share it, and send requests through it.
 *
 * The process can write to the page at any time, and may be hostile, so memstate reads
 * each word only once. Whatever the page contains, no function takes longer, reads more,
 * or uses more memory than documented.
 *
 * The page is shared without a descriptor in the process. A System V segment that was
 * removed while attached can still be attached by its id, which /proc/PID/maps shows as
 * the inode. This requires only the same user and the same ipc namespace. Other kinds of
 * pages, and other namespaces, require CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN for access
 * to /proc/PID/map_files. A process without these capabilities cannot truncate either
 * kind of page, so memstate cannot receive SIGBUS.
 */
#ifndef MS_PROBE_HELPER_CTLPAGE_H
#define MS_PROBE_HELPER_CTLPAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/helper/abi.h"
#include "proc/system/procfs.h"

struct ctlpage {
	struct agent_page *page; /* the mapped page; NULL if there is no page */
	/*
	 * true if the page was attached with shmat(2), false if it was
	 * mapped with mmap(2)
	 */
	bool is_segment;
	const struct procfs *fs; /* the procfs to use; owned by the caller */
	int pid;		 /* pid of the process */
	/*
	 * Address of the page in the process; 0 if unknown, in which case memstate cannot
	 * detect an execve(2).
	 */
	uint64_t addr;
	uint64_t start_ticks;
	uint64_t lock; /* value that this client writes to client_lock in the page */
};

#define CTLPAGE_INIT         \
	{                    \
		.page = NULL \
	}

/*
 * Find the page of an existing helper, and map it. Return 0; -ENOENT if there is no
 * helper, or if it is exiting; -EPROTO if the helper has another version; -EPERM if a
 * capability is missing; -ESRCH; or another -errno.
 */
int ctlpage_open(const struct procfs *fs, int pid, uint64_t start_ticks,
		 struct ctlpage *ret);

/*
 * Create a page to share with a process. The process attaches the page with
 * shmat(*ret_segment, NULL, 0) while segment_allow() lets the process's user attach the
 * segment. The page disappears when both sides have detached it.
 *
 * The function fills in the whole header, with state AGENT_STARTING, except owner_pid.
 * The caller sets owner_pid to the pid in the process's own namespace, and ret->addr once
 * it knows the address. Return 0 or -errno.
 */
int ctlpage_make(const struct procfs *fs, int pid, uint64_t start_ticks,
		 struct ctlpage *ret, int *ret_segment);

/*
 * Share a page with a process in another ipc namespace. The page is the AGENT_PAGE_BYTES
 * of shared anonymous memory that the process has mapped at addr. The header is
 * initialized as in ctlpage_make(). Return 0, -EPERM, or another -errno.
 */
int ctlpage_adopt(const struct procfs *fs, int pid, uint64_t start_ticks, uint64_t addr,
		  struct ctlpage *ret);

void ctlpage_close(struct ctlpage *ctl);

struct ctlpage_answer {
	int32_t error; /* error of the query as reported by the helper: 0 or -errno */
	uint64_t known;
	uint64_t values[AGENT_VALUE_MAX];
	uint64_t taken_ns; /* time at which the helper answered, on CLOCK_MONOTONIC */
	/*
	 * duration of the query in the process, at most the time that memstate waited for
	 * the answer
	 */
	uint64_t cost_ns;
	/*
	 * The text of the answer, which the caller frees, or NULL. All characters except
	 * newlines are printable (see text_add_printable()).
	 */
	char *text;
};

/*
 * Send a request to the helper, and wait at most limit_ns for the answer. Return 0;
 * -ETIMEDOUT if the helper may still be working on the request; -EBUSY if other clients
 * keep the helper busy; -ESRCH if the process or the helper has ended; -EPROTO if the
 * page's contents are invalid.
 */
int ctlpage_ask(struct ctlpage *ctl, enum agent_command command, uint64_t limit_ns,
		struct ctlpage_answer *ret);

/*
 * Return a mask with one bit for each command that the helper supports. The mask is only
 * a hint, because the process can change it in the page.
 */
uint32_t ctlpage_commands(const struct ctlpage *ctl);

/* Wait until the helper has started. Return 0, -ETIMEDOUT, or -ESRCH. */
int ctlpage_await_ready(const struct ctlpage *ctl, uint64_t limit_ns);

#endif
