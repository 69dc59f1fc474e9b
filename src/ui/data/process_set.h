/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_set - a small set of processes, such as tagged processes. If the pid of a
 * member is reused, the new process is not a member.
 */
#ifndef MS_UI_DATA_PROCESS_SET_H
#define MS_UI_DATA_PROCESS_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "model/process.h"

struct process_set {
	struct process_id {
		int pid;
		uint64_t start_ticks;
	} * items;
	size_t count, capacity;
};

void process_set_release(struct process_set *set);
void process_set_clear(struct process_set *set);
bool process_set_has(const struct process_set *set, const struct process *p);

/*
 * Add a process to the set or remove it. Adding a member again, or removing a process
 * that is not a member, has no effect.
 */
void process_set_add(struct process_set *set, const struct process *p);
void process_set_remove(struct process_set *set, const struct process *p);

#endif
