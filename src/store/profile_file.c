/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/io.h"
#include "store/folded.h"
#include "store/profile_limits.h"

/* What the file has, of whatever format. */
static int read_bytes(const struct strbuf *bytes, enum profile_metric folded_metric,
		      struct profile *profile, struct strbuf *reterr_why)
{
	if (bytes->length == 0) {
		strbuf_add_text(reterr_why, "is empty");
		return -ENODATA;
	}
	if (memchr(bytes->text, '\0', bytes->length)) {
		strbuf_add_text(reterr_why, "is no profile");
		return -EBADMSG;
	}
	return folded_read(bytes->text, bytes->length, folded_metric, profile, reterr_why);
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
