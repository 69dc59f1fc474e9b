/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_files - the styles and scripts of HTML pages and SVG pictures, which the build
 * embeds into memstate. Their sources are in the same directory.
 */
#ifndef MS_RENDER_HTML_PAGE_FILES_H
#define MS_RENDER_HTML_PAGE_FILES_H

enum page_file {
	PAGE_CHARTS_STYLE,
	PAGE_CHARTS_SCRIPT,
	PAGE_TIMELINE_STYLE,
	PAGE_TIMELINE_SCRIPT,
	PAGE_FLAME_STYLE,
	PAGE_FLAME_SCRIPT,
	PAGE_FLAME_BODY,
	PAGE_FLAME_SVG_STYLE,
	PAGE_FLAME_SVG_SCRIPT,
};

/*
 * Return the text of an embedded file. The text never contains the end tag of the HTML
 * element into which it is inserted.
 */
const char *page_file_text(enum page_file file);

/*
 * Return the base64 SHA-256 digest of an embedded file's text, which the build computes.
 */
const char *page_file_digest(enum page_file file);

#endif
