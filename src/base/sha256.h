/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sha256 - SHA-256 digests (FIPS 180-4) for the Content-Security-Policy of HTML pages.
 */
#ifndef MS_BASE_SHA256_H
#define MS_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

#define SHA256_BYTES 32

void sha256(const void *bytes, size_t length, uint8_t ret[SHA256_BYTES]);

/* Append the SHA-256 digest of the bytes in base64 (RFC 4648). */
void sha256_add_base64(struct strbuf *out, const void *bytes, size_t length);

#endif
