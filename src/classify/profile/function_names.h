/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * function_names - number the function names of a profile. Frames that differ only in
 * lines or addresses have the same number.
 */
#ifndef MS_CLASSIFY_PROFILE_FUNCTION_NAMES_H
#define MS_CLASSIFY_PROFILE_FUNCTION_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"

struct function_names {
	char **names; /* distinct function names, sorted bytewise */
	size_t count;
	/* index in names[] for each frame of the profile */
	uint32_t *of_frame;
};

void function_names_init(struct function_names *names, const struct profile *profile);
void function_names_release(struct function_names *names);

#endif
