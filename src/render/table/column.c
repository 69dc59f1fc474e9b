/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/table/column.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"

void value_set_number(struct value *ret, uint64_t number)
{
	ret->is_known = true;
	ret->number = number;
}

void value_set_amount(struct value *ret, uint64_t amount)
{
	if (bytes_known(amount))
		value_set_number(ret, amount);
}

void value_set_text_part(struct value *ret, const char *text, size_t length)
{
	ret->is_known = true;
	ret->text = text;
	ret->text_length = length;
}

void value_set_text(struct value *ret, const char *text)
{
	if (text)
		value_set_text_part(ret, text, strlen(text));
}

static const char *find_unit(enum value_kind kind)
{
	switch (kind) {
	case VALUE_BYTES: return "_bytes";
	case VALUE_SECONDS:
	case VALUE_COST: return "_s";
	case VALUE_ADDRESS: return "_addr";
	default: return "";
	}
}

/* Return the length of the column's name without the unit. */
static size_t find_short_length(const struct column *c)
{
	const char *unit = find_unit(c->kind);
	size_t length = strlen(c->name), unit_length = strlen(unit);

	if (length > unit_length && strcmp(c->name + length - unit_length, unit) == 0)
		return length - unit_length;
	return length;
}

static bool is_heading(const struct column *c, const char *name, size_t length)
{
	return c->heading && strlen(c->heading) == length &&
	       strncasecmp(c->heading, name, length) == 0;
}

/*
 * Return true if the text is the name of the column, with or without the unit, in
 * any case.
 */
static bool is_name(const struct column *c, const char *name, size_t length)
{
	return strncasecmp(c->name, name, length) == 0 &&
	       (c->name[length] == '\0' || length == find_short_length(c));
}

static const struct column *
find_by(const struct column_set *set, const char *name, size_t length,
	bool (*is_match)(const struct column *c, const char *name, size_t length))
{
	for (size_t i = 0; length > 0 && i < set->count; i++)
		if (is_match(&set->columns[i], name, length))
			return &set->columns[i];
	return NULL;
}

const struct column *column_find(const struct column_set *set, const char *name,
				 size_t length)
{
	const struct column *c;

	for (size_t i = 0; i < set->count; i++)
		if (strncmp(set->columns[i].name, name, length) == 0 &&
		    set->columns[i].name[length] == '\0')
			return &set->columns[i];
	c = find_by(set, name, length, is_name);
	return c ? c : find_by(set, name, length, is_heading);
}

void column_add_short_names(const struct column_set *set, struct strbuf *out)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct column *c = &set->columns[i];

		strbuf_add(out, c->name, find_short_length(c));
		strbuf_add_char(out, '\0');
	}
}

void column_list_release(struct column_list *list)
{
	free(list->items);
	*list = (struct column_list)COLUMN_LIST_INIT;
}

/*
 * Append a column to a list unless it is already in the list, because the keys of a JSON
 * object must be unique.
 */
static void add_column(struct column_list *list, const struct column *column)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == column)
			return;
	list->items = xgrow(list->items, &list->capacity, list->count + 1,
			    sizeof(*list->items));
	list->items[list->count++] = column;
}

static int add_names(const struct column_set *set, const char *names,
		     struct column_list *list, char **reterr_name)
{
	for (;;) {
		size_t length = strcspn(names, ",");
		const struct column *column = column_find(set, names, length);

		if (!column) {
			*reterr_name = xstrndup(names, length);
			return -EINVAL;
		}
		add_column(list, column);
		if (names[length] == '\0')
			return 0;
		names += length + 1;
	}
}

int column_list_parse(const struct column_set *set, const char *defaults,
		      const char *spec, struct column_list *ret, char **reterr_name)
{
	struct column_list list = COLUMN_LIST_INIT;
	int r = 0;

	if (spec[0] == '+')
		r = add_names(set, defaults, &list, reterr_name);
	if (r == 0)
		r = add_names(set, spec + (spec[0] == '+'), &list, reterr_name);
	if (r < 0) {
		column_list_release(&list);
		return r;
	}
	*ret = list;
	return 0;
}

void column_list_all(const struct column_set *set, struct column_list *ret)
{
	*ret = (struct column_list)COLUMN_LIST_INIT;
	for (size_t i = 0; i < set->count; i++)
		add_column(ret, &set->columns[i]);
}

void column_list_format(const struct column_list *list, struct strbuf *out)
{
	for (size_t i = 0; i < list->count; i++)
		strbuf_addf(out, "%s%s", i > 0 ? "," : "", list->items[i]->name);
}

unsigned int column_list_needs(const struct column_list *list)
{
	unsigned int needs = 0;

	for (size_t i = 0; i < list->count; i++)
		needs |= list->items[i]->needs;
	return needs;
}

int sort_key_parse(const struct column_set *set, const char *spec, struct sort_key *ret)
{
	bool is_reversed = spec[0] == '-';
	const char *name = spec + is_reversed;
	const struct column *column = column_find(set, name, strlen(name));

	if (!column)
		return -EINVAL;
	ret->column = column;
	ret->is_descending = column->is_descending != is_reversed;
	return 0;
}

static int compare_text(const struct value *a, const struct value *b)
{
	size_t shorter = a->text_length < b->text_length ? a->text_length
							 : b->text_length;
	int order = memcmp(a->text, b->text, shorter);

	return order ? order
		     : (a->text_length > b->text_length) -
			       (a->text_length < b->text_length);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_changes(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

void sort_key_format(const struct sort_key *key, struct strbuf *out)
{
	strbuf_addf(out, "%s%s",
		    key->is_descending == key->column->is_descending ? "" : "-",
		    key->column->name);
}

int sort_key_compare(const struct sort_key *key, const void *row_a, const void *row_b)
{
	const struct column *column = key->column;
	struct value a = { 0 }, b = { 0 };
	int order;

	column->get(row_a, column->arg, &a);
	column->get(row_b, column->arg, &b);
	if (!a.is_known || !b.is_known)
		return b.is_known - a.is_known;
	if (column->kind == VALUE_TEXT || column->kind == VALUE_WORD)
		order = compare_text(&a, &b);
	else if (column->kind == VALUE_CHANGE)
		order = compare_changes((int64_t)a.number, (int64_t)b.number);
	else
		order = compare_numbers(a.number, b.number);
	return key->is_descending ? -order : order;
}

void value_add_text(struct strbuf *out, const struct column *column,
		    const struct value *value, bool exact_bytes, bool ascii)
{
	char buf[UNITS_TEXT_SIZE > CLOCK_TEXT_SIZE ? UNITS_TEXT_SIZE : CLOCK_TEXT_SIZE];

	if (!value->is_known) {
		strbuf_add_char(out, '-');
		return;
	}
	switch (column->kind) {
	case VALUE_BYTES:
		if (exact_bytes)
			strbuf_add_u64(out, value->number);
		else
			strbuf_add_text(out, units_format_bytes(value->number, buf));
		break;
	case VALUE_COUNT: strbuf_add_u64(out, value->number); break;
	case VALUE_TEXT:
	case VALUE_WORD:
		text_add_printable(out, value->text, value->text_length, ascii);
		break;
	case VALUE_TIME:
		strbuf_add_text(out, clock_format_utc(value->number, buf));
		break;
	case VALUE_SECONDS:
		strbuf_addf(out, "%" PRIu64 ".%03" PRIu64, value->number / NS_PER_S,
			    value->number / NS_PER_MS % 1000);
		break;
	case VALUE_COST:
		strbuf_addf(out, "%" PRIu64 ".%06" PRIu64, value->number / NS_PER_S,
			    value->number / NS_PER_US % 1000000);
		break;
	case VALUE_ADDRESS: strbuf_addf(out, "%" PRIx64, value->number); break;
	case VALUE_CHANGE: strbuf_addf(out, "%" PRId64, (int64_t)value->number); break;
	}
}
