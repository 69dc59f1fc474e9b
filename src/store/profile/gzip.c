/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/profile/gzip.h"

#include <errno.h>
#include <stdint.h>

bool gzip_is_packed(const void *bytes, size_t length)
{
	const uint8_t *first = bytes;

	return length > 2 && first[0] == 0x1f && first[1] == 0x8b;
}

#if HAVE_PPROF

#	define ZLIB_CONST
#	include <zlib.h>

#	include "base/cleanup.h"
#	include "base/library.h"
#	include "base/xalloc.h"

#	define CHUNK_BYTES 65536
#	define WINDOW (15 + 16) /* maximum window size (15) plus 16 for gzip headers */
#	define MEMORY_LEVEL 8

/* clang-format off */
#	define ZLIB_FUNCTIONS(X) \
		X(deflate) X(deflateEnd) X(deflateInit2_) X(inflate) X(inflateEnd) \
		X(inflateInit2_) X(inflateReset)
/* clang-format on */

LIBRARY_DEFINE(zlib, "libz.so.1", ZLIB_FUNCTIONS);

/* Limit a length to the range of unsigned int, the type of zlib's counters. */
static unsigned int limit_length(size_t length)
{
	return length < UINT32_MAX / 2 ? (unsigned int)length : UINT32_MAX / 2;
}

static int pack(const void *bytes, size_t length, int level, struct strbuf *out)
{
	_cleanup_free_ uint8_t *chunk = xmalloc(CHUNK_BYTES);
	z_stream stream = { .next_in = bytes };
	int r;

	if (!library_load(&zlib_library))
		return -EOPNOTSUPP;
	if (zlib.deflateInit2_(&stream, level, Z_DEFLATED, WINDOW, MEMORY_LEVEL,
			       Z_DEFAULT_STRATEGY, ZLIB_VERSION,
			       (int)sizeof(stream)) != Z_OK)
		xalloc_exhausted();
	do {
		unsigned int given = stream.avail_in == 0 ? limit_length(length) : 0;

		stream.avail_in += given;
		length -= given;
		stream.next_out = chunk;
		stream.avail_out = CHUNK_BYTES;
		r = zlib.deflate(&stream, length == 0 ? Z_FINISH : Z_NO_FLUSH);
		strbuf_add(out, chunk, CHUNK_BYTES - stream.avail_out);
	} while (r == Z_OK);
	zlib.deflateEnd(&stream);
	return 0;
}

int gzip_pack(const void *bytes, size_t length, struct strbuf *out)
{
	return pack(bytes, length, Z_DEFAULT_COMPRESSION, out);
}

int gzip_pack_fast(const void *bytes, size_t length, struct strbuf *out)
{
	return pack(bytes, length, Z_BEST_SPEED, out);
}

/*
 * Append the decompressed bytes to *out. The input may consist of several consecutive
 * gzip streams.
 */
static int unpack(z_stream *stream, size_t length, size_t limit, struct strbuf *out)
{
	_cleanup_free_ uint8_t *chunk = xmalloc(CHUNK_BYTES);
	const size_t before = out->length;
	int r = Z_OK;

	while (r == Z_OK || stream->avail_in > 0 || length > 0) {
		unsigned int given = stream->avail_in == 0 ? limit_length(length) : 0;

		stream->avail_in += given;
		length -= given;
		if (r == Z_STREAM_END && zlib.inflateReset(stream) != Z_OK)
			return -EBADMSG;
		stream->next_out = chunk;
		stream->avail_out = CHUNK_BYTES;
		r = zlib.inflate(stream, Z_NO_FLUSH);
		/* inflate() also fails if the gzip file is truncated */
		if (r != Z_OK && r != Z_STREAM_END)
			return -EBADMSG;
		strbuf_add(out, chunk, CHUNK_BYTES - stream->avail_out);
		if (out->length - before > limit)
			return -EFBIG;
	}
	return 0;
}

int gzip_unpack(const void *bytes, size_t length, size_t limit, struct strbuf *out)
{
	z_stream stream = { .next_in = bytes };
	const size_t before = out->length;
	int r;

	if (!library_load(&zlib_library))
		return -EOPNOTSUPP;
	if (zlib.inflateInit2_(&stream, WINDOW, ZLIB_VERSION, (int)sizeof(stream)) !=
	    Z_OK)
		xalloc_exhausted();
	r = unpack(&stream, length, limit, out);
	zlib.inflateEnd(&stream);
	if (r < 0)
		strbuf_truncate(out, before);
	return r;
}

#else

int gzip_pack(const void *bytes, size_t length, struct strbuf *out)
{
	(void)bytes;
	(void)length;
	(void)out;
	return -EOPNOTSUPP;
}

int gzip_pack_fast(const void *bytes, size_t length, struct strbuf *out)
{
	return gzip_pack(bytes, length, out);
}

int gzip_unpack(const void *bytes, size_t length, size_t limit, struct strbuf *out)
{
	(void)bytes;
	(void)length;
	(void)limit;
	(void)out;
	return -EOPNOTSUPP;
}

#endif
