/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * self - the test's own process, seen as memstate sees another process:
 * its mappings and its memory.
 */
#ifndef MS_TESTS_SELF_H
#define MS_TESTS_SELF_H

#include "model/mapping.h"
#include "tracee/memory/memory.h"

struct self {
	int process_fd;
	struct mapping_list mappings;
	struct memory memory;
};

/* Skips the test if a process may not read its own memory here. */
void self_init(struct self *self);
void self_release(struct self *self);

/* Return the mapping that contains this address; fails the test if not found. */
struct mapping *self_mapping(struct self *self, const void *at);

#endif
