/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/html/page_files.h"

#include "render/html/page_digests.h"

/*
 * The files whose text the build embeds into memstate. The makefile passes the directory
 * of these files to the assembler. The script page_digests.sh also reads this list.
 */
/* clang-format off */
#define BEGIN(name) ".globl page_file_" #name "\npage_file_" #name ":\n"
#define PART(file)  ".incbin \"" file "\"\n"
#define END	    ".byte 0\n"

__asm__(".section .rodata\n"
	BEGIN(charts_style) PART("html/page.css") END
	BEGIN(charts_script) PART("html/page_lib.js") PART("html/page.js") END
	BEGIN(timeline_style) PART("html/page.css") PART("html/timeline.css") END
	BEGIN(timeline_script) PART("html/page_lib.js") PART("html/timeline.js") END
	BEGIN(flame_style) PART("html/page.css") PART("flame/flame.css") END
	BEGIN(flame_script) PART("flame/rules.js") PART("flame/tree.js") PART("flame/draw.js")
		PART("flame/beside.js") PART("flame/flame.js") END
	BEGIN(flame_body) PART("flame/flame.html") END
	BEGIN(flame_svg_style) PART("flame/svg.css") END
	BEGIN(flame_svg_script) PART("flame/svg.js") END
	".previous\n");
/* clang-format on */

extern const char page_file_charts_style[], page_file_charts_script[],
	page_file_timeline_style[], page_file_timeline_script[], page_file_flame_style[],
	page_file_flame_script[], page_file_flame_body[], page_file_flame_svg_style[],
	page_file_flame_svg_script[];

#define FILE_ROW(name)                               \
	{                                            \
		page_file_##name, PAGE_DIGEST_##name \
	}

static const struct {
	const char *text, *digest;
} files[] = {
	[PAGE_CHARTS_STYLE] = FILE_ROW(charts_style),
	[PAGE_CHARTS_SCRIPT] = FILE_ROW(charts_script),
	[PAGE_TIMELINE_STYLE] = FILE_ROW(timeline_style),
	[PAGE_TIMELINE_SCRIPT] = FILE_ROW(timeline_script),
	[PAGE_FLAME_STYLE] = FILE_ROW(flame_style),
	[PAGE_FLAME_SCRIPT] = FILE_ROW(flame_script),
	[PAGE_FLAME_BODY] = FILE_ROW(flame_body),
	[PAGE_FLAME_SVG_STYLE] = FILE_ROW(flame_svg_style),
	[PAGE_FLAME_SVG_SCRIPT] = FILE_ROW(flame_svg_script),
};

const char *page_file_text(enum page_file file)
{
	return files[file].text;
}

const char *page_file_digest(enum page_file file)
{
	return files[file].digest;
}
