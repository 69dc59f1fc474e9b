/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof - convert a profile to and from the format of pprof (profile.proto).
 */
#ifndef MS_STORE_PROFILE_PPROF_H
#define MS_STORE_PROFILE_PPROF_H

#include <stddef.h>

#include "base/strbuf.h"
#include "model/profile.h"

/*
 * Append the encoded profile to *out. Stacks without values are omitted. Bytes of names
 * that are not printable text are written as \xHH. Returns 0, or -EOPNOTSUPP if memstate
 * was built without protobuf-c.
 */
int pprof_pack(const struct profile *profile, struct strbuf *out);

/*
 * Decode a profile and add its contents to an empty profile. Only values that describe
 * allocations are read; they may have the names that memstate, Go or other tools use.
 * Returns 0, or -EBADMSG, -EFBIG or -EOPNOTSUPP with the reason appended to *reterr_why.
 */
int pprof_unpack(const void *bytes, size_t length, struct profile *profile,
		 struct strbuf *reterr_why);

#endif
