/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/protected_write.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "proc/process/dir.h"
#include "tracee/ptrace/stop.h"
#include "tracee/ptrace/trace.h"

/* Maximum time for which one attempt to write may pause the process. */
#define WRITE_PAUSE_MAX_NS (200 * NS_PER_MS)
#define RETRY_NS (5 * NS_PER_MS)
/*
 * Maximum number of attempts to stop all threads. In a busy process, some threads may
 * not stop in time at the first attempt.
 */
#define TRIES_MAX 20

struct writing {
	const struct protected_target *target;
	uint64_t addr;
	const void *from;
	size_t length;
};

/*
 * Write whole words with PTRACE_POKEDATA. In the first and last words, preserve the
 * bytes outside the range.
 */
static int write_stopped(void *context, const struct stop *stop)
{
	const struct writing *w = context;
	const uint8_t *from = w->from;
	int pid = w->target->pid, r = 0;

	for (size_t done = 0; r == 0 && done < w->length;) {
		uint64_t at = (w->addr + done) & ~(uint64_t)7, word = 0;
		size_t skip = (size_t)(w->addr + done - at), part = sizeof(word) - skip;

		if (part > w->length - done)
			part = w->length - done;
		r = part == sizeof(word)
			    ? 0
			    : trace_read_memory(pid, at, &word, sizeof(word));
		if (stop_has_ended(stop))
			return -ETIMEDOUT;
		memcpy((uint8_t *)&word + skip, from + done, part);
		if (r == 0)
			r = stop_write_word(stop, at, word);
		done += part;
	}
	return r;
}

int protected_write(const struct protected_target *target, uint64_t addr,
		    const void *from, size_t length)
{
	struct writing w = { target, addr, from, length };
	_cleanup_close_ int task_fd = -1;
	uint64_t pause_ns;
	int r = -EAGAIN;
	ssize_t n = pwrite(target->mem_fd, from, length, (off_t)addr);

	if (n == (ssize_t)length)
		return 0;
	if (n == 0)
		return -ESRCH;
	task_fd = proc_dir_open_threads(target->process_fd);
	if (task_fd < 0)
		return task_fd == -ENOENT ? -ESRCH : task_fd;
	for (int try = 0; try < TRIES_MAX; try++) {
		r = stop_run(&(struct stop_request){ .pid = target->pid,
						     .task_fd = task_fd,
						     .limit_ns = WRITE_PAUSE_MAX_NS,
						     .work = write_stopped,
						     .context = &w },
			     &pause_ns);
		if (r != -ETIMEDOUT && r != -EAGAIN && r != -ESTALE)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = (long)RETRY_NS }, NULL);
	}
	return r;
}
