/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper - answers the requests on the page. It runs in other processes, on its own
 * thread: no libc, no memory except its stack and the page, no locks, no descriptors.
 */
#ifndef MS_AGENT_HELPER_HELPER_H
#define MS_AGENT_HELPER_HELPER_H

#include "agent/helper/abi.h"

/* Resources of a helper that was preloaded; an injected helper has none. */
struct agent_host {
	/*
	 * The stream that malloc_info(3) writes to through agent_write_text(). It is
	 * opened in advance, as opening it allocates. NULL: there is none.
	 */
	void *file;
	/* Return whether the helper stays although it was idle for idle_ms. */
	int (*stays)(void);
};

/*
 * Answer requests until AGENT_EXIT, or until none came for idle_ms and the host does not
 * make the helper stay. Then the page's state is AGENT_LEAVING, and the helper does not
 * touch the page any more. host is NULL if the helper was injected.
 */
void agent_serve(struct agent_page *page, const struct agent_functions *functions,
		 const struct agent_host *host);

/*
 * Append to the page's text. Also a write function for fopencookie(3),
 * with the page as cookie.
 */
long agent_write_text(void *cookie, const char *bytes, unsigned long length);

#endif
