/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/text_report.h"

#include "base/strbuf.h"

void text_report_add(struct strbuf *out, const struct usage *u, const struct mapping_list *mappings,
		     const struct text_report_options *options)
{
	(void)mappings;
	(void)options;
	strbuf_addf(out, "%d %s\n", u->process.pid, u->process.comm);
}
