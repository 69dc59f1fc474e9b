/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_sample - choose at random which allocations to record.
 *
 * The allocated bytes form a stream, with sampling points at random positions, on average
 * one per sample_bytes. An allocation is recorded if its bytes contain a sampling point.
 * Each call counts as one byte more than it requests, so that even a call for 0 bytes can
 * be recorded.
 */
#ifndef MS_AGENT_COUNT_STACK_SAMPLE_H
#define MS_AGENT_COUNT_STACK_SAMPLE_H

#include <stdint.h>

/*
 * Return the number of bytes to the next sampling point. *random is the state of the
 * random number generator, and must not be 0.
 */
int64_t stack_sample_step(uint64_t *random, uint64_t sample_bytes);

/*
 * Return how many allocations a recorded allocation of this many bytes represents. The
 * result is 1 / (1 - exp(-(bytes + 1) / sample_bytes)), as a fixed-point number with
 * STACK_SCALE_BITS fractional bits.
 */
uint64_t stack_sample_weight(uint64_t bytes, uint64_t sample_bytes);

#endif
