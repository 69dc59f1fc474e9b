/* SPDX-License-Identifier: GPL-2.0-or-later */
/* made_noise - random numbers for simulated series; the same in every run. */
#ifndef MS_TESTS_MADE_NOISE_H
#define MS_TESTS_MADE_NOISE_H

#include <stdint.h>

/* Start the sequence that belongs to this seed, which must not be 0. */
void made_noise_seed(uint64_t seed);

/* Return a uniformly distributed number between 0 and 1, exclusive. */
double made_noise_unit(void);

/* Return a normally distributed number with mean 0. */
double made_noise(double deviation);

#endif
