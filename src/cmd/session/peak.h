/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peak - take samples of a command until it ends, and keep the sample with the
 * largest Rss.
 */
#ifndef MS_CMD_SESSION_PEAK_H
#define MS_CMD_SESSION_PEAK_H

#include "model/usage.h"

struct session;

struct peak {
	/* elapsed_ns of the sample counts from the start of the command */
	struct snapshot snapshot;
	struct mapping_list mappings; /* mappings of the single process, if requested */
	uint64_t rss_bytes;	      /* sum of Rss over all processes in the snapshot */
	uint64_t sample_count;
};

/*
 * Take samples of the session's command until it has ended, at the session's interval,
 * but more often at first. If with_mappings is set, expect a single process, and keep its
 * mappings. Otherwise read the data in `needs` (enum need) for all targets. Return 0, or
 * print a message and return -errno. If sample_count is 0, the command ended before the
 * first sample.
 */
int peak_find(struct session *session, bool with_mappings, unsigned int needs,
	      struct peak *ret);
void peak_release(struct peak *peak);

#endif
