/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selection - the filter of a list, and the text that the user searches for in the list.
 */
#ifndef MS_UI_VIEW_SELECTION_H
#define MS_UI_VIEW_SELECTION_H

#include "base/strbuf.h"

struct selection {
	struct strbuf filter;
	struct strbuf search;
};

#endif
