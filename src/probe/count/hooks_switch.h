/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_switch - make the places of a process lead to hooks, and back, while all
 * of its threads are stopped.
 *
 * The previous contents of a place are first noted in memstate's own memory. The process
 * gets a copy, which shows a later memstate where to look. memstate never writes to an
 * address that it read from the process.
 */
#ifndef MS_PROBE_COUNT_HOOKS_SWITCH_H
#define MS_PROBE_COUNT_HOOKS_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/count/hooks.h"
#include "probe/count/hook_places.h"
#include "probe/helper/probe.h"

struct hooks_switch {
	const struct probe_request *request;
	int process_fd;
	uint64_t base_addr;  /* address of the hooks in the process */
	uint64_t gates_addr; /* 0: none */
	uint64_t code_bytes; /* size of the hooks, including their head */
	int mem_fd;	     /* the process's mem, opened for writing */
	/* The gates after the switch; NULL: they do not change. */
	const struct gates *gates;
	/*
	 * HOOKS_RECORD_MAX elements in memstate's memory;
	 * hooks_switch_on() appends to them.
	 */
	struct hooks_record *records;
	size_t record_count;
	uint64_t pause_ns; /* total time of all stops */
	unsigned int stop_count;
};

/*
 * Both functions retry until the request's limit, and never stop the process for
 * longer than HOOKS_PAUSE_NS at a time. Return 0; -EAGAIN: no moment was suitable in
 * time; or an error of stop_run().
 */
#define HOOKS_PAUSE_NS (200 * NS_PER_MS)

/*
 * Make all places that have not changed meanwhile lead to hooks, and append them to the
 * records, also in the process. *ret_count: number of places changed. -E2BIG: there is no
 * room for all of them, and nothing was changed.
 */
int hooks_switch_on(struct hooks_switch *s, const struct hooks_head *head,
		    const struct hook_places *places, size_t *ret_count);

/*
 * Restore each place that still leads to these hooks. *ret_is_inside: a
 * thread is still in the hooks.
 */
int hooks_switch_off(struct hooks_switch *s, bool *ret_is_inside);

/* Return the reason why a stop of all threads failed. */
const char *hooks_switch_explain(int error);

#endif
