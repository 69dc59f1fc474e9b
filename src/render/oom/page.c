/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/oom/page.h"

#include <string.h>

#include "classify/oom/evidence.h"
#include "render/html/html_page.h"
#include "render/oom/summary.h"

/* Number of bytes reserved for the end of the page, which includes the script. */
#define END_BYTES 100000

static void add_lines(struct strbuf *out, const struct strbuf *text)
{
	strbuf_add_text(out, "<pre>");
	html_add_lines(out, strbuf_text(text));
	strbuf_add_text(out, "</pre>\n");
}

void oom_page_add(struct strbuf *out, const char *name,
		  const struct oom_kill *const *kills, size_t count,
		  const struct oom_explain_options *options)
{
	const struct html_page page = HTML_PAGE_CHARTS(name);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, part = STRBUF_INIT;
	size_t start = out->length, i;

	html_page_begin(out, &page);
	if (count >= OOM_SUMMARY_MIN) {
		oom_summary_add_text(&text, kills, count, options);
		add_lines(out, &text);
	}
	for (i = 0; i < count; i++) {
		struct oom_evidence evidence;

		oom_evidence_init(&evidence);
		oom_evidence_set_kill(&evidence, kills[i]);
		strbuf_clear(&text);
		strbuf_clear(&part);
		oom_explain_add_text(&text, &evidence, options);
		add_lines(&part, &text);
		if (out->length - start + part.length + END_BYTES > OOM_PAGE_BYTES_MAX)
			break;
		strbuf_add(out, part.text, part.length);
	}
	if (i < count)
		strbuf_addf(out, "<p>%zu more kills are not on this page.</p>\n",
			    count - i);
	html_page_end(out, &page);
}
