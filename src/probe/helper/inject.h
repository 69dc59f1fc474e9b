/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inject - inject the helper into a running process, and remove the helper. */
#ifndef MS_PROBE_HELPER_INJECT_H
#define MS_PROBE_HELPER_INJECT_H

#include "probe/helper/ctlpage.h"
#include "probe/helper/probe.h"

struct injection;

/*
 * Like probe_open() with may_inject, for a process that has no helper. On success the
 * helper is ready, and *ret_page is its page. The caller passes the injection and the
 * page to inject_unload() later.
 */
int inject_load(const struct probe_request *request, struct injection **ret,
		struct ctlpage *ret_page, struct probe_cost *ret_cost,
		const char **ret_reason);

/*
 * Take over the helper that a killed memstate process left behind, as if inject_load()
 * had injected it. Return NULL if the helper was preloaded instead of injected, or cannot
 * be taken over.
 */
struct injection *inject_adopt(const struct probe_request *request,
			       const struct ctlpage *page);

/*
 * Remove the injected helper, like probe_close(). The function closes the page and frees
 * the injection even on failure.
 */
int inject_unload(struct injection *injection, struct ctlpage *page,
		  struct probe_cost *ret_cost, const char **ret_reason);

#endif
