/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text - the text of a settings file: lines "key=value", comments and blank lines.
 *
 *	# Blanks around key and value are ignored; so are unknown keys.
 *	version=1
 *	sort = pss_bytes  # a comment after a value begins with a blank and #
 */
#ifndef MS_STORE_SETTINGS_TEXT_H
#define MS_STORE_SETTINGS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "model/settings.h"

#define SETTINGS_VERSION 1
#define SETTINGS_BYTES_MAX 65536

/*
 * Parse the text of a settings file. If a key occurs several times, the last line counts.
 * *ret_bad_line is the number of the first line that is neither a setting nor a comment,
 * or 0. Return 0, -EBADMSG if the text contains a NUL byte, or -EPROTONOSUPPORT if its
 * version is not SETTINGS_VERSION. On failure, *ret and *ret_bad_line are unchanged. The
 * caller releases *ret.
 */
int settings_text_parse(const struct strbuf *text, struct settings *ret,
			size_t *ret_bad_line);

/*
 * Append the text to *out with some settings changed and everything else unchanged. If
 * is_rejected is set for a changed setting, memstate could not use the old value, and the
 * old line becomes a comment. `text` must be empty or accepted by settings_text_parse().
 */
void settings_text_change(const struct strbuf *text, const struct settings *changes,
			  const bool is_rejected[SETTING_COUNT_], struct strbuf *out);

#endif
