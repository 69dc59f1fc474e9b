/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own_number - the numbers of a process and its threads in their own pid namespace, which
 * they know themselves by.
 */
#ifndef MS_PROBE_OWN_NUMBER_H
#define MS_PROBE_OWN_NUMBER_H

#include <stdint.h>

/*
 * That of "task/TID", or of the process itself: ".". 0 if it cannot be told. process_fd:
 * its directory in /proc.
 */
uint32_t own_number_read(int process_fd, const char *dir);

/* Which of its threads, in our own namespace, has that number in its own; 0: none. */
int own_number_find_thread(int process_fd, uint32_t number);

#endif
