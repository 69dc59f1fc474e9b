/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * variants - parse the argument of --preload, a list of allocators with settings:
 * "glibc,jemalloc:dirty_decay_ms=0:muzzy_decay_ms=60000,/opt/libfoo.so". ',' separates
 * allocators, ':' precedes each setting of an allocator.
 */
#ifndef MS_CMD_RUN_VARIANTS_H
#define MS_CMD_RUN_VARIANTS_H

#include <stddef.h>

#include "model/comparison.h"

struct variants {
	struct variant *items;
	size_t count;
};

void variants_release(struct variants *variants);

/*
 * Parse the list without reading any file. Return 0, or print a message and return
 * -EINVAL, with *ret unchanged.
 */
int variants_parse(const char *list, struct variants *ret);

/*
 * Parse the list, check that a library can be preloaded into the command (argv[0]), and
 * find the libraries. Return EXIT_DONE, or print a message and return another exit
 * status, with *ret unchanged.
 */
int variants_prepare(const char *list, const char *command, struct variants *ret);

/*
 * Return the environment for a program with this variant's allocator: a copy of base,
 * with the required values added to LD_PRELOAD, GLIBC_TUNABLES and MALLOC_CONF. The
 * caller frees it with environment_free().
 */
char **variant_environment(const struct variant *variant, char *const *base);
void environment_free(char **environment);

#endif
