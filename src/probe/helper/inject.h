/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inject - put the helper into a running process, and remove it. */
#ifndef MS_PROBE_HELPER_INJECT_H
#define MS_PROBE_HELPER_INJECT_H

#include "probe/helper/ctlpage.h"
#include "probe/helper/probe.h"

struct injection;

/*
 * Like probe_open() with may_inject, for a process without a helper. On success *ret_page
 * is the page of a helper that is ready; pass both to inject_unload().
 */
int inject_load(const struct probe_request *request, struct injection **ret,
		struct ctlpage *ret_page, struct probe_cost *ret_cost,
		const char **ret_reason);

/*
 * Take over a helper whose memstate was killed, as if inject_load() had put it in. Return
 * NULL if the helper cannot be taken over, or was not injected.
 */
struct injection *inject_adopt(const struct probe_request *request,
			       const struct ctlpage *page);

/* Like probe_close(). Always closes the page and frees the injection. */
int inject_unload(struct injection *injection, struct ctlpage *page,
		  struct probe_cost *ret_cost, const char **ret_reason);

#endif
