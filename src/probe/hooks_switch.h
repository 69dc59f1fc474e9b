/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_switch - make the places of a process lead to hooks, and back, while all of its
 * threads stand still.
 *
 * What a place held before is noted first, in memory that the process has, too: whoever
 * finds it there can put it back.
 */
#ifndef MS_PROBE_HOOKS_SWITCH_H
#define MS_PROBE_HOOKS_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/count_hooks.h"
#include "probe/hook_places.h"
#include "probe/probe.h"

struct hooks_switch {
	const struct probe_request *request;
	int process_fd;
	uint64_t base_addr;  /* where the process has the hooks */
	uint64_t gates_addr; /* 0: none */
	uint64_t code_bytes; /* of the hooks, their head included */
	/*
	 * Where the process may write, too: how many there are is known here, and is in the
	 * head for whoever comes later. hooks_switch_on() adds to it.
	 */
	struct hooks_record *records;
	size_t record_count;
	uint64_t pause_ns; /* of all stops together */
	unsigned int stop_count;
};

/*
 * Both try again until the request's limit, and never hold the process for longer than
 * HOOKS_PAUSE_NS at once. Return 0; -EAGAIN: no moment came in time; or as stop_run().
 */
#define HOOKS_PAUSE_NS (200 * NS_PER_MS)

/*
 * All places that are still as they were found lead to hooks afterwards; head's records
 * grow. *ret_count: how many do. -E2BIG: there is no room for all, and none does.
 */
int hooks_switch_on(struct hooks_switch *s, struct hooks_head *head,
		    const struct hook_places *places, size_t *ret_count);

/*
 * Each record goes back, if it still leads to these hooks. *ret_is_inside:
 * some thread is in the hooks still.
 */
int hooks_switch_off(struct hooks_switch *s, bool *ret_is_inside);

#endif
