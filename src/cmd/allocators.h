/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * allocators - the allocators that --preload knows by name: where their libraries are,
 * and how they are set.
 */
#ifndef MS_CMD_ALLOCATORS_H
#define MS_CMD_ALLOCATORS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "cmd/program.h"
#include "model/usage.h"

struct known_allocator {
	const char *name;
	enum allocator allocator;
	const char *file; /* its library's name, to which a version may be added */
	const char *packages; /* who has it */
	/*
	 * Settings are said as NAME=VALUE and go, as PREFIX NAME EQUALS VALUE, into the
	 * one variable, behind what it has and the separator; without a variable each is
	 * one, its name in capitals.
	 */
	const char *variable;
	const char *prefix;
	char equals, separator;
	bool are_numbers; /* bytes may be said as 64K */
	const char *const *settings; /* by name; ends with NULL */
};

/* NULL: there is none of that name, or that a library's file name is like. */
const struct known_allocator *allocators_find(const char *name, size_t length);
const struct known_allocator *allocators_guess(const char *path);

/* "glibc, jemalloc, ..." */
void allocators_add_names(struct strbuf *out);

/*
 * Find its library for a program of that machine, below a root ("": the system's), in the
 * folders of ld.so.conf(5) and those that are usual. Returns 0; -ENOENT; or -ENOEXEC:
 * there are only some for other machines, one of which *ret_path is. The caller frees
 * *ret_path.
 */
int allocators_find_library(const char *root, const struct known_allocator *known,
			    const struct machine *machine, char **ret_path);

#endif
