/* SPDX-License-Identifier: GPL-2.0-or-later */
/* colored_text - a screen as text with the escape sequences of its colours. */
#ifndef MS_TESTS_COLORED_TEXT_H
#define MS_TESTS_COLORED_TEXT_H

#include "ui/screen/canvas.h"

/*
 * Append the screen as a terminal shows it with the look "dark", "light", "dark8" or
 * "light8". cat(1) shows the result. Returns false if there is no such look.
 */
bool colored_text_add(struct strbuf *out, const struct canvas *c, const char *name);

#endif
