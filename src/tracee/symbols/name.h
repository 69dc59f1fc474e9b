/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * name - the name of a function as in the source, from the one that a compiler and
 * a linker gave to its code.
 */
#ifndef MS_TRACEE_SYMBOLS_NAME_H
#define MS_TRACEE_SYMBOLS_NAME_H

#include "base/strbuf.h"

/*
 * Append it: C++ and Rust demangled; parts that a compiler has split off a function have
 * that one's name ("f.cold", "f.constprop.0"); without a version ("f@@LIB_1.0").
 */
void symbol_name_add(struct strbuf *out, const char *name);

#endif
