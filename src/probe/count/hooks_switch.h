/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_switch - patch the places in a process that call malloc, so that they point to
 * hooks, or restore these places, while all threads of the process are stopped.
 *
 * memstate first records the previous contents of each place in its own memory. The
 * process gets a copy, so that a later memstate can find the patched places. memstate
 * never writes to an address that it has read from the process.
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
	int mem_fd;	     /* /proc/PID/mem, open for writing */
	/* new contents of the gates; NULL: leave them unchanged */
	const struct gates *gates;
	/*
	 * records of patched places: array of HOOKS_RECORD_MAX elements in memstate's
	 * memory; hooks_switch_on() appends to it
	 */
	struct hooks_record *records;
	size_t record_count;
	uint64_t pause_ns; /* total time for which the process was stopped */
	unsigned int stop_count;
};

/*
 * hooks_switch_on() and hooks_switch_off() retry until the request's time limit, and
 * never stop the process for longer than HOOKS_PAUSE_NS at a time. They return 0; -EAGAIN
 * if no moment was suitable in time; or an error from stop_run().
 */
#define HOOKS_PAUSE_NS (200 * NS_PER_MS)

/*
 * Make all places that have not changed meanwhile point to hooks. Append their
 * records to s->records and to the list in the process. *ret_count is the number of
 * places changed. Return -E2BIG, with nothing changed, if there is not enough room
 * for the records.
 */
int hooks_switch_on(struct hooks_switch *s, const struct hooks_head *head,
		    const struct hook_places *places, size_t *ret_count);

/*
 * Restore each place that still points to these hooks. Set *ret_is_inside if a thread is
 * still executing a hook.
 */
int hooks_switch_off(struct hooks_switch *s, bool *ret_is_inside);

/* Return a static text for an error from hooks_switch_on() or hooks_switch_off(). */
const char *hooks_switch_explain(int error);

#endif
