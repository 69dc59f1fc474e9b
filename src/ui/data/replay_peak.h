/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replay_peak - find the sample of a recording in which processes need most memory. */
#ifndef MS_UI_DATA_REPLAY_PEAK_H
#define MS_UI_DATA_REPLAY_PEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct replay;
struct targets;

struct replay_peak {
	size_t index;
	uint64_t pss_bytes; /* sum over the processes whose Pss is known */
	/* all samples were read; otherwise a higher peak may be between those read */
	bool is_exact;
};

/*
 * Find the sample with the largest sum of Pss. In a long recording, only evenly spaced
 * samples and those around the largest of them are read, so that the user need not wait.
 * Returns false if no Pss is known.
 */
bool replay_peak_find(struct replay *replay, const struct targets *targets,
		      struct replay_peak *ret);

#endif
