/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader - read the data of agent/count/abi.h from a copy of a file or of shared
 * memory. Nothing in it is trusted.
 */
#ifndef MS_PROBE_COUNT_READER_H
#define MS_PROBE_COUNT_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "model/count.h"

/*
 * Return whether counts were being moved between threads while the copy was made: they
 * may be in the copy twice or not at all, so copy again.
 */
bool count_is_torn(const char *bytes, size_t length);

/*
 * Read the counts of one program. p->pid is the expected pid, and the caller provides
 * p->threads and their capacity. Everything else in *p is set, except has_ended and
 * generation. bytes is aligned as by malloc(). Return 0, or -EBADMSG with *p unchanged.
 */
int count_read_program(const char *bytes, size_t length, struct count_program *p);

#endif
