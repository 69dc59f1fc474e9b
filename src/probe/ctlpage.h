/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctlpage - the page of agent/abi.h, as memstate sees it: found, shared, asked through.
 *
 * The process can write it at any time, and may mean harm: each word is read once, and
 * whatever it says, no call below takes longer, reads more, or takes more room than is
 * said here.
 *
 * It is shared without a descriptor in the process. A System V segment that was removed
 * while it is attached can still be attached by its number, which maps has as its inode:
 * all it takes is the same user and the same ipc namespace. Other pages, and other
 * namespaces, need CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN, for /proc/PID/map_files.
 * Neither kind can be cut short by a process without these: there is no SIGBUS.
 */
#ifndef MS_PROBE_CTLPAGE_H
#define MS_PROBE_CTLPAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/abi.h"
#include "proc/procfs.h"

struct ctlpage {
	struct agent_page *page;   /* NULL: none */
	bool is_segment;	   /* attached with shmat(2), else mapped */
	const struct procfs *fs;   /* borrowed */
	int pid;		   /* the process's */
	uint64_t addr;		   /* where it has the page; 0: not known, an exec is not noticed then */
	uint64_t start_ticks;
	uint64_t lock;		   /* what this client writes into client_lock */
};

#define CTLPAGE_INIT { .page = NULL }

/*
 * Find the page of a helper that is there already, and share it. Returns 0; -ENOENT:
 * there is none, or it is leaving; -EPROTO: of another version; -EPERM: see above;
 * -ESRCH; or another -errno.
 */
int ctlpage_open(const struct procfs *fs, int pid, uint64_t start_ticks, struct ctlpage *ret);

/*
 * Make a page for a process to attach, with shmat(*ret_segment, NULL, 0), while it is lent
 * to the process's user (segment_lend()). It vanishes when neither has it attached any
 * more. All of its head is set but owner_pid, which the caller sets in the process's own
 * pid namespace, as is ret->addr once it is known; the state is AGENT_STARTING. Returns 0
 * or -errno.
 */
int ctlpage_make(const struct procfs *fs, int pid, uint64_t start_ticks, struct ctlpage *ret,
		 int *ret_segment);

/*
 * Share AGENT_PAGE_BYTES that the process has mapped at addr, shared and anonymous, and
 * set its head as above. For a process in another ipc namespace. Returns 0, -EPERM, or
 * -errno.
 */
int ctlpage_adopt(const struct procfs *fs, int pid, uint64_t start_ticks, uint64_t addr,
		  struct ctlpage *ret);

void ctlpage_close(struct ctlpage *ctl);

struct ctlpage_answer {
	int32_t error; /* as the helper says: 0 or -errno */
	uint64_t known;
	uint64_t values[AGENT_VALUE_MAX];
	uint64_t taken_ns; /* monotonic clock, ours */
	uint64_t cost_ns;  /* in the process; never more than it took from here */
	char *text;	   /* NULL if there is none; the caller frees it. As text_add_printable(), and newlines */
};

/*
 * Ask, and wait for the answer, limit_ns at most. Returns 0; -ETIMEDOUT: it may still be
 * at work, which is let be; -EBUSY: another client asks all the time; -ESRCH: the
 * process, or the helper, is gone; -EPROTO: what is in the page makes no sense.
 */
int ctlpage_ask(struct ctlpage *ctl, enum agent_command command, uint64_t limit_ns,
		struct ctlpage_answer *ret);

/* A bit for each command that the helper says it can answer. Another's word: only a hint. */
uint32_t ctlpage_commands(const struct ctlpage *ctl);

/* The helper's thread, in the process's own pid namespace, as it says. */
uint32_t ctlpage_helper_tid(const struct ctlpage *ctl);

/* Wait until the helper has begun. 0, -ETIMEDOUT, or -ESRCH. */
int ctlpage_await_ready(const struct ctlpage *ctl, uint64_t limit_ns);

#endif
