/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/settings/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/xalloc.h"

static const char heading[] =
	"# Settings of the screen of memstate(1). memstate changes this file when the\n"
	"# screen is left after a setting was changed. Comments and other lines are kept.\n";

static const char byte_order_mark[] = "\xef\xbb\xbf";

/* Offsets of the parts of a line in the text of a settings file. */
struct line {
	/* offsets of the whole line, including its line break */
	size_t begin, end;
	size_t key, key_length;
	size_t value, value_length;
	bool is_bad; /* true if the line is invalid */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Strip spaces and tabs at both ends of a range of text. */
static void trim(const char *text, size_t *begin, size_t *end)
{
	while (*begin < *end && is_blank(text[*begin]))
		++*begin;
	while (*begin < *end && is_blank(text[*end - 1]))
		--*end;
}

/*
 * Return the offset at which a comment begins in this range of the text, or `end` if
 * there is no comment.
 */
static size_t find_comment(const char *text, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		if (text[i] == '#' && (i == begin || is_blank(text[i - 1])))
			return i;
	return end;
}

/* Split a line of a settings file into key and value. */
static void parse_line(const char *text, struct line *line, size_t begin, size_t end)
{
	const char *equals;
	size_t key_end, value;

	trim(text, &begin, &end);
	line->key = begin;
	if (begin == end || text[begin] == '#' || text[begin] == ';')
		return;
	equals = memchr(text + begin, '=', end - begin);
	if (!equals || equals == text + begin) {
		line->is_bad = true;
		return;
	}
	value = (size_t)(equals - text) + 1;
	key_end = value - 1;
	trim(text, &begin, &key_end);
	line->key_length = key_end - begin;
	end = find_comment(text, value, end);
	trim(text, &value, &end);
	line->value_length = end - value;
	/* insert a new value directly after the equals sign if the value is empty */
	line->value = end > value ? value : (size_t)(equals - text) + 1;
}

/*
 * Find the parts of the line at offset *at, and advance *at to the next line. Return
 * false at the end of the text.
 */
static bool next_line(const struct strbuf *text, size_t *at, struct line *ret)
{
	const char *line_break;
	size_t begin = *at, end;

	if (begin == text->length)
		return false;
	line_break = memchr(text->text + begin, '\n', text->length - begin);
	end = line_break ? (size_t)(line_break - text->text) : text->length;
	*at = line_break ? end + 1 : end;
	*ret = (struct line){ .begin = begin, .end = *at };
	if (begin == 0 && text->length >= strlen(byte_order_mark) &&
	    memcmp(text->text, byte_order_mark, strlen(byte_order_mark)) == 0)
		begin += strlen(byte_order_mark);
	parse_line(text->text, ret, begin, end);
	return true;
}

static bool has_key(const struct strbuf *text, const struct line *line, const char *key)
{
	return line->key_length == strlen(key) &&
	       memcmp(text->text + line->key, key, line->key_length) == 0;
}

/*
 * Return the setting whose key is in the line, or SETTING_COUNT_ if the key is unknown.
 */
static enum setting find_setting(const struct strbuf *text, const struct line *line)
{
	int i = 0;

	while (i < SETTING_COUNT_ && !has_key(text, line, setting_names[i]))
		i++;
	return (enum setting)i;
}

static bool has_version(const struct strbuf *text, const struct line *line)
{
	_cleanup_strbuf_ struct strbuf number = STRBUF_INIT;
	uint64_t version;

	strbuf_add(&number, text->text + line->value, line->value_length);
	return num_parse_u64(strbuf_text(&number), &version) == 0 &&
	       version == SETTINGS_VERSION;
}

/*
 * Return true if all version lines of a settings file contain the supported version. Set
 * *ret_is_given if there is a version line.
 */
static bool is_of_this_version(const struct strbuf *text, bool *ret_is_given)
{
	struct line line;
	size_t at = 0;

	*ret_is_given = false;
	while (next_line(text, &at, &line)) {
		if (!has_key(text, &line, "version"))
			continue;
		*ret_is_given = true;
		if (!has_version(text, &line))
			return false;
	}
	return true;
}

static void set_text(char **to, const struct strbuf *text, const struct line *line)
{
	free(*to);
	*to = line->value_length > 0
		      ? xstrndup(text->text + line->value, line->value_length)
		      : NULL;
}

int settings_text_parse(const struct strbuf *text, struct settings *ret,
			size_t *ret_bad_line)
{
	size_t at = 0, number = 0, bad_line = 0;
	struct settings settings = { { NULL } };
	struct line line;
	bool is_given;

	if (text->length > 0 && memchr(text->text, '\0', text->length))
		return -EBADMSG;
	if (!is_of_this_version(text, &is_given))
		return -EPROTONOSUPPORT;
	while (next_line(text, &at, &line)) {
		enum setting setting = find_setting(text, &line);

		number++;
		if (line.is_bad && bad_line == 0)
			bad_line = number;
		if (setting < SETTING_COUNT_)
			set_text(&settings.texts[setting], text, &line);
	}
	*ret = settings;
	*ret_bad_line = bad_line;
	return 0;
}

/*
 * Find the offset of the last line that sets each setting, or SIZE_MAX if no line
 * sets it.
 */
static void find_last_lines(const struct strbuf *text, size_t ret_begins[SETTING_COUNT_])
{
	struct line line;
	size_t at = 0;

	for (int i = 0; i < SETTING_COUNT_; i++)
		ret_begins[i] = SIZE_MAX;
	while (next_line(text, &at, &line)) {
		enum setting setting = find_setting(text, &line);

		if (setting < SETTING_COUNT_)
			ret_begins[setting] = line.begin;
	}
}

static void end_line(struct strbuf *out, size_t begin)
{
	if (out->length > begin && out->text[out->length - 1] != '\n')
		strbuf_add_char(out, '\n');
}

static void add_setting(struct strbuf *out, int setting, const char *value)
{
	strbuf_addf(out, "%s=%s\n", setting_names[setting], value);
}

/* Append a line of a settings file with its value replaced. */
static void change_line(const struct strbuf *text, const struct line *line,
			const char *value, struct strbuf *out)
{
	size_t after = line->value + line->value_length;

	strbuf_add(out, text->text + line->begin, line->value - line->begin);
	strbuf_add_text(out, value);
	/* a comment may follow an empty value directly */
	if (line->value_length == 0 && after < line->end && text->text[after] == '#')
		strbuf_add_char(out, ' ');
	strbuf_add(out, text->text + after, line->end - after);
}

/* Turn the line into a comment, and append a new line with the setting. */
static void reject_line(const struct strbuf *text, const struct line *line,
			enum setting setting, const char *value, struct strbuf *out)
{
	size_t begin = out->length;

	strbuf_add(out, text->text + line->begin, line->key - line->begin);
	strbuf_add_text(out, "# ");
	strbuf_add(out, text->text + line->key, line->end - line->key);
	end_line(out, begin);
	add_setting(out, (int)setting, value);
}

void settings_text_change(const struct strbuf *text, const struct settings *changes,
			  const bool is_rejected[SETTING_COUNT_], struct strbuf *out)
{
	size_t begins[SETTING_COUNT_], first = out->length, at = 0;
	struct line line;
	bool is_versioned;

	find_last_lines(text, begins);
	(void)is_of_this_version(text, &is_versioned);
	if (text->length == 0)
		strbuf_add_text(out, heading);
	while (next_line(text, &at, &line)) {
		enum setting setting = find_setting(text, &line);
		const char *value = setting < SETTING_COUNT_ &&
						    begins[setting] == line.begin
					    ? changes->texts[setting]
					    : NULL;

		if (value && is_rejected[setting])
			reject_line(text, &line, setting, value, out);
		else if (value)
			change_line(text, &line, value, out);
		else
			strbuf_add(out, text->text + line.begin, line.end - line.begin);
	}
	end_line(out, first);
	if (!is_versioned)
		strbuf_addf(out, "version=%d\n", SETTINGS_VERSION);
	for (int i = 0; i < SETTING_COUNT_; i++)
		if (changes->texts[i] && begins[i] == SIZE_MAX)
			add_setting(out, i, changes->texts[i]);
}
