/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gzip - compress and decompress bytes in the format of gzip(1).
 */
#ifndef MS_STORE_PROFILE_GZIP_H
#define MS_STORE_PROFILE_GZIP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/* Return true if the bytes begin with the magic number of a gzip file. */
bool gzip_is_packed(const void *bytes, size_t length);

/*
 * Append the compressed bytes to *out. Equal inputs produce equal outputs. Return 0, or
 * -EOPNOTSUPP if memstate was built without zlib.
 */
int gzip_pack(const void *bytes, size_t length, struct strbuf *out);

/* Like gzip_pack(), but faster and with a larger result. */
int gzip_pack_fast(const void *bytes, size_t length, struct strbuf *out);

/*
 * Append at most `limit` decompressed bytes to *out. Return 0; -EBADMSG if the input is
 * damaged; -EFBIG if the output would exceed the limit; or -EOPNOTSUPP if memstate was
 * built without zlib.
 */
int gzip_unpack(const void *bytes, size_t length, size_t limit, struct strbuf *out);

#endif
