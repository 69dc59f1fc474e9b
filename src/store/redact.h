/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * redact - paths and arguments replaced by pseudonyms, for captures that are given away.
 *
 * The same text gets the same pseudonym for as long as the redactor lives, whichever file
 * it is in. Kept is what memstate tells memory by: names in brackets, " (deleted)", and
 * those of model/known_names.h. Whatever is not in the documented format is refused or
 * left out, never passed through.
 */
#ifndef MS_STORE_REDACT_H
#define MS_STORE_REDACT_H

#include <stddef.h>

#include "base/strbuf.h"

struct redactor;

struct redactor *redactor_new(void);
void redactor_free(struct redactor *r);

/*
 * A name as in the last column of smaps. "/usr/lib/libc.so.6 (deleted)": "/p1/libc.so.6
 * (deleted)".
 */
void redact_name(struct redactor *r, const char *name, size_t length, struct strbuf *out);

/*
 * The whole text of smaps or smaps_rollup. Returns 0, or -EBADMSG at a line that is
 * neither a header nor a "Key:" line; *out then holds the lines before it.
 */
int redact_smaps(struct redactor *r, const char *text, size_t length, struct strbuf *out);

/* The whole text of mountinfo: ids, device, flags and type of file system stay. Returns 0. */
int redact_mountinfo(struct redactor *r, const char *text, size_t length, struct strbuf *out);

/* Arguments, each ended by NUL. Returns 0. */
int redact_cmdline(struct redactor *r, const char *text, size_t length, struct strbuf *out);

#endif
