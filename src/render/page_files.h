/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_files - what every page of HTML holds besides its figures: page.css and page.js.
 */
#ifndef MS_RENDER_PAGE_FILES_H
#define MS_RENDER_PAGE_FILES_H

#include "base/strbuf.h"

void page_add_style(struct strbuf *out);
void page_add_script(struct strbuf *out);

#endif
