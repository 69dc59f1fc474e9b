/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peak - sample a command until it ends and keep the sample with the largest Rss.
 */
#ifndef MS_CMD_SESSION_PEAK_H
#define MS_CMD_SESSION_PEAK_H

#include "model/usage.h"

struct session;

struct peak {
	struct snapshot snapshot; /* elapsed_ns counts from the start of the command */
	struct mapping_list mappings; /* of the single process, if requested */
	uint64_t rss_bytes;	      /* sum over the snapshot */
	uint64_t sample_count;
};

/*
 * Sample the session's command at the session's interval, and more often at first, until
 * it has ended. with_mappings: expect a single process and keep its mappings; otherwise
 * read `needs` of all targets. Returns 0, or -errno after a message. If sample_count is
 * 0, the command ended before the first sample.
 */
int peak_find(struct session *session, bool with_mappings, unsigned int needs,
	      struct peak *ret);
void peak_release(struct peak *peak);

#endif
