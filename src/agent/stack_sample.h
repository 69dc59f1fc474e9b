/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_sample - which allocations are looked at where it is not each of them: as if
 * points were thrown on all bytes that are allocated, at random, one per so many; those
 * that are hit.
 *
 * A call counts as one byte more than it asks for, so that none is never hit.
 */
#ifndef MS_AGENT_STACK_SAMPLE_H
#define MS_AGENT_STACK_SAMPLE_H

#include <stdint.h>

/* How many bytes it is to the next point; *random is anything but 0 at first. */
int64_t stack_sample_step(uint64_t *random, uint64_t sample_bytes);

/*
 * For how many allocations one of so many bytes stands that was hit: 1 / (1 - exp(-(bytes
 * + 1) / sample_bytes)), << STACK_SCALE_BITS.
 */
uint64_t stack_sample_weight(uint64_t bytes, uint64_t sample_bytes);

#endif
