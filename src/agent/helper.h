/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper - answers what is asked through the page. Runs in other processes, on a thread
 * of its own: no libc, no memory but its stack and the page, no lock, no descriptor.
 */
#ifndef MS_AGENT_HELPER_H
#define MS_AGENT_HELPER_H

#include "agent/abi.h"

/* What only a helper has that is there from the start. */
struct agent_host {
	/*
	 * What malloc_info(3) writes to, with agent_write_text(): opened before it is
	 * needed, as opening it allocates. NULL: there is none.
	 */
	void *file;
	/* Nobody asked for idle_ms: does it stay nevertheless? */
	int (*stays)(void);
};

/*
 * Answer until AGENT_EXIT, or until nobody asked for idle_ms. The page is AGENT_LEAVING
 * then, and is not touched any more. host is NULL where the helper was put in later.
 */
void agent_serve(struct agent_page *page, const struct agent_functions *functions,
		 const struct agent_host *host);

/* Append to the page's text. A write function for fopencookie(3) too; the cookie is the page. */
long agent_write_text(void *cookie, const char *bytes, unsigned long length);

#endif
