/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay_peak - find the sample of a recording in which the processes use the
 * most memory.
 */
#ifndef MS_UI_DATA_REPLAY_PEAK_H
#define MS_UI_DATA_REPLAY_PEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct replay;
struct targets;

struct replay_peak {
	size_t index;
	uint64_t pss_bytes; /* sum of Pss over the processes whose Pss is known */
	/*
	 * true if all samples were read; if false, an unread sample may have a larger sum
	 */
	bool is_exact;
};

/*
 * Find the sample with the largest sum of Pss. In a long recording, read only evenly
 * spaced samples, and more samples around the largest of them, so that the user need not
 * wait. Return false if no Pss is known.
 */
bool replay_peak_find(struct replay *replay, const struct targets *targets,
		      struct replay_peak *ret);

#endif
