/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * swift - translate names of Swift types to those of the source, with the program "swift
 * demangle" if it is installed.
 */
#ifndef MS_SAMPLE_HEAP_SWIFT_H
#define MS_SAMPLE_HEAP_SWIFT_H

#include <stdbool.h>
#include <stddef.h>

enum swift_names {
	SWIFT_TYPES,	 /* names in tables of types: the full type name */
	SWIFT_FUNCTIONS, /* without modules and argument types */
};

/* Whether the name is a mangled Swift name from an object file. NULL is not. */
bool swift_name_is(const char *name);

/*
 * Replace the Swift names among `names`; each is NULL or a string from malloc(3) that the
 * caller owns. Starts no program if there is no Swift name. If the program is missing or
 * takes longer than two seconds, all names stay unchanged.
 */
void swift_translate(char **names, size_t count, enum swift_names what);

#endif
