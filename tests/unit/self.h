/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * self - this process, as memstate sees another: its mappings, and words of its memory.
 */
#ifndef MS_TESTS_SELF_H
#define MS_TESTS_SELF_H

#include "model/mapping.h"
#include "target/memory.h"

struct self {
	int process_fd;
	struct mapping_list mappings;
	struct memory memory;
};

/* Skips the test where a process may not read itself. */
void self_init(struct self *self);
void self_release(struct self *self);

/* The mapping that this is in. */
struct mapping *self_mapping(struct self *self, const void *at);

#endif
