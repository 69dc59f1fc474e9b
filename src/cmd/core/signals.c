/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/signals.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/units.h"

static volatile sig_atomic_t stop_count;
static volatile sig_atomic_t last_stop;
static sigset_t mask_before;
/* The signal mask during waits: mask_before, with SIGPIPE blocked as well. */
static sigset_t mask_waiting;

static const int stops[] = { SIGINT, SIGTERM, SIGHUP };

static void note_stop(int number)
{
	stop_count = stop_count + 1;
	last_stop = number;
}

/*
 * Do nothing: SIGCHLD only needs to interrupt a wait. waitpid() then determines which
 * child has ended.
 */
static void note_child(int number)
{
	(void)number;
}

void signals_begin(void)
{
	struct sigaction action = { .sa_handler = note_stop };
	sigset_t held;

	sigemptyset(&held);
	for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
		struct sigaction before;

		/*
		 * a signal that was ignored when memstate started, as under nohup,
		 * stays ignored
		 */
		if (sigaction(stops[i], NULL, &before) == 0 &&
		    before.sa_handler == SIG_IGN)
			continue;
		sigaction(stops[i], &action, NULL);
		sigaddset(&held, stops[i]);
	}
	action.sa_handler = note_child;
	action.sa_flags = SA_NOCLDSTOP;
	sigaction(SIGCHLD, &action, NULL);
	sigaddset(&held, SIGCHLD);
	sigaddset(&held, SIGPIPE);
	sigprocmask(SIG_BLOCK, &held, &mask_before);
	mask_waiting = mask_before;
	sigaddset(&mask_waiting, SIGPIPE);
}

void signals_reset_in_child(void)
{
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

void signals_poll(struct pollfd *polled, size_t count, uint64_t due_ns)
{
	uint64_t now = clock_now_ns();
	uint64_t left = due_ns > now ? due_ns - now : 0;
	struct timespec timeout = {
		.tv_sec = (time_t)(left / NS_PER_S),
		.tv_nsec = (long)(left % NS_PER_S),
	};
	sigset_t held;
	int ready = ppoll(polled, count, &timeout, &mask_waiting);

	if (ready <= 0)
		for (size_t i = 0; i < count; i++)
			polled[i].revents = 0;
	if (ready <= 0)
		return;
	/* deliver pending signals; ppoll() delivers none if a descriptor is ready */
	sigprocmask(SIG_SETMASK, &mask_waiting, &held);
	sigprocmask(SIG_SETMASK, &held, NULL);
}

void signals_wait_for_input(int fd, uint64_t due_ns)
{
	struct pollfd input = { .fd = fd, .events = POLLIN };

	signals_poll(&input, 1, due_ns);
}

void signals_wait_until(uint64_t due_ns)
{
	signals_wait_for_input(-1, due_ns);
}

int signals_stop_count(void)
{
	return stop_count;
}

int signals_last_stop(void)
{
	return last_stop;
}
