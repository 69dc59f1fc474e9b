/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "made_noise.h"

#include <math.h>

static uint64_t random_state;

void made_noise_seed(uint64_t seed)
{
	random_state = seed;
}

double made_noise_unit(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return ((double)(random_state >> 11) + 0.5) / 9007199254740992.0;
}

double made_noise(double deviation)
{
	return deviation * sqrt(-2 * log(made_noise_unit())) *
	       cos(2 * M_PI * made_noise_unit());
}
