/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inject - put the helper into a process that runs, and take it out again.
 */
#ifndef MS_PROBE_INJECT_H
#define MS_PROBE_INJECT_H

#include "probe/ctlpage.h"
#include "probe/probe.h"

struct injection;

/*
 * As probe_open() with may_inject, where no helper is there yet. On success *ret_page is
 * the page of a helper that is ready; both are to be given to inject_unload().
 */
int inject_load(const struct probe_request *request, struct injection **ret,
		struct ctlpage *ret_page, struct probe_cost *ret_cost, const char **ret_reason);

/*
 * Whoever put in the helper that was found was killed: from now on it is as if
 * inject_load() had. NULL if that cannot be, or is not so.
 */
struct injection *inject_adopt(const struct probe_request *request, const struct ctlpage *page);

/* As probe_close(). Closes the page, and frees the injection, in every case. */
int inject_unload(struct injection *injection, struct ctlpage *page,
		  struct probe_cost *ret_cost, const char **ret_reason);

#endif
