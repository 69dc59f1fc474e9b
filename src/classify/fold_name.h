/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fold_name - a function's name without what differs from build to build, and between the
 * copies that a compiler makes of one function. Pure.
 *
 * Left out always: what compilers add to copies and parts (".constprop.0", ".isra.0",
 * ".part.0", ".cold", ".llvm.123", " [clone .isra.0]"; Swift's "generic specialization <...>
 * of", "specialized", "merged") and Rust's hashes ("::h0123456789abcdef", "[0123456789abcdef]").
 *
 * Unless they are to be kept, arguments of templates and generics are "<...>"; C++'s
 * parameters and type of result, which they are a part of, are left out with them:
 * "void f<int>(int)" is "f<...>". Rust's "<T as Trait>" are no arguments: they stay.
 */
#ifndef MS_CLASSIFY_FOLD_NAME_H
#define MS_CLASSIFY_FOLD_NAME_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "model/profile.h"

/* Names are foreign: one that is odd, or long beyond reason, is appended as it is. */
void fold_name_add(struct strbuf *out, const char *name, bool keeps_generics);

/*
 * The profile with the names of all its functions folded. Functions without a name are one
 * function of their module, "[MODULE]", as their addresses differ from build to build.
 */
void fold_profile(const struct profile *profile, bool keeps_generics, struct profile *ret);

#endif
