/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * allocators - the allocators that --preload knows by name: how to find their libraries
 * and how to pass settings to them.
 */
#ifndef MS_CMD_RUN_ALLOCATORS_H
#define MS_CMD_RUN_ALLOCATORS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "cmd/run/program.h"
#include "model/usage.h"

struct known_allocator {
	const char *name;
	enum allocator allocator;
	const char *file;     /* library file name; a version suffix may follow */
	const char *packages; /* where to get the library, for messages */
	/*
	 * The user writes each setting as NAME=VALUE. If variable is set, all settings go
	 * into that environment variable as PREFIX NAME EQUALS VALUE, after its present
	 * value and the separator. Without a variable, each setting becomes an
	 * environment variable of its own, with the name in capitals.
	 */
	const char *variable;
	const char *prefix;
	char equals, separator;
	bool are_numbers; /* values are numbers, so 64K is accepted for bytes */
	const char *const *settings; /* setting names; NULL-terminated */
};

/*
 * Return the allocator with that name, or the one whose library has a file name like
 * path; NULL if there is no such allocator.
 */
const struct known_allocator *allocators_find(const char *name, size_t length);
const struct known_allocator *allocators_guess(const char *path);

/* Append the names of all known allocators: "glibc, jemalloc, ...". */
void allocators_add_names(struct strbuf *out);

/*
 * Find the allocator's library for a program of the given machine type. Searches the
 * folders of ld.so.conf(5) and the usual folders below root ("" for the running system).
 *
 * Returns 0; -ENOENT if there is no library; or -ENOEXEC if there are only libraries for
 * other machines, with *ret_path set to one of them. The caller frees *ret_path.
 */
int allocators_find_library(const char *root, const struct known_allocator *known,
			    const struct machine *machine, char **ret_path);

#endif
