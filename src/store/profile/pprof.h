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
 * Append the encoded profile to *out. Stacks without values are omitted. In names, bytes
 * that are not printable text are written as \xHH. Return 0, or -EOPNOTSUPP if memstate
 * was built without protobuf-c.
 */
int pprof_pack(const struct profile *profile, struct strbuf *out);

/*
 * Decode a profile into an empty profile. Only values that describe allocations are read,
 * under the names that memstate, Go or other tools give them. Return 0, or -EBADMSG,
 * -EFBIG or -EOPNOTSUPP with the reason appended to *reterr_why.
 */
int pprof_unpack(const void *bytes, size_t length, struct profile *profile,
		 struct strbuf *reterr_why);

#endif
