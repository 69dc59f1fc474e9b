/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * allocators - find the libraries of the allocators that --preload accepts by name, and
 * describe how to pass settings to them.
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
	/* file name of the library, without a version suffix */
	const char *file;
	const char *packages; /* packages that contain the library, for messages */
	/*
	 * Environment variable for settings, or NULL. The user writes each setting as
	 * NAME=VALUE. If `variable` is not NULL, each setting is appended to its value as
	 * PREFIX NAME EQUALS VALUE, with SEPARATOR between two settings. Otherwise, each
	 * setting becomes a separate environment variable: PREFIX NAME in upper case.
	 */
	const char *variable;
	const char *prefix;
	char equals, separator;
	/* true if settings are numbers; a number of bytes may have a suffix, as in 64K */
	bool are_numbers;
	const char *const *settings; /* names of the settings; NULL-terminated */
};

/*
 * Return the allocator with the given name. For a path, return the allocator whose
 * library has the same file name. Return NULL if there is no such allocator.
 */
const struct known_allocator *allocators_find(const char *name, size_t length);
const struct known_allocator *allocators_guess(const char *path);

/* Append the names of all known allocators, such as "glibc, jemalloc". */
void allocators_add_names(struct strbuf *out);

/*
 * Find the allocator's library for a program of the given machine type. Search the
 * folders of ld.so.conf(5) and the usual folders below root ("" for the running system).
 * Return 0; -ENOENT if no library was found; or -ENOEXEC if only libraries for other
 * machines were found, with *ret_path set to one of them. The caller frees *ret_path.
 */
int allocators_find_library(const char *root, const struct known_allocator *known,
			    const struct machine *machine, char **ret_path);

#endif
