/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * column - the table of columns: names, headings, help, kinds, what they need, how they are got.
 *
 * It feeds CSV, JSON, tables, the screen, --list-columns, --help; the man page and the
 * completion are checked against it. Names are for ever and carry their unit.
 */
#ifndef MS_RENDER_COLUMN_H
#define MS_RENDER_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/usage.h"

enum value_kind {
	VALUE_BYTES,	/* number */
	VALUE_COUNT,	/* number */
	VALUE_TEXT,	/* text: raw foreign bytes */
	VALUE_WORD,	/* text: one of ours, plain ASCII */
	VALUE_TIME,	/* number: ms since 1970, UTC */
	VALUE_SECONDS,	/* number: ns, shown in seconds to the ms */
	VALUE_COST,	/* number: ns, shown in seconds to the us */
	VALUE_ADDRESS,	/* number, shown in hex */
	VALUE_CHANGE,	/* number: an int64_t, less than 0 has a sign */
};

/* What a cell holds. is_known false: "-" in tables, empty in CSV, null in JSON. */
struct value {
	bool is_known;
	uint64_t number;
	const char *text; /* borrowed from the row */
	size_t text_length;
};

struct column {
	const char *name;    /* in CSV, JSON and -o: with its unit */
	const char *heading; /* in tables: short, upper case */
	const char *help;
	enum value_kind kind;
	bool is_descending; /* how -s NAME sorts by default */
	unsigned int needs; /* enum need of model/usage.h */
	int arg;	    /* for get() */
	void (*get)(const void *row, int arg, struct value *ret);
};

/* All columns of one kind of row. */
struct column_set {
	const struct column *columns;
	size_t count;
	const char *csv_default;   /* comma lists, as -o takes them */
	const char *table_default;
	const char *sort_default;  /* for tables */
};

/* A row of process_columns. */
struct process_row {
	const struct snapshot *snapshot;
	const struct usage *usage;
};

/* A row of mapping_columns is a struct mapping. */

extern const struct column_set process_columns;
extern const struct column_set mapping_columns;

/* The column of that name, or NULL. */
const struct column *column_find(const struct column_set *set, const char *name, size_t length);

/* Columns chosen with -o, in order. */
struct column_list {
	const struct column **items;
	size_t count;
	size_t capacity;
};

#define COLUMN_LIST_INIT { NULL, 0, 0 }

void column_list_release(struct column_list *list);

/*
 * "a,b,c", or "+d,e" to add to `defaults`; a name that comes again counts once. Returns 0, or
 * -EINVAL with the part that is no column in *reterr_name (caller frees); *ret is untouched then.
 */
int column_list_parse(const struct column_set *set, const char *defaults, const char *spec,
		      struct column_list *ret, char **reterr_name);

/* Every column of the set. */
void column_list_all(const struct column_set *set, struct column_list *ret);

/* All that the columns need, or'ed. */
unsigned int column_list_needs(const struct column_list *list);

/*
 * A sort key as -s takes it: "rss_bytes", or "-rss_bytes" for the other direction. Returns 0 or
 * -EINVAL.
 */
struct sort_key {
	const struct column *column;
	bool is_descending;
};
int sort_key_parse(const struct column_set *set, const char *spec, struct sort_key *ret);

/* <0, 0, >0 as for qsort(). Unknown values come last in either direction. */
int sort_key_compare(const struct sort_key *key, const void *row_a, const void *row_b);

/*
 * A value as a person reads it; bytes as they are with exact_bytes. Foreign text is made
 * printable.
 */
void value_add_text(struct strbuf *out, const struct column *column, const struct value *value,
		    bool exact_bytes, bool ascii);

#endif
