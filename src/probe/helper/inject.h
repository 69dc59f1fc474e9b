/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inject - inject the helper into a running process, and remove it. */
#ifndef MS_PROBE_HELPER_INJECT_H
#define MS_PROBE_HELPER_INJECT_H

#include "probe/helper/ctlpage.h"
#include "probe/helper/probe.h"

struct injection;

/*
 * Like probe_open() with may_inject, for a process without a helper. On success the
 * helper is ready, and *ret_page is its page. The caller passes both to
 * inject_unload() later.
 */
int inject_load(const struct probe_request *request, struct injection **ret,
		struct ctlpage *ret_page, struct probe_cost *ret_cost,
		const char **ret_reason);

/*
 * Take over the helper of a killed memstate, as if inject_load() had injected it. Return
 * NULL if the helper was not injected, or cannot be taken over.
 */
struct injection *inject_adopt(const struct probe_request *request,
			       const struct ctlpage *page);

/*
 * Remove the helper, like probe_close(). Always close the page and free the injection,
 * even on failure.
 */
int inject_unload(struct injection *injection, struct ctlpage *page,
		  struct probe_cost *ret_cost, const char **ret_reason);

#endif
