/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explain_report - what is at an address, for a person and as JSON.
 */
#ifndef MS_RENDER_EXPLAIN_REPORT_H
#define MS_RENDER_EXPLAIN_REPORT_H

#include "base/strbuf.h"
#include "classify/explain.h"
#include "model/usage.h"
#include "target/symbols.h"
#include "walk/types.h"

struct explain_report {
	const struct usage *usage;
	const struct explanation *explanation;
	const struct blocks *blocks; /* NULL: not known */
	struct symbols *symbols;     /* NULL: not known */
	struct types *types;	     /* likewise */
	const char *problem;	     /* why nothing is said of blocks; NULL if it is */
};

void explain_report_add_text(struct strbuf *out, const struct explain_report *report);

/* One line, "\n" included. */
void explain_report_add_json(struct strbuf *out, const struct explain_report *report);

#endif
