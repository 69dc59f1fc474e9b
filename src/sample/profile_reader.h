/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_reader - a profile of the stacks of programs: addresses get their names, and
 * programs that ran the same code have the same stacks.
 *
 * A file is read once, for all programs that had it mapped. Frames of the libraries that
 * count are left out.
 */
#ifndef MS_SAMPLE_PROFILE_READER_H
#define MS_SAMPLE_PROFILE_READER_H

#include <stddef.h>

#include "model/profile.h"
#include "model/stacks.h"

/*
 * Make *ret of one or several programs; command, elapsed_ns and unix_ms are the caller's
 * to set, and its pid if they are several. Takes at most a minute, and what
 * swift_translate() does.
 */
void profile_reader_read(const struct stacks *stacks, size_t count, struct profile *ret);

#endif
