/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_reader - what agent/count_abi.h says, read from a copy of it: of a file, or of
 * memory that is shared. Nothing in it is believed.
 */
#ifndef MS_PROBE_COUNT_READER_H
#define MS_PROBE_COUNT_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "model/count.h"

/*
 * Counts were just being moved between threads, and may be there twice, or not at all: to
 * be copied again.
 */
bool count_is_torn(const char *bytes, size_t length);

/*
 * p->pid is whose it is to be; p->threads and their room are the caller's, all else is
 * set, has_ended and generation excepted. bytes is aligned as for malloc(). Returns 0, or
 * -EBADMSG with *p as it was.
 */
int count_read_program(const char *bytes, size_t length, struct count_program *p);

#endif
