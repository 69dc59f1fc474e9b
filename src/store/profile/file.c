/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/profile/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/io.h"
#include "store/profile/folded.h"
#include "store/profile/gzip.h"
#include "store/profile/limits.h"
#include "store/profile/pprof.h"

/*
 * Read an uncompressed profile. A file that contains a NUL byte is in pprof's format: its
 * string table starts with an empty string, whose length is stored as a NUL byte. Any
 * other file is text.
 */
static int read_plain(const struct strbuf *bytes, enum profile_metric folded_metric,
		      struct profile *profile, struct strbuf *reterr_why)
{
	if (bytes->length == 0) {
		strbuf_add_text(reterr_why, "is empty");
		return -ENODATA;
	}
	if (memchr(bytes->text, '\0', bytes->length))
		return pprof_unpack(bytes->text, bytes->length, profile, reterr_why);
	return folded_read(bytes->text, bytes->length, folded_metric, profile,
			   reterr_why);
}

static int read_bytes(const struct strbuf *bytes, enum profile_metric folded_metric,
		      struct profile *profile, struct strbuf *reterr_why)
{
	_cleanup_strbuf_ struct strbuf plain = STRBUF_INIT;
	int r;

	if (!gzip_is_packed(bytes->text, bytes->length))
		return read_plain(bytes, folded_metric, profile, reterr_why);
	r = gzip_unpack(bytes->text, bytes->length, PROFILE_FILE_MAX_BYTES, &plain);
	if (r == 0)
		return read_plain(&plain, folded_metric, profile, reterr_why);
	strbuf_add_text(reterr_why,
			r == -EFBIG
				? "is too large for a profile: more than 512 MiB unpacked"
			: r == -EBADMSG ? "is gzipped, but damaged"
					: "is gzipped, but zlib is not available");
	return r;
}

int profile_load(const char *path, enum profile_metric folded_metric, struct profile *ret,
		 struct strbuf *reterr_why)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	struct profile profile;
	int r = io_read_file_at(AT_FDCWD, path, PROFILE_FILE_MAX_BYTES, &bytes);

	if (r < 0) {
		strbuf_add_text(reterr_why, r == -EFBIG ? "is too large for a profile"
							: strerror(-r));
		return r;
	}
	profile_init(&profile);
	r = read_bytes(&bytes, folded_metric, &profile, reterr_why);
	if (r < 0)
		profile_release(&profile);
	else
		*ret = profile;
	return r;
}

int profile_save(const char *path, const struct profile *profile,
		 struct strbuf *reterr_why)
{
	_cleanup_strbuf_ struct strbuf plain = STRBUF_INIT, packed = STRBUF_INIT;
	int r = pprof_pack(profile, &plain);

	if (r == 0)
		r = gzip_pack(plain.text, plain.length, &packed);
	if (r < 0) {
		strbuf_add_text(reterr_why,
				"cannot be written: libprotobuf-c or libz is not "
				"installed, or this memstate was built without them");
		return r;
	}
	r = io_write_file_atomic(path, packed.text, packed.length, 0666);
	if (r < 0)
		strbuf_add_text(reterr_why, strerror(-r));
	return r;
}
