/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/count/flame_file.h"

#include <stdbool.h>
#include <string.h>

#include "base/io.h"
#include "base/strbuf.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "render/flame/svg.h"

static bool ends_in(const char *path, const char *ending)
{
	size_t length = strlen(path), end = strlen(ending);

	return length > end && strcmp(path + length - end, ending) == 0;
}

int flame_file_check(const char *verb, const char *path)
{
	if (ends_in(path, ".svg") || ends_in(path, ".html"))
		return EXIT_DONE;
	message_usage(verb,
		      "--flame-graph: '%s' does not end in .svg (a picture) or .html (an "
		      "interactive page)",
		      path);
	return EXIT_BAD_USAGE;
}

static int write_text(const char *path, const struct strbuf *text)
{
	int r = io_write_file_atomic(path, text->text, text->length, 0666);

	if (r < 0)
		message_error(path, r);
	return r;
}

int flame_file_write(const char *path, const struct profile *profile,
		     const struct profile *changed, const struct flame_page *page)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (ends_in(path, ".svg"))
		flame_svg_add(&text, changed, page->metric, page->title);
	else
		flame_html_add(&text, profile, page);
	return write_text(path, &text);
}

int flame_file_write_diff(const char *path, const struct profile profiles[2],
			  const struct profile changed[2], const struct flame_page *page)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (ends_in(path, ".svg"))
		flame_svg_add_diff(&text, &changed[0], &changed[1], page->metric,
				   page->title);
	else
		flame_html_add_diff(&text, &profiles[0], &profiles[1], page);
	return write_text(path, &text);
}
