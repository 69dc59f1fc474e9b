/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demangle - convert mangled symbol names of C++ (Itanium ABI) and Rust to the names in
 * the source code. Symbol names are untrusted: names whose mangled or demangled form is
 * too long are not demangled.
 */
#ifndef MS_BASE_DEMANGLE_H
#define MS_BASE_DEMANGLE_H

#include <stdbool.h>

#include "base/strbuf.h"

/*
 * Append the demangled form of name to *out. Return false with *out unchanged if name is
 * not mangled, or if memstate was built without libiberty.
 */
bool demangle_add(struct strbuf *out, const char *name);

#endif
