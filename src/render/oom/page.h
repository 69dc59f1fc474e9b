/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page - the OOM kills found in a log, as one self-contained HTML page.
 */
#ifndef MS_RENDER_OOM_PAGE_H
#define MS_RENDER_OOM_PAGE_H

#include "base/strbuf.h"
#include "model/oom_kill.h"
#include "render/oom/explain.h"

/*
 * Maximum size of a page in bytes. The page shows as many kills as fit, and states how
 * many are left out.
 */
#define OOM_PAGE_BYTES_MAX ((size_t)2000000)

/* Append the HTML page. `name` is the name of the log. */
void oom_page_add(struct strbuf *out, const char *name,
		  const struct oom_kill *const *kills, size_t count,
		  const struct oom_explain_options *options);

#endif
