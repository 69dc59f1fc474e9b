/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_switch - make the places of a process lead to hooks, and back, while all of its
 * threads stand still.
 *
 * What a place held before is noted first, in memstate's own memory; the process gets a
 * copy, from which a later memstate knows where to look. Nothing is ever written to an
 * address that was read from the process.
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
	int mem_fd;	     /* the process's mem, opened for writing */
	/* The gates as they are to be after the switch; NULL: they stay as they are. */
	const struct gates *gates;
	/* HOOKS_RECORD_MAX, in memstate's memory; hooks_switch_on() adds to them. */
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
 * All places that are still as they were found lead to hooks afterwards; the records
 * grow, in the process too. *ret_count: how many do. -E2BIG: there is no room for all,
 * and none does.
 */
int hooks_switch_on(struct hooks_switch *s, const struct hooks_head *head,
		    const struct hook_places *places, size_t *ret_count);

/*
 * Each record goes back, if it still leads to these hooks. *ret_is_inside:
 * some thread is in the hooks still.
 */
int hooks_switch_off(struct hooks_switch *s, bool *ret_is_inside);

/* Why a stop of all threads failed. */
const char *hooks_switch_explain(int error);

#endif
