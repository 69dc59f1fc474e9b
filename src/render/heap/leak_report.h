/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leak_report - the leaked blocks of a process as text, CSV or JSON.
 */
#ifndef MS_RENDER_HEAP_LEAK_REPORT_H
#define MS_RENDER_HEAP_LEAK_REPORT_H

#include "base/strbuf.h"
#include "classify/heap/block_groups.h"
#include "classify/heap/leaks.h"
#include "model/conclusion.h"
#include "model/usage.h"
#include "render/table/column.h"

/* Number of bytes that the report shows from the example block of each group. */
#define LEAK_PEEK_BYTES 32

struct leak_report {
	const struct usage *usage;
	/* result of a leak scan; the quality must not be QUALITY_UNKNOWN */
	const struct leak_scan *scan;
	/* sentences that follow the first line of a text report */
	const struct conclusion *conclusion;
	/*
	 * copy of the process's memory, which contains the first bytes of each
	 * example block
	 */
	struct image *image;
	/*
	 * reachable blocks that were allocated since an earlier scan; NULL: no
	 * earlier scan
	 */
	const struct block_groups *fresh;
	uint64_t since_unix_ms; /* time of the earlier scan */
	size_t top;		/* maximum number of groups of leaks in a text report */
	int width;		/* width of the terminal in columns; 0: no limit */
	bool exact_bytes;
	bool colour; /* true to use the styles of render/table/style.h */
};

/*
 * A row of leak_columns: a group of leaked blocks, or a group of blocks that were
 * allocated since an earlier scan.
 */
struct leak_row {
	const struct block_group *group;
	bool is_leaked;
	/* first bytes of the first example block, in hexadecimal */
	char peek[2 * LEAK_PEEK_BYTES + 1];
};
extern const struct column_set leak_columns;

/* Append the report as text, or as CSV with a header line. */
void leak_report_add_text(struct strbuf *out, const struct leak_report *report);
void leak_report_add_csv(struct strbuf *out, const struct leak_report *report);

/* Append the report as one line of JSON, which ends with "\n". */
void leak_report_add_json(struct strbuf *out, const struct leak_report *report);

#endif
