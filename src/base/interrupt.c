/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/interrupt.h"

#include <signal.h>

bool interrupt_is_pending(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 && (sigismember(&pending, SIGINT) == 1 ||
					     sigismember(&pending, SIGTERM) == 1 ||
					     sigismember(&pending, SIGHUP) == 1);
}
