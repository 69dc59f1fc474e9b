/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fold_name - remove from a function name the parts that differ between builds, or
 * between copies of a function that the compiler made. The functions are pure.
 *
 * The following parts are always removed: the marks that compilers add to copies and
 * parts of functions (".constprop.0", ".isra.0", ".part.0", ".cold", ".llvm.123", "
 * [clone .isra.0]"; Swift's "generic specialization <...> of", "specialized", "merged")
 * and Rust's hashes ("::h0123456789abcdef", "[0123456789abcdef]").
 *
 * Unless keeps_generics is set, arguments of templates and generics become "<...>". C++
 * parameters and return types, which contain such arguments, are also removed in that
 * case: "void f<int>(int)" becomes "f<...>". Rust's "<T as Trait>" is not an argument
 * list and stays.
 */
#ifndef MS_CLASSIFY_PROFILE_FOLD_NAME_H
#define MS_CLASSIFY_PROFILE_FOLD_NAME_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "model/profile.h"

/*
 * Append the folded name. Names are untrusted input, so malformed or extremely long names
 * are appended unchanged.
 */
void fold_name_add(struct strbuf *out, const char *name, bool keeps_generics);

/*
 * Copy a profile with all function names folded. The nameless functions of a module
 * become one function called "[MODULE]", because their addresses differ between builds.
 */
void fold_profile(const struct profile *profile, bool keeps_generics,
		  struct profile *ret);

#endif
