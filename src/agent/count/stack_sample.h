/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_sample - choose the allocations to record if not every one is recorded. Think of
 * random points on the stream of all allocated bytes, on average one per sample_bytes: an
 * allocation is sampled if a point hits it.
 *
 * A call counts as one byte more than it requests, so that every call can be hit.
 */
#ifndef MS_AGENT_COUNT_STACK_SAMPLE_H
#define MS_AGENT_COUNT_STACK_SAMPLE_H

#include <stdint.h>

/* Return the number of bytes to the next point. *random must not be 0 at first. */
int64_t stack_sample_step(uint64_t *random, uint64_t sample_bytes);

/*
 * Return how many allocations a sampled one of this many bytes stands for: 1 / (1 -
 * exp(-(bytes + 1) / sample_bytes)), << STACK_SCALE_BITS.
 */
uint64_t stack_sample_weight(uint64_t bytes, uint64_t sample_bytes);

#endif
