/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/ptrace/hold.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "tracee/ptrace/watchdog.h"

/*
 * The signals whose actions are replaced. SIGCONT is one of them because it cancels
 * earlier stop signals, including those that memstate has deferred.
 */
static const int signals[] = { SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT };
#define SIGNAL_COUNT (sizeof(signals) / sizeof(*signals))

#define BIT(signal) (UINT64_C(1) << (signal))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static unsigned int hold_count;
static struct sigaction before[SIGNAL_COUNT];
static bool is_replaced[SIGNAL_COUNT];

/*
 * True while stop signals are deferred. The signal handler may still run in another
 * thread after the last hold_end(), so it checks this flag.
 */
static bool is_deferring;
static uint64_t deferred; /* the deferred signals, as BIT() values */

static void defer(int signal, siginfo_t *info, void *unused)
{
	int err = errno;

	(void)unused;
	if (signal != SIGCONT) {
		__atomic_fetch_or(&deferred, BIT(signal), __ATOMIC_SEQ_CST);
		if (!__atomic_load_n(&is_deferring, __ATOMIC_SEQ_CST) &&
		    __atomic_fetch_and(&deferred, ~BIT(signal), __ATOMIC_SEQ_CST) &
			    BIT(signal))
			kill(getpid(), signal);
	} else if (info->si_pid != watchdog_pid()) {
		__atomic_store_n(&deferred, 0, __ATOMIC_SEQ_CST);
		watchdog_forget();
	}
	errno = err;
}

/*
 * Return true if memstate must replace the signal's action. It does not replace SIG_IGN,
 * or a handler that another part of the program has set for SIGCONT.
 */
static bool must_replace(size_t i)
{
	if (sigaction(signals[i], NULL, &before[i]) < 0 ||
	    before[i].sa_handler == SIG_IGN)
		return false;
	return signals[i] != SIGCONT || before[i].sa_handler == SIG_DFL;
}

static void replace_actions(void)
{
	struct sigaction action = { .sa_sigaction = defer,
				    .sa_flags = SA_SIGINFO | SA_RESTART };

	__atomic_store_n(&is_deferring, true, __ATOMIC_SEQ_CST);
	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		is_replaced[i] = must_replace(i) &&
				 sigaction(signals[i], &action, NULL) == 0;
}

/*
 * Restore the action of each signal that this module still handles. Another library, such
 * as ncurses, may have replaced the handler in the meantime.
 */
static void restore_actions(void)
{
	struct sigaction now;

	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		if (is_replaced[i] && sigaction(signals[i], NULL, &now) == 0 &&
		    now.sa_sigaction == defer)
			sigaction(signals[i], &before[i], NULL);
	__atomic_store_n(&is_deferring, false, __ATOMIC_SEQ_CST);
}

/* Stop memstate now if a stop signal was deferred. */
static void stop_at_last(void)
{
	uint64_t asked = __atomic_exchange_n(&deferred, 0, __ATOMIC_SEQ_CST);

	if (watchdog_has_continued()) {
		watchdog_forget();
		raise(SIGSTOP);
		return;
	}
	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		if (asked & BIT(signals[i]))
			kill(getpid(), signals[i]);
}

static bool must_stop(void)
{
	return __atomic_load_n(&deferred, __ATOMIC_SEQ_CST) != 0 ||
	       watchdog_has_continued();
}

int hold_begin(void)
{
	int r = 0;

	pthread_mutex_lock(&lock);
	/*
	 * before a new hold, wait until memstate has stopped for a deferred signal;
	 * otherwise, overlapping holds could defer the stop forever
	 */
	while (hold_count > 0 && must_stop())
		pthread_cond_wait(&ended, &lock);
	if (hold_count == 0) {
		r = watchdog_arm();
		if (r == 0)
			replace_actions();
	}
	hold_count += r == 0;
	pthread_mutex_unlock(&lock);
	return r;
}

void hold_end(void)
{
	pthread_mutex_lock(&lock);
	if (--hold_count == 0) {
		watchdog_disarm();
		restore_actions();
		stop_at_last();
		pthread_cond_broadcast(&ended);
	}
	pthread_mutex_unlock(&lock);
}
