/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * name - convert a symbol name, which the compiler and the linker made, to the function's
 * name in the source.
 */
#ifndef MS_TRACEE_SYMBOLS_NAME_H
#define MS_TRACEE_SYMBOLS_NAME_H

#include "base/strbuf.h"

/*
 * Append the name that the function has in the source: demangle C++ and Rust names;
 * remove compiler suffixes of split or copied functions ("f.cold", "f.constprop.0") and
 * versions ("f@@LIB_1.0").
 */
void symbol_name_add(struct strbuf *out, const char *name);

#endif
