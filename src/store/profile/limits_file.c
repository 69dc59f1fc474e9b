/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/profile/limits_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/num.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"

#define FILE_BYTES_MAX (MIB / 2)
#define TEST_NAME_MAX 200
#define VALUE_MAX (BYTES_UNKNOWN / 4)

static const char blanks[] = " \t\r";

static const char new_file_comment[] =
	"# Limits of allocations, for memstate count --check FILE; --update sets them.";

/* Append the line number and a description of the error to *why. Return -EBADMSG. */
static int refuse(struct strbuf *why, size_t number, const char *what, const char *word,
		  size_t length)
{
	strbuf_addf(why, "%zu: ", number);
	if (word) {
		strbuf_add_char(why, '\'');
		text_add_printable(why, word, length < 60 ? length : 60, false);
		strbuf_add_text(why, "': ");
	}
	strbuf_add_text(why, what);
	return -EBADMSG;
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, blanks);
}

/*
 * Return the length of the word at the start of the text, up to a space, an
 * operator or a comment.
 */
static size_t word_length(const char *text)
{
	return strcspn(text, " \t\r<=#");
}

static int parse_number(const char *word, size_t length, bool is_bytes, uint64_t *ret)
{
	_cleanup_free_ char *text = xstrndup(word, length);
	uint64_t value, bytes;

	if (num_parse_thousandths(text, &value) < 0) {
		if (!is_bytes || units_parse_bytes(text, &bytes) < 0 ||
		    bytes > VALUE_MAX / 1000)
			return -EINVAL;
		value = bytes * 1000;
	}
	if (value > VALUE_MAX)
		return -ERANGE;
	*ret = value;
	return 0;
}

static int parse_tolerance(const char *word, size_t length, struct count_limit *limit)
{
	limit->is_percent = length > 0 && word[length - 1] == '%';
	if (limit->is_percent)
		length--;
	return parse_number(word, length,
			    counted_figures[limit->figure].is_bytes && !limit->is_percent,
			    &limit->tolerance_thousandths);
}

static int parse_operator(const char **text, enum limit_kind *ret)
{
	for (unsigned int kind = 0; kind < LIMIT_KIND_COUNT_; kind++) {
		size_t length = strlen(limit_operators[kind]);

		if (strncmp(*text, limit_operators[kind], length) != 0)
			continue;
		*text = skip_blanks(*text + length);
		*ret = kind;
		return 0;
	}
	return -EINVAL;
}

static bool is_end(const char *text)
{
	return *text == '\0' || *text == '#';
}

/* Parse a limit such as "allocations <= 1234 +- 2%", which begins at position `at`. */
static int parse_limit(struct limits_line *line, const char *at, size_t number,
		       struct strbuf *why)
{
	size_t length = word_length(at);
	struct count_limit *limit = &line->limit;

	if (counted_figure_find(at, length, &limit->figure) < 0)
		return refuse(why, number,
			      "unknown figure: use allocations, or a column of --csv", at,
			      length);
	at = skip_blanks(at + length);
	if (parse_operator(&at, &limit->kind) < 0)
		return refuse(why, number, "expected <= or =, and a number", at,
			      strlen(at));
	length = word_length(at);
	if (parse_number(at, length, counted_figures[limit->figure].is_bytes,
			 &limit->value_thousandths) < 0)
		return refuse(why, number,
			      counted_figures[limit->figure].is_bytes
				      ? "is not a number of bytes, such as 1234, 64K "
					"or 1.5M"
				      : "is not a number",
			      at, length);
	line->value_at = (size_t)(at - line->text);
	line->value_length = length;
	at = skip_blanks(at + length);
	if (strncmp(at, "+-", 2) == 0) {
		at = skip_blanks(at + 2);
		length = word_length(at);
		if (parse_tolerance(at, length, limit) < 0)
			return refuse(why, number, "is not a tolerance such as 2% or 10",
				      at, length);
		at = skip_blanks(at + length);
	}
	line->is_limit = true;
	return is_end(at) ? 0 : refuse(why, number, "unexpected text", at, strlen(at));
}

bool limits_file_may_be_test(const char *name)
{
	size_t length = strlen(name);

	return length > 0 && length <= TEST_NAME_MAX && !strpbrk(name, "[]\n\r") &&
	       !strchr(blanks, name[0]) && !strchr(blanks, name[length - 1]);
}

/* Parse the heading of a test, such as "[parse small]". */
static int parse_test(struct limits_line *line, const char *at, size_t number,
		      struct strbuf *why)
{
	size_t length = strcspn(at, "]");
	char *name;

	if (at[length] != ']' || !is_end(skip_blanks(at + length + 1)))
		return refuse(why, number, "expected the name of a test, as [name]", at,
			      strlen(at));
	name = xstrndup(at + 1, length - 1);
	if (!limits_file_may_be_test(name)) {
		free(name);
		return refuse(why, number, "is not a valid name of a test", at,
			      length + 1);
	}
	line->test = name;
	return 0;
}

static int parse_line(struct limits_line *line, size_t number, struct strbuf *why)
{
	const char *at = skip_blanks(line->text);

	if (is_end(at))
		return 0;
	return *at == '[' ? parse_test(line, at, number, why)
			  : parse_limit(line, at, number, why);
}

static struct limits_line *insert_line(struct limits_file *file, size_t at,
				       const char *text, size_t length)
{
	file->lines = xgrow(file->lines, &file->capacity, file->count + 1,
			    sizeof(*file->lines));
	memmove(file->lines + at + 1, file->lines + at,
		(file->count - at) * sizeof(*file->lines));
	file->count++;
	file->lines[at] = (struct limits_line){ .text = xstrndup(text, length) };
	return &file->lines[at];
}

/*
 * Reject two tests with the same name, and two limits for the same figure of a test,
 * because they could contradict each other.
 */
static int check_twice(const struct limits_file *file, struct strbuf *why)
{
	const struct limits_line *last = &file->lines[file->count - 1];

	for (size_t i = file->count - 1; i-- > 0;) {
		const struct limits_line *line = &file->lines[i];

		if (last->test && line->test && strcmp(last->test, line->test) == 0)
			return refuse(why, file->count, "this test appears twice",
				      last->test, strlen(last->test));
		if (last->is_limit && line->is_limit &&
		    last->limit.figure == line->limit.figure)
			return refuse(why, file->count,
				      "this figure already has a "
				      "limit",
				      last->text, strlen(last->text));
		if (last->is_limit && line->test)
			break;
	}
	return 0;
}

int limits_file_parse(const char *text, size_t length, struct limits_file *ret,
		      struct strbuf *why)
{
	struct limits_file file = LIMITS_FILE_INIT;
	const char *end = text + length;
	int r = memchr(text, '\0', length) ? refuse(why, 1, "is not a text file", NULL, 0)
					   : 0;

	while (r == 0 && text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t line_length = (size_t)((newline ? newline : end) - text);
		struct limits_line *line =
			insert_line(&file, file.count, text, line_length);

		r = parse_line(line, file.count, why);
		if (r == 0)
			r = check_twice(&file, why);
		text += line_length + 1;
	}
	if (r < 0)
		limits_file_release(&file);
	else
		*ret = file;
	return r;
}

int limits_file_load(const char *path, struct limits_file *ret, struct strbuf *why)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r = io_read_file_at(AT_FDCWD, path, FILE_BYTES_MAX, &text);

	return r < 0 ? r : limits_file_parse(strbuf_text(&text), text.length, ret, why);
}

void limits_file_release(struct limits_file *file)
{
	for (size_t i = 0; i < file->count; i++) {
		free(file->lines[i].text);
		free(file->lines[i].test);
	}
	free(file->lines);
	*file = (struct limits_file)LIMITS_FILE_INIT;
}

int limits_file_find(const struct limits_file *file, const char *test, size_t *ret_begin,
		     size_t *ret_end)
{
	size_t begin = 0, end;

	if (test) {
		while (begin < file->count &&
		       !(file->lines[begin].test &&
			 strcmp(file->lines[begin].test, test) == 0))
			begin++;
		if (begin++ >= file->count)
			return -ENOENT;
	}
	for (end = begin; end < file->count && !file->lines[end].test; end++)
		;
	*ret_begin = begin;
	*ret_end = end;
	return 0;
}

void limits_line_set(struct limits_line *line)
{
	struct strbuf text = STRBUF_INIT;
	char number[UNITS_TEXT_SIZE];

	units_format_thousandths(line->limit.value_thousandths, number);
	strbuf_add(&text, line->text, line->value_at);
	strbuf_add_text(&text, number);
	strbuf_add_text(&text, line->text + line->value_at + line->value_length);
	free(line->text);
	line->text = strbuf_take(&text);
	line->value_length = strlen(number);
}

static void add_text(struct limits_file *file, const char *text)
{
	insert_line(file, file->count, text, strlen(text));
}

static void add_test(struct limits_file *file, const char *test)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (file->count == 0)
		add_text(file, new_file_comment);
	if (file->lines[file->count - 1].text[0] != '\0')
		add_text(file, "");
	strbuf_addf(&text, "[%s]", test);
	insert_line(file, file->count, strbuf_text(&text), text.length)->test =
		xstrdup(test);
}

void limits_file_add(struct limits_file *file, const char *test,
		     const struct count_limit *limit)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	size_t begin, end, value_at;
	struct limits_line *line;

	if (limits_file_find(file, test, &begin, &end) < 0) {
		add_test(file, test);
		begin = end = file->count;
	}
	while (end > begin && is_end(skip_blanks(file->lines[end - 1].text)))
		end--;
	strbuf_addf(&text, "%s %s ", counted_figure_key(limit->figure),
		    limit_operators[limit->kind]);
	value_at = text.length;
	line = insert_line(file, end, text.text, text.length);
	line->is_limit = true;
	line->limit = *limit;
	line->value_at = value_at;
	limits_line_set(line);
}

void limits_file_format(const struct limits_file *file, struct strbuf *out)
{
	for (size_t i = 0; i < file->count; i++)
		strbuf_addf(out, "%s\n", file->lines[i].text);
}

int limits_file_save(const struct limits_file *file, const char *path)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	limits_file_format(file, &text);
	return io_write_file_atomic(path, strbuf_text(&text), text.length, 0666);
}
