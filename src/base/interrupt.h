/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * interrupt - during long work for which signals are blocked, detect whether the user has
 * asked memstate to exit.
 */
#ifndef MS_BASE_INTERRUPT_H
#define MS_BASE_INTERRUPT_H

#include <stdbool.h>

/*
 * Return true if SIGINT, SIGTERM or SIGHUP is blocked and pending. The signal stays
 * pending, and is delivered when the caller unblocks it.
 */
bool interrupt_is_pending(void);

#endif
