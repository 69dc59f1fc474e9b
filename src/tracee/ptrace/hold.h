/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hold - keep memstate running while it holds threads of a target.
 *
 * Between hold_begin() and hold_end(), memstate defers SIGTSTP, SIGTTIN and SIGTTOU. It
 * cannot defer SIGSTOP; the watchdog then continues memstate. After the last
 * hold_end(), memstate stops as requested.
 */
#ifndef MS_TRACEE_PTRACE_HOLD_H
#define MS_TRACEE_PTRACE_HOLD_H

/* Begin a hold. Several threads may hold targets at the same time. Return 0 or -errno. */
int hold_begin(void);
void hold_end(void);

#endif
