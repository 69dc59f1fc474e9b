/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof - a profile as the bytes of pprof's profile.proto.
 */
#ifndef MS_STORE_PPROF_H
#define MS_STORE_PPROF_H

#include <stddef.h>

#include "base/strbuf.h"
#include "model/profile.h"

/*
 * Append it. Stacks without values are left out; bytes of names that are no text become
 * \xHH. Returns 0, or -EOPNOTSUPP if this was built without protobuf-c.
 */
int pprof_pack(const struct profile *profile, struct strbuf *out);

/*
 * Add what is in them to an empty profile: values that are of allocations, by the names
 * that memstate, Go and other tools give them. Returns 0; or -EBADMSG, -EFBIG or
 * -EOPNOTSUPP with the reason added to *reterr_why.
 */
int pprof_unpack(const void *bytes, size_t length, struct profile *profile,
		 struct strbuf *reterr_why);

#endif
