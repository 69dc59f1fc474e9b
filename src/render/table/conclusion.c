/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/table/conclusion.h"

#include "base/text.h"

#define DEFAULT_WIDTH 100

void conclusion_add_opening(struct strbuf *out, const struct conclusion *conclusion,
			    const struct table_options *options)
{
	size_t width = options->max_width > 0 ? (size_t)options->max_width
					      : DEFAULT_WIDTH;

	if (conclusion->text.length > 0)
		text_add_wrapped(out, conclusion->text.text, 0, width);
}

void conclusion_add_next(struct strbuf *out, const struct conclusion *conclusion)
{
	if (conclusion->next.length > 0)
		strbuf_addf(out, "\n" CONCLUSION_NEXT "%s\n", conclusion->next.text);
}
