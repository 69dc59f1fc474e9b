/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/conclusion.h"

void conclusion_release(struct conclusion *c)
{
	strbuf_release(&c->text);
	strbuf_release(&c->next);
}

void conclusion_add(struct conclusion *c, const char *format, ...)
{
	va_list args;

	if (c->text.length > 0)
		strbuf_add_char(&c->text, ' ');
	va_start(args, format);
	strbuf_vaddf(&c->text, format, args);
	va_end(args);
}

void conclusion_set_next(struct conclusion *c, const char *format, ...)
{
	va_list args;

	strbuf_clear(&c->next);
	va_start(args, format);
	strbuf_vaddf(&c->next, format, args);
	va_end(args);
}
