/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/html/page_files.h"

/* src/render/local.mk passes the directory of these files to the assembler. */
#define BEGIN(name) ".globl page_file_" #name "\npage_file_" #name ":\n"
#define PART(file) ".incbin \"" file "\"\n"
#define END ".byte 0\n"

__asm__(".section .rodata\n" BEGIN(charts_style) PART("html/page.css") END BEGIN(
	charts_script) PART("html/page_lib.js") PART("html/page.js")
		END BEGIN(timeline_style) PART("html/page.css") PART(
			"html/timeline.css") END BEGIN(timeline_script)
			PART("html/page_lib.js") PART("html/timeline.js") END BEGIN(
				flame_style) PART("html/page.css") PART("flame/flame.css")
				END BEGIN(flame_script) PART("flame/rules.js") PART(
					"flame/tree.js") PART("flame/draw.js")
					PART("flame/beside.js") PART(
						"flame/flame.js") END BEGIN(flame_body)
						PART("flame/flame.html") END BEGIN(
							flame_svg_style)
							PART("flame/svg.css") END BEGIN(
								flame_svg_script)
								PART("flame/svg.js") END
	".previous\n");

extern const char page_file_charts_style[], page_file_charts_script[],
	page_file_timeline_style[], page_file_timeline_script[], page_file_flame_style[],
	page_file_flame_script[], page_file_flame_body[], page_file_flame_svg_style[],
	page_file_flame_svg_script[];

static const char *const files[] = {
	[PAGE_CHARTS_STYLE] = page_file_charts_style,
	[PAGE_CHARTS_SCRIPT] = page_file_charts_script,
	[PAGE_TIMELINE_STYLE] = page_file_timeline_style,
	[PAGE_TIMELINE_SCRIPT] = page_file_timeline_script,
	[PAGE_FLAME_STYLE] = page_file_flame_style,
	[PAGE_FLAME_SCRIPT] = page_file_flame_script,
	[PAGE_FLAME_BODY] = page_file_flame_body,
	[PAGE_FLAME_SVG_STYLE] = page_file_flame_svg_style,
	[PAGE_FLAME_SVG_SCRIPT] = page_file_flame_svg_script,
};

const char *page_file_text(enum page_file file)
{
	return files[file];
}
