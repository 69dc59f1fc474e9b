/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader - read the counts (agent/count/abi.h) from a copy of a file or of shared
 * memory. The contents of the copy are not trusted.
 */
#ifndef MS_PROBE_COUNT_READER_H
#define MS_PROBE_COUNT_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "model/count.h"

/*
 * Return true if the program was moving counts between slots while the copy was made.
 * Such a copy may contain some counts twice or not at all, so the caller must repeat it.
 */
bool count_is_torn(const char *bytes, size_t length);

/*
 * Read the counts of one program. p->pid is the expected pid; the caller provides
 * p->threads and their capacity. The function sets all other members of *p except
 * has_ended and generation. `bytes` must have the alignment of a block from malloc().
 * Return 0, or -EBADMSG with *p unchanged.
 */
int count_read_program(const char *bytes, size_t length, struct count_program *p);

#endif
