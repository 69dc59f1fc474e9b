/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper - answers what is asked through the page. Runs in other processes, on a thread of its own: no
 * libc, no memory but its stack and the page, no lock, no descriptor.
 */
#ifndef MS_AGENT_HELPER_H
#define MS_AGENT_HELPER_H

#include "agent/abi.h"

/*
 * What malloc_info(3) writes to: opened before it is needed where that is possible, as opening it
 * allocates. NULL: opened when it is asked for.
 */
struct agent_sink {
	void *file;
};

enum agent_end {
	AGENT_END_ASKED, /* AGENT_EXIT */
	AGENT_END_IDLE,	 /* nobody asked for idle_ms */
};

/* Answer until the end. The page is AGENT_LEAVING then, and is not touched any more. */
enum agent_end agent_serve(struct agent_page *page, const struct agent_functions *functions,
			   const struct agent_sink *sink);

/* A write function for fopencookie(3); the cookie is the page. */
long agent_write_text(void *cookie, const char *bytes, unsigned long length);

#endif
