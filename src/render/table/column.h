/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * column - the tables of columns: name, heading, help, kind, required data and getter of
 * each column. CSV, JSON, text tables, the full-screen view, --list-columns and --help
 * all use these tables. Lint tests compare them with the man page and the shell
 * completion. Users depend on the names, so never rename a column. If the values have a
 * unit, the name ends with the unit.
 */
#ifndef MS_RENDER_TABLE_COLUMN_H
#define MS_RENDER_TABLE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/usage.h"

enum value_kind {
	VALUE_BYTES,   /* a number of bytes */
	VALUE_COUNT,   /* a number without a unit */
	VALUE_TEXT,    /* text from outside memstate, as raw bytes */
	VALUE_WORD,    /* a word defined by memstate, in ASCII */
	VALUE_TIME,    /* a time in ms since 1970, UTC */
	VALUE_SECONDS, /* a duration in ns, shown in seconds with 3 decimals */
	VALUE_COST,    /* a duration in ns, shown in seconds with 6 decimals */
	VALUE_ADDRESS, /* a number shown in hexadecimal */
	VALUE_CHANGE,  /* an int64_t, shown with a minus sign if negative */
};

/*
 * The content of a table cell. If is_known is false, the cell is "-" in a text table,
 * empty in CSV, and null in JSON.
 */
struct value {
	bool is_known;
	uint64_t number;
	const char *text; /* text of the cell, borrowed from the row */
	size_t text_length;
};

struct column {
	/* name of the column in CSV, JSON and option -o, including the unit */
	const char *name;
	/* heading of the column in tables: short and in upper case */
	const char *heading;
	const char *help;
	enum value_kind kind;
	bool is_descending; /* true if sorting with -s NAME is descending by default */
	/* required data as bits of enum need in model/usage.h */
	unsigned int needs;
	int arg; /* argument that is passed to get() */
	void (*get)(const void *row, int arg, struct value *ret);
};

/*
 * Set the value of a cell. The get() function of a column calls one of these functions. A
 * value is unknown if it was never set, or was set to BYTES_UNKNOWN (also used for counts
 * and times) or to a NULL string. Strings are borrowed.
 */
void value_set_number(struct value *ret, uint64_t number);
void value_set_amount(struct value *ret, uint64_t amount);
void value_set_text(struct value *ret, const char *text);
void value_set_text_part(struct value *ret, const char *text, size_t length);

/* All columns for one type of row. */
struct column_set {
	const struct column *columns;
	size_t count;
	/* comma-separated lists of column names, as in option -o */
	const char *csv_default;
	const char *table_default;
	const char *sort_default; /* default sort key of text tables */
};

/* A row of the table process_columns. */
struct process_row {
	const struct snapshot *snapshot;
	const struct usage *usage;
};

extern const struct column_set process_columns;
extern const struct column_set mapping_columns;

/*
 * Return the column with this name or heading, or NULL. Case is ignored, and the unit may
 * be omitted: "rss_bytes", "RSS" and "Rss" refer to the same column. The name of a column
 * has precedence over an equal heading of another column.
 */
const struct column *column_find(const struct column_set *set, const char *name,
				 size_t length);

/* Append the names of all columns without their units, each followed by NUL. */
void column_add_short_names(const struct column_set *set, struct strbuf *out);

/* The columns that the user chose with -o, in the order given. */
struct column_list {
	const struct column **items;
	size_t count;
	size_t capacity;
};

#define COLUMN_LIST_INIT   \
	{                  \
		NULL, 0, 0 \
	}

/* Free the array of a column list. The columns themselves are static. */
void column_list_release(struct column_list *list);

/*
 * Parse a list of column names "a,b,c", or "+d,e" to add columns to `defaults`. A
 * repeated name counts once. Return 0; the caller then releases *ret. If a name is
 * unknown, return -EINVAL, leave *ret unchanged, and set *reterr_name to the name, which
 * the caller frees.
 */
int column_list_parse(const struct column_set *set, const char *defaults,
		      const char *spec, struct column_list *ret, char **reterr_name);

/* Set *ret to a list of all columns in the set. The caller releases *ret. */
void column_list_all(const struct column_set *set, struct column_list *ret);

/* Append the names of the columns in the syntax of -o. */
void column_list_format(const struct column_list *list, struct strbuf *out);

/*
 * Return the data that the listed columns require, as bits of enum need (model/usage.h).
 */
unsigned int column_list_needs(const struct column_list *list);

/*
 * Parse a sort key in the syntax of -s: "rss_bytes" sorts in the default direction of the
 * column, and "-rss_bytes" in the opposite direction. Return 0, or -EINVAL if there is no
 * such column.
 */
struct sort_key {
	const struct column *column;
	bool is_descending;
};
int sort_key_parse(const struct column_set *set, const char *spec, struct sort_key *ret);

/* Append a sort key in the syntax of -s. */
void sort_key_format(const struct sort_key *key, struct strbuf *out);

/*
 * Compare two rows, for use with qsort(). Unknown values sort last in either direction.
 */
int sort_key_compare(const struct sort_key *key, const void *row_a, const void *row_b);

/*
 * Append a value in human-readable form. With exact_bytes, amounts are plain numbers
 * of bytes. Text from outside memstate is made printable and, with `ascii`, converted
 * to ASCII.
 */
void value_add_text(struct strbuf *out, const struct column *column,
		    const struct value *value, bool exact_bytes, bool ascii);

#endif
