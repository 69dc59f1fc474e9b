/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gzip - bytes packed as gzip(1) does it, and unpacked.
 */
#ifndef MS_STORE_GZIP_H
#define MS_STORE_GZIP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/* These begin as such a file does. */
bool gzip_is_packed(const void *bytes, size_t length);

/* Append them packed: the same for the same bytes. Returns 0 or -EOPNOTSUPP, as below. */
int gzip_pack(const void *bytes, size_t length, struct strbuf *out);

/*
 * Append what is packed in them, at most `limit` bytes. Returns 0; -EBADMSG if they are
 * damaged; -EFBIG; or -EOPNOTSUPP if this was built without zlib.
 */
int gzip_unpack(const void *bytes, size_t length, size_t limit, struct strbuf *out);

#endif
