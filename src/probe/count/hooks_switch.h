/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_switch - redirect the function addresses and calls to malloc in a process to
 * hooks, or restore them, while all threads of the process are stopped.
 *
 * memstate first records the previous contents in its own memory. It writes a copy of
 * these records to the process, so that a later memstate can find the patched addresses.
 * memstate never writes to an address that it has read from the process.
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
	uint64_t base_addr; /* address of the hooks in the process */
	/* address of the gates (jumps to hooks); 0 if there are no gates */
	uint64_t gates_addr;
	uint64_t code_bytes; /* size of the hooks' code including its header, in bytes */
	int mem_fd;	     /* descriptor of /proc/PID/mem, open for writing */
	/* new contents of the gates (jumps to hooks); NULL to leave them unchanged */
	const struct gates *gates;
	/*
	 * Records of the patched addresses: an array of HOOKS_RECORD_MAX elements, to
	 * which hooks_switch_on() appends.
	 */
	struct hooks_record *records;
	size_t record_count;
	uint64_t pause_ns; /* total time for which memstate has stopped the process */
	unsigned int stop_count;
};

/*
 * Maximum duration of a single stop of the process. hooks_switch_on() and
 * hooks_switch_off() retry until the request's time limit. They return 0; -EAGAIN if
 * there was no suitable moment before the limit; or an error from stop_run().
 */
#define HOOKS_PAUSE_NS (200 * NS_PER_MS)

/*
 * Redirect to the hooks all function addresses and calls in `places` that have not
 * changed since they were found. Append their records to s->records and to the list in
 * the process. *ret_count is the number of patched addresses and calls. If there is not
 * enough space for the records, change nothing and return -E2BIG.
 */
int hooks_switch_on(struct hooks_switch *s, const struct hooks_head *head,
		    const struct hook_places *places, size_t *ret_count);

/*
 * Restore each patched address or call that still leads to these hooks. Set
 * *ret_is_inside if a thread is still executing a hook.
 */
int hooks_switch_off(struct hooks_switch *s, bool *ret_is_inside);

/*
 * Return a static string that explains an error from hooks_switch_on() or
 * hooks_switch_off().
 */
const char *hooks_switch_explain(int error);

#endif
