/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * swift - names of Swift's types as in the source, by the program "swift demangle" if it
 * is there.
 */
#ifndef MS_SAMPLE_SWIFT_H
#define MS_SAMPLE_SWIFT_H

#include <stdbool.h>
#include <stddef.h>

enum swift_names {
	SWIFT_TYPES,	 /* of the tables that are of a type: its name, whole */
	SWIFT_FUNCTIONS, /* without modules and types of arguments */
};

/* One of Swift's as in an object file. NULL is none. */
bool swift_name_is(const char *name);

/*
 * Those of the names (each NULL or the caller's, from malloc) that are Swift's are
 * replaced. Without any nothing is run. Without the program, or if it takes longer than
 * two seconds, all stay as they are.
 */
void swift_translate(char **names, size_t count, enum swift_names what);

#endif
