/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demangle - convert mangled symbol names of C++ (Itanium ABI) and Rust to names as in
 * the source. Symbol names are untrusted: a name that is too long, or that becomes too
 * long, is not demangled.
 */
#ifndef MS_BASE_DEMANGLE_H
#define MS_BASE_DEMANGLE_H

#include <stdbool.h>

#include "base/strbuf.h"

/*
 * Append the demangled name. Returns false with *out unchanged if the name is not
 * mangled, or if memstate was built without libiberty.
 */
bool demangle_add(struct strbuf *out, const char *name);

#endif
