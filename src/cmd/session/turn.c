/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/session/turn.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/core/message.h"
#include "proc/process/task.h"

/* maximum time in ns that memstate waits in one run, for all processes together */
#define WAIT_NS (3 * NS_PER_S)
/* memstate prints a message only if a wait takes longer than this, in ns */
#define SILENCE_NS (NS_PER_S / 2)
#define LOOK_NS (5 * NS_PER_MS)
#define STOP_TRIES_MAX 3
/* The delay before retry N is this amount times 2^N, in ns. */
#define STOP_RETRY_NS (50 * NS_PER_MS)

#define COMMAND_SHOWN 64

static uint64_t waited_ns; /* sum of all waits so far, in ns */

void turn_add_tracer(const struct procfs *fs, const struct tracer_process *tracer,
		     struct strbuf *out)
{
	_cleanup_free_ char *command = NULL;
	char shown[COMMAND_SHOWN];

	text_copy(shown, sizeof(shown), tracer->name);
	if (proc_tracer_is_memstate(fs, tracer) &&
	    proc_task_read_command(fs, tracer->pid, &command) == 0 && command[0])
		text_copy(shown, sizeof(shown), command);
	strbuf_addf(out, "process %d (%s)", tracer->pid, shown);
}

static bool find_memstate(const struct procfs *fs, int pid, struct tracer_process *ret)
{
	return proc_tracer_find(fs, pid, ret) && proc_tracer_is_memstate(fs, ret);
}

static void report(const struct procfs *fs, int pid, const struct tracer_process *tracer)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	turn_add_tracer(fs, tracer, &name);
	message("%d: waiting for another memstate: %s", pid, strbuf_text(&name));
}

/* Sleep. Return false if a signal is pending or the time for all waits is used up. */
static bool sleep_in_turn(uint64_t ns)
{
	const struct timespec pause = { .tv_nsec = (long)ns };
	uint64_t begin_ns = clock_now_ns();

	if (waited_ns >= WAIT_NS || interrupt_is_pending())
		return false;
	nanosleep(&pause, NULL);
	waited_ns += clock_now_ns() - begin_ns;
	return !interrupt_is_pending();
}

bool turn_await(const struct procfs *fs, int pid)
{
	uint64_t begin_ns = waited_ns;
	struct tracer_process tracer;
	bool is_reported = false;

	while (fs->is_live && find_memstate(fs, pid, &tracer)) {
		if (!sleep_in_turn(LOOK_NS))
			return false;
		if (is_reported || waited_ns - begin_ns <= SILENCE_NS)
			continue;
		report(fs, pid, &tracer);
		is_reported = true;
	}
	return true;
}

bool turn_may_retry(const struct procfs *fs, int pid, int error, unsigned int tries)
{
	struct tracer_process tracer;

	if (!fs->is_live)
		return false;
	if (error == -EAGAIN)
		return tries < STOP_TRIES_MAX && sleep_in_turn(STOP_RETRY_NS << tries);
	if (error != -EBUSY)
		return false;
	/* if no tracer is found, the tracer has ended in the meantime, so retry */
	if (proc_tracer_find(fs, pid, &tracer) && !proc_tracer_is_memstate(fs, &tracer))
		return false;
	return sleep_in_turn(LOOK_NS) && turn_await(fs, pid);
}
