/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_reader - create a profile from the call stacks of programs. Addresses are
 * resolved to names, so programs that ran the same code have equal stacks.
 *
 * Each file is read once for all programs that map it. The frames of memstate's own
 * libraries are left out.
 */
#ifndef MS_SAMPLE_RECORDING_PROFILE_READER_H
#define MS_SAMPLE_RECORDING_PROFILE_READER_H

#include <stddef.h>

#include "model/profile.h"
#include "model/stacks.h"

/*
 * Create a profile of one or more programs in *ret. Afterwards, the caller must set its
 * command, elapsed_ns and unix_ms and, if there are several programs, its pid. The
 * function takes at most a minute, not counting the time spent in swift_translate().
 */
void profile_reader_read(const struct stacks *stacks, size_t count, struct profile *ret);

#endif
