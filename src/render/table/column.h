/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * column - the tables of columns: name, heading, help, kind, required data and getter.
 *
 * CSV, JSON, text tables, the full-screen view, --list-columns and --help all use these
 * tables; lint tests check the man page and the shell completion against them. Users
 * depend on the names: never rename a column. A name includes its unit.
 */
#ifndef MS_RENDER_TABLE_COLUMN_H
#define MS_RENDER_TABLE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/usage.h"

enum value_kind {
	VALUE_BYTES,   /* number, in bytes */
	VALUE_COUNT,   /* number, without a unit */
	VALUE_TEXT,    /* text: raw bytes from outside memstate */
	VALUE_WORD,    /* text: one of memstate's own words, plain ASCII */
	VALUE_TIME,    /* number: ms since 1970, UTC */
	VALUE_SECONDS, /* number: ns, shown in seconds to the ms */
	VALUE_COST,    /* number: ns, shown in seconds to the us */
	VALUE_ADDRESS, /* number, shown in hex */
	VALUE_CHANGE,  /* number: an int64_t, shown with a sign if negative */
};

/*
 * The content of a cell. If is_known is false, tables show "-", CSV an empty field and
 * JSON null.
 */
struct value {
	bool is_known;
	uint64_t number;
	const char *text; /* borrowed from the row */
	size_t text_length;
};

struct column {
	const char *name;    /* in CSV, JSON and -o; includes the unit */
	const char *heading; /* in tables: short, upper case */
	const char *help;
	enum value_kind kind;
	bool is_descending; /* default direction of -s NAME */
	unsigned int needs; /* enum need of model/usage.h, or'ed */
	int arg;	    /* passed to get() */
	void (*get)(const void *row, int arg, struct value *ret);
};

/*
 * Setters for the get() functions of columns. A value without a call is unknown, and so
 * are the amount BYTES_UNKNOWN (also for counts and times) and the text NULL. The value
 * borrows the text.
 */
void value_set_number(struct value *ret, uint64_t number);
void value_set_amount(struct value *ret, uint64_t amount);
void value_set_text(struct value *ret, const char *text);
void value_set_text_part(struct value *ret, const char *text, size_t length);

/* All columns for one type of row. */
struct column_set {
	const struct column *columns;
	size_t count;
	const char *csv_default; /* lists of names separated by commas, as for -o */
	const char *table_default;
	const char *sort_default; /* used for tables only */
};

/* A row of process_columns. */
struct process_row {
	const struct snapshot *snapshot;
	const struct usage *usage;
};

/* A row of mapping_columns is a struct mapping. */

extern const struct column_set process_columns;
extern const struct column_set mapping_columns;

/* Return the column with this name, or NULL. */
const struct column *column_find(const struct column_set *set, const char *name,
				 size_t length);

/* Columns chosen with -o, in the order given. */
struct column_list {
	const struct column **items;
	size_t count;
	size_t capacity;
};

#define COLUMN_LIST_INIT   \
	{                  \
		NULL, 0, 0 \
	}

/* Free the items of a list. The columns themselves are static. */
void column_list_release(struct column_list *list);

/*
 * Parse "a,b,c", or "+d,e" to add columns to `defaults`. A repeated name counts once.
 * Return 0; the caller releases *ret then. Return -EINVAL for an unknown name, with the
 * name in *reterr_name, which the caller frees; *ret is unchanged then.
 */
int column_list_parse(const struct column_set *set, const char *defaults,
		      const char *spec, struct column_list *ret, char **reterr_name);

/* Fill *ret with every column of the set. The caller releases *ret. */
void column_list_all(const struct column_set *set, struct column_list *ret);

/* Return the needs of all listed columns, or'ed (enum need of model/usage.h). */
unsigned int column_list_needs(const struct column_list *list);

/*
 * Parse a sort key as given to -s: "rss_bytes" for the column's default direction, or
 * "-rss_bytes" for the opposite one. Return 0, or -EINVAL if there is no such column.
 */
struct sort_key {
	const struct column *column;
	bool is_descending;
};
int sort_key_parse(const struct column_set *set, const char *spec, struct sort_key *ret);

/*
 * Compare two rows as a qsort() function does: <0, 0 or >0. Unknown
 * values sort last in either direction.
 */
int sort_key_compare(const struct sort_key *key, const void *row_a, const void *row_b);

/*
 * Append a value in human-readable form; with exact_bytes, write amounts as plain numbers
 * of bytes. Text from outside is made printable, with `ascii` as pure ASCII.
 */
void value_add_text(struct strbuf *out, const struct column *column,
		    const struct value *value, bool exact_bytes, bool ascii);

#endif
