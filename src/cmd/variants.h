/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * variants - what --preload asks for:
 * "glibc,jemalloc:dirty_decay_ms=0:muzzy_decay_ms=60000,/opt/libfoo.so".
 *
 * ',' is between allocators, ':' before each setting of one.
 */
#ifndef MS_CMD_VARIANTS_H
#define MS_CMD_VARIANTS_H

#include <stddef.h>

#include "model/comparison.h"

struct variants {
	struct variant *items;
	size_t count;
};

void variants_release(struct variants *variants);

/*
 * Without looking at any file. Returns 0; or -EINVAL after the message has been given,
 * *ret untouched.
 */
int variants_parse(const char *list, struct variants *ret);

/*
 * Parse, see whether anything can be preloaded into the command (argv[0]), and find the
 * libraries. Returns EXIT_DONE; or the status to end with after the message has been
 * given, *ret untouched.
 */
int variants_prepare(const char *list, const char *command, struct variants *ret);

/*
 * The environment for a program with that allocator: base, with what is needed added to
 * what LD_PRELOAD, GLIBC_TUNABLES and MALLOC_CONF say already. The caller frees it with
 * environment_free().
 */
char **variant_environment(const struct variant *variant, char *const *base);
void environment_free(char **environment);

#endif
