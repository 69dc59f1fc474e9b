/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * name - convert the symbol name of a function to the function's name in the source code.
 */
#ifndef MS_TRACEE_SYMBOLS_NAME_H
#define MS_TRACEE_SYMBOLS_NAME_H

#include "base/strbuf.h"

/*
 * Append the function's name in the source code: demangle C++ and Rust names, and remove
 * the compiler's suffixes of split or copied functions ("f.cold", "f.constprop.0") and
 * versions ("f@@LIB_1.0").
 */
void symbol_name_add(struct strbuf *out, const char *name);

#endif
