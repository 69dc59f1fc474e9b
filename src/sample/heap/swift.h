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
	/* names of type metadata symbols, which are demangled to the full type name */
	SWIFT_TYPES,
	/*
	 * names of functions, which are demangled without their modules and
	 * argument types
	 */
	SWIFT_FUNCTIONS,
};

/*
 * Return true if the name is a mangled Swift name as in object
 * files. The name may be NULL.
 */
bool swift_name_is(const char *name);

/*
 * Demangle the Swift names in the array, and leave all other names unchanged. Each
 * element is NULL or a string from malloc(3) that the caller owns. "swift demangle" is
 * started only if the array contains a Swift name. If the program is missing or runs for
 * more than two seconds, all names remain unchanged.
 */
void swift_translate(char **names, size_t count, enum swift_names what);

#endif
