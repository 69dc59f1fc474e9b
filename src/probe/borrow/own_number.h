/* SPDX-License-Identifier: GPL-2.0-or-later */
/* own_number - the numbers of a process and its threads in their own pid namespace. */
#ifndef MS_PROBE_BORROW_OWN_NUMBER_H
#define MS_PROBE_BORROW_OWN_NUMBER_H

#include <stdint.h>

/*
 * Return the number of "task/TID", or of the process itself for ".", in its
 * own pid namespace; 0 if it cannot be determined. process_fd is the
 * process's directory in /proc.
 */
uint32_t own_number_read(int process_fd, const char *dir);

/*
 * Return the tid, in memstate's pid namespace, of the thread that has this number in
 * its own; 0 if there is none.
 */
int own_number_find_thread(int process_fd, uint32_t number);

#endif
