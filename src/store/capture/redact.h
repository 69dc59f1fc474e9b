/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * redact - replace paths and arguments in captures with pseudonyms, so that users can
 * share their captures.
 *
 * During the lifetime of a redactor, equal strings have the same pseudonym in all files.
 * Names by which memstate identifies memory are preserved: names in brackets, the suffix
 * "(deleted)", and the names in model/known_names.h. Text that is not in the documented
 * format is rejected or omitted, never copied.
 */
#ifndef MS_STORE_CAPTURE_REDACT_H
#define MS_STORE_CAPTURE_REDACT_H

#include <stddef.h>

#include "base/strbuf.h"

struct redactor;

struct redactor *redactor_new(void);
void redactor_free(struct redactor *r);

/*
 * Append the redacted form of a name from the last column of smaps. For example,
 * "/usr/lib/libc.so.6 (deleted)" becomes "/p1/libc.so.6 (deleted)".
 */
void redact_name(struct redactor *r, const char *name, size_t length, struct strbuf *out);

/*
 * Append the redacted text of smaps or smaps_rollup to *out. Return 0, or -EBADMSG if a
 * line is neither a header nor a "Key:" line; *out then contains only the lines before
 * the invalid line.
 */
int redact_smaps(struct redactor *r, const char *text, size_t length, struct strbuf *out);

/*
 * Append the redacted text of mountinfo. IDs, device numbers, flags and file system types
 * are preserved. Return 0.
 */
int redact_mountinfo(struct redactor *r, const char *text, size_t length,
		     struct strbuf *out);

/*
 * Append the redacted form of a command line, in which each argument ends with NUL.
 * Return 0.
 */
int redact_cmdline(struct redactor *r, const char *text, size_t length,
		   struct strbuf *out);

#endif
