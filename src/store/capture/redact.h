/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * redact - replace paths and arguments with pseudonyms, for
 * captures that are given to others.
 *
 * The same text gets the same pseudonym in all files during the lifetime of a redactor.
 * Names that memstate uses to identify memory are kept: names in brackets, " (deleted)",
 * and those in model/known_names.h. Anything that is not in the documented format is
 * rejected or left out, never copied.
 */
#ifndef MS_STORE_CAPTURE_REDACT_H
#define MS_STORE_CAPTURE_REDACT_H

#include <stddef.h>

#include "base/strbuf.h"

struct redactor;

struct redactor *redactor_new(void);
void redactor_free(struct redactor *r);

/*
 * Append the redacted form of a name in the last column of smaps: "/usr/lib/libc.so.6
 * (deleted)" becomes "/p1/libc.so.6 (deleted)".
 */
void redact_name(struct redactor *r, const char *name, size_t length, struct strbuf *out);

/*
 * Append the redacted text of smaps or smaps_rollup. Returns 0, or -EBADMSG at a line
 * that is neither a header nor a "Key:" line; *out then has the lines before it.
 */
int redact_smaps(struct redactor *r, const char *text, size_t length, struct strbuf *out);

/*
 * Append the redacted text of mountinfo. Ids, device, flags and file
 * system type are kept. Returns 0.
 */
int redact_mountinfo(struct redactor *r, const char *text, size_t length,
		     struct strbuf *out);

/* Append the redacted arguments, each terminated by NUL. Returns 0. */
int redact_cmdline(struct redactor *r, const char *text, size_t length,
		   struct strbuf *out);

#endif
