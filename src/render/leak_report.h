/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leak_report - what a process has leaked, for a person, as CSV and as JSON.
 */
#ifndef MS_RENDER_LEAK_REPORT_H
#define MS_RENDER_LEAK_REPORT_H

#include "base/strbuf.h"
#include "classify/block_groups.h"
#include "classify/leaks.h"
#include "model/usage.h"
#include "render/column.h"

/* The bytes of a block that are shown with its group. */
#define LEAK_PEEK_BYTES 32

struct leak_report {
	const struct usage *usage;
	const struct leak_scan *scan; /* its quality is not unknown */
	struct image *image;	      /* for the bytes that are shown */
	const struct block_groups *leaked;
	/* blocks that are new since an earlier scan, and reachable; NULL if none was given */
	const struct block_groups *fresh;
	uint64_t since_unix_ms; /* when that was */
	size_t top; /* kinds shown in a text */
	bool exact_bytes;
};

/* A row: a group of one of the two kinds. */
struct leak_row {
	const struct block_group *group;
	bool is_leaked;
	char peek[2 * LEAK_PEEK_BYTES + 1]; /* of the first example, in hex */
};
extern const struct column_set leak_columns;

void leak_report_add_text(struct strbuf *out, const struct leak_report *report);
void leak_report_add_csv(struct strbuf *out, const struct leak_report *report);

/* One line, "\n" included. */
void leak_report_add_json(struct strbuf *out, const struct leak_report *report);

/* Bytes as "de ad be ef  |....|", those that are not there left out. */
void leak_report_add_peek(struct strbuf *out, struct image *image, uint64_t addr,
			  uint64_t bytes);

#endif
