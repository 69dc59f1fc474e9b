/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pid_set - a small set of pids. */
#ifndef MS_SAMPLE_RUN_PID_SET_H
#define MS_SAMPLE_RUN_PID_SET_H

#include <stdbool.h>
#include <stddef.h>

/* A set of pids; an all-zero struct is an empty set. The caller must free the items. */
struct pid_set {
	int *items;
	size_t count, capacity;
};

bool pid_set_contains(const struct pid_set *set, int pid);
void pid_set_add(struct pid_set *set, int pid);
void pid_set_remove(struct pid_set *set, int pid);

#endif
