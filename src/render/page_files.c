/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/page_files.h"

/* The assembler is told where they are, by src/render/local.mk. */
__asm__(".section .rodata\n"
	".globl page_style\n"
	".globl page_script\n"
	"page_style:\n"
	".incbin \"page.css\"\n"
	".byte 0\n"
	"page_script:\n"
	".incbin \"page.js\"\n"
	".byte 0\n"
	".previous\n");

extern const char page_style[], page_script[];

void page_add_style(struct strbuf *out)
{
	strbuf_add_text(out, page_style);
}

void page_add_script(struct strbuf *out)
{
	strbuf_add_text(out, page_script);
}
