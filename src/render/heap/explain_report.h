/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain_report - describe the object at an address, as text or JSON. */
#ifndef MS_RENDER_HEAP_EXPLAIN_REPORT_H
#define MS_RENDER_HEAP_EXPLAIN_REPORT_H

#include "base/strbuf.h"
#include "classify/heap/explain.h"
#include "model/usage.h"
#include "tracee/symbols/symbols.h"
#include "walk/blocks/types.h"

struct explain_report {
	const struct usage *usage;
	const struct explanation *explanation;
	struct symbols *symbols; /* symbols of the process, or NULL if unknown */
	struct types *types;	 /* types of the program, or NULL if unknown */
	/* reason why the heap's blocks are unknown; NULL if they are known */
	const char *problem;
};

/* Append the report as text. */
void explain_report_add_text(struct strbuf *out, const struct explain_report *report);

/* Append the report as one line of JSON, including the "\n" at the end. */
void explain_report_add_json(struct strbuf *out, const struct explain_report *report);

#endif
