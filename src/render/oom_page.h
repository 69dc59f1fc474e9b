/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_page - the kills of a log as one page of HTML that needs nothing but itself.
 */
#ifndef MS_RENDER_OOM_PAGE_H
#define MS_RENDER_OOM_PAGE_H

#include "base/strbuf.h"
#include "model/oom_kill.h"
#include "render/oom_explain.h"

/* A page is not larger: kills beyond are counted on it. */
#define OOM_PAGE_BYTES_MAX ((size_t)2000000)

/* name: the log's. */
void oom_page_add(struct strbuf *out, const char *name, const struct oom_kill *const *kills,
		  size_t count, const struct oom_explain_options *options);

#endif
