/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper - answer the requests that memstate writes to the shared page. The code runs in
 * other processes, on its own thread. It uses no libc, no locks, no descriptors, and no
 * memory except its stack and the page.
 */
#ifndef MS_AGENT_HELPER_HELPER_H
#define MS_AGENT_HELPER_HELPER_H

#include "agent/helper/abi.h"

/* Resources of a preloaded helper, which an injected helper lacks. */
struct agent_host {
	/*
	 * The stream to which malloc_info(3) writes, with agent_write_text() as its write
	 * function, or NULL. It is opened in advance, because opening a stream allocates
	 * memory.
	 */
	void *file;
	/*
	 * Callback that returns true if the helper must not exit, even if it has been
	 * idle for idle_ms.
	 */
	int (*stays)(void);
};

/*
 * Answer requests until the command AGENT_EXIT is received, or until no request has come
 * for idle_ms and host->stays() returns false. Then set the page's state to
 * AGENT_LEAVING; after that the helper no longer uses the page. `host` is NULL if the
 * helper was injected.
 */
void agent_serve(struct agent_page *page, const struct agent_functions *functions,
		 const struct agent_host *host);

/*
 * Append bytes to the text in the shared page. This function is also a valid write
 * function for fopencookie(3), with the page as the cookie.
 */
long agent_write_text(void *cookie, const char *bytes, unsigned long length);

#endif
