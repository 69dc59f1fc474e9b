/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demangle - names as compilers write them into object files, back to what was in the
 * source: C++ (Itanium ABI) and Rust. Names are foreign: what is too long, or grows too
 * long, stays as it is.
 */
#ifndef MS_BASE_DEMANGLE_H
#define MS_BASE_DEMANGLE_H

#include <stdbool.h>

#include "base/strbuf.h"

/*
 * Append the name as in the source. False, and *out as it was, if it is not mangled, or
 * this was built without libiberty.
 */
bool demangle_add(struct strbuf *out, const char *name);

#endif
