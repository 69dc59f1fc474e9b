/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_library - libprotobuf-c and libz, loaded when the first profile is read or
 * written: they take an eighth of a MiB, which most runs have no use for.
 */
#ifndef MS_STORE_PPROF_LIBRARY_H
#define MS_STORE_PPROF_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

struct library_function {
	const char *name;
	void *function; /* where its address goes */
};

/* Load one, which stays, and find all its functions in it. */
bool library_load(const char *library, const struct library_function *functions, size_t count);

/* What the code that protoc-c makes calls is there. */
bool pprof_library_load(void);

#endif
