/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peak - a command watched to its end, and its sample with the largest Rss.
 */
#ifndef MS_CMD_PEAK_H
#define MS_CMD_PEAK_H

#include "model/usage.h"

struct session;

struct peak {
	struct snapshot snapshot;     /* elapsed_ns: since the command was started */
	struct mapping_list mappings; /* of the one process, if they were asked for */
	uint64_t rss_bytes;	      /* the sum over the snapshot */
	uint64_t sample_count;
};

/*
 * Sample the session's command at its interval, and more often at first, until it has
 * ended. With with_mappings there is one process, and its mappings are kept; otherwise
 * `needs` are read of all targets. Returns 0, or -errno after saying so. sample_count 0:
 * it ended too soon.
 */
int peak_find(struct session *session, bool with_mappings, unsigned int needs, struct peak *ret);
void peak_release(struct peak *peak);

#endif
