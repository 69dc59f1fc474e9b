/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * swift - demangle the names of Swift types and functions with the program
 * "swift demangle", if it is installed.
 */
#ifndef MS_SAMPLE_HEAP_SWIFT_H
#define MS_SAMPLE_HEAP_SWIFT_H

#include <stdbool.h>
#include <stddef.h>

enum swift_names {
	SWIFT_TYPES, /* names of type metadata symbols: demangle to the full type name */
	SWIFT_FUNCTIONS, /* function names: demangle without modules and argument types */
};

/*
 * Return true if the name is a mangled Swift name from an object file. NULL is allowed.
 */
bool swift_name_is(const char *name);

/*
 * Demangle the Swift names in the array, and leave all other names unchanged. Each
 * element is NULL or a string from malloc(3), which the caller owns. The program is
 * started only if the array contains a Swift name. If the program is missing or takes
 * longer than two seconds, all names stay unchanged.
 */
void swift_translate(char **names, size_t count, enum swift_names what);

#endif
