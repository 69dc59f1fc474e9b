/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/transform_regex.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * Maximum product of all repeat counts. Nested repeats multiply the memory that
 * regcomp(3) needs: {255} inside {255} already takes hundreds of megabytes.
 */
#define REPEAT_MAX 255

struct scan {
	const char *at;
	bool has_atom; /* true if a repeat operator may follow the previous token */
	unsigned int depth;
	unsigned int repeats; /* product of all repeat counts so far */
	struct transform_error *reterr;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct scan *s,
							const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(s->reterr->why, sizeof(s->reterr->why), format, args);
	va_end(args);
	return -EINVAL;
}

static int scan_escape(struct scan *s)
{
	char c = s->at[1];

	if (c == '\0')
		return refuse(s, "the regular expression ends in a backslash");
	if (isdigit((unsigned char)c))
		return refuse(s, "\\%c: back-references are not supported", c);
	if (strchr("<>`'", c))
		return refuse(s, "\\%c is unknown: %c needs no backslash", c, c);
	if (isalpha((unsigned char)c) && !strchr("wWsSbB", c))
		return refuse(
			s,
			"\\%c is unknown: the supported letters are \\w \\W \\s \\S "
			"\\b \\B",
			c);
	s->has_atom = c != 'b' && c != 'B';
	s->at += 2;
	return 0;
}

static const char *find_class_end(const char *text)
{
	static const char *const classes[] = { "alnum", "alpha", "blank", "cntrl",
					       "digit", "graph", "lower", "print",
					       "punct", "space", "upper", "xdigit" };

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		size_t length = strlen(classes[i]);

		if (strncmp(text, classes[i], length) == 0 && text[length] == ':' &&
		    text[length + 1] == ']')
			return text + length + 2;
	}
	return NULL;
}

static int scan_bracket(struct scan *s)
{
	const char *at = s->at + 1;

	if (*at == '^')
		at++;
	if (*at == ']')
		return refuse(s, "] is the first character in []: write \\] outside "
				 "it, with |");
	while (*at != ']') {
		if (*at == '\0')
			return refuse(s, "[ without ]");
		if (*at == '\\')
			return refuse(s, "a backslash in []: write the character "
					 "outside it, with |");
		if (*at != '[') {
			at++;
			continue;
		}
		if (at[1] == '.' || at[1] == '=')
			return refuse(s,
				      "[%c in []: collating elements are not supported",
				      at[1]);
		if (at[1] == ':') {
			at = find_class_end(at + 2);
			if (!at)
				return refuse(s, "[: in [] must begin a class such as "
						 "[[:alnum:]]");
		} else {
			at++;
		}
	}
	s->at = at + 1;
	s->has_atom = true;
	return 0;
}

/* Parse a decimal number. Return REPEAT_MAX + 1 for any number above REPEAT_MAX. */
static unsigned int scan_number(const char **at)
{
	unsigned int number = 0;

	while (isdigit((unsigned char)**at)) {
		number = number * 10 + (unsigned int)(**at - '0');
		number = number > REPEAT_MAX ? REPEAT_MAX + 1 : number;
		(*at)++;
	}
	return number;
}

/* Parse a repeat interval: "{2}", "{2,}" or "{2,3}". */
static int scan_interval(struct scan *s)
{
	const char *at = s->at + 1;
	unsigned int max;

	if (!isdigit((unsigned char)*at))
		return refuse(s, "{ does not begin {2}, {2,} or {2,3}: write \\{");
	max = scan_number(&at);
	if (*at == ',') {
		at++;
		if (isdigit((unsigned char)*at))
			max = scan_number(&at);
	}
	if (*at != '}')
		return refuse(s, "{ does not begin {2}, {2,} or {2,3}: write \\{");
	s->repeats *= max > 0 ? max : 1;
	if (max > REPEAT_MAX || s->repeats > REPEAT_MAX)
		return refuse(s, "more than %d repetitions with {}", REPEAT_MAX);
	s->at = at;
	return 0;
}

static int scan_repeat(struct scan *s)
{
	int r = 0;

	if (!s->has_atom)
		return refuse(s, "nothing to repeat before %c: write \\%c", *s->at,
			      *s->at);
	if (*s->at == '{')
		r = scan_interval(s);
	if (r < 0)
		return r;
	s->at++;
	/* reject "*?", which is a lazy repeat in JavaScript but undefined in POSIX */
	if (*s->at && strchr("*+?{", *s->at))
		return refuse(s, "%c after another repetition: put the first one in ()",
			      *s->at);
	return 0;
}

static int scan_group(struct scan *s)
{
	if (*s->at == ')') {
		if (s->depth == 0)
			return refuse(s, ") without (: write \\)");
		s->depth--;
		s->has_atom = true;
	} else {
		if (s->at[1] == ')')
			return refuse(s, "an empty (): write \\(\\)");
		if (s->at[1] == '?')
			return refuse(s, "(? is not supported");
		s->depth++;
		s->has_atom = false;
	}
	s->at++;
	return 0;
}

static int scan_next(struct scan *s)
{
	switch (*s->at) {
	case '\\': return scan_escape(s);
	case '[': return scan_bracket(s);
	case '(':
	case ')': return scan_group(s);
	case '*':
	case '+':
	case '?':
	case '{': return scan_repeat(s);
	default:
		s->has_atom = !strchr("^$|", *s->at);
		s->at++;
		return 0;
	}
}

int transform_regex_compile(const char *pattern, regex_t *ret,
			    struct transform_error *reterr)
{
	struct scan s = { .at = pattern, .repeats = 1, .reterr = reterr };
	int r;

	while (*s.at) {
		r = scan_next(&s);
		if (r < 0)
			return r;
	}
	if (s.depth > 0)
		return refuse(&s, "( without )");
	r = regcomp(ret, pattern, REG_EXTENDED);
	if (r == 0)
		return 0;
	regerror(r, ret, reterr->why, sizeof(reterr->why));
	return -EINVAL;
}

/*
 * Match text from offset `at`. With REG_STARTEND, ^ and \b take the text before `at` into
 * account. On musl, which lacks REG_STARTEND, ^ never matches at an offset.
 */
static bool match_from(const regex_t *regex, const char *text, size_t at, size_t end,
		       regmatch_t ret_parts[TRANSFORM_PARTS_MAX])
{
#ifdef REG_STARTEND
	ret_parts[0].rm_so = (regoff_t)at;
	ret_parts[0].rm_eo = (regoff_t)end;
	return regexec(regex, text, TRANSFORM_PARTS_MAX, ret_parts, REG_STARTEND) == 0;
#else
	(void)end;
	if (regexec(regex, text + at, TRANSFORM_PARTS_MAX, ret_parts,
		    at > 0 ? REG_NOTBOL : 0) != 0)
		return false;
	for (size_t i = 0; i < TRANSFORM_PARTS_MAX; i++) {
		if (ret_parts[i].rm_so < 0)
			continue;
		ret_parts[i].rm_so += (regoff_t)at;
		ret_parts[i].rm_eo += (regoff_t)at;
	}
	return true;
#endif
}

bool transform_regex_find(const regex_t *regex, const char *text, size_t at,
			  regmatch_t ret_parts[TRANSFORM_PARTS_MAX])
{
	size_t end = strlen(text);

	for (; at < end; at = (size_t)ret_parts[0].rm_eo + 1) {
		if (!match_from(regex, text, at, end, ret_parts))
			return false;
		if (ret_parts[0].rm_eo > ret_parts[0].rm_so)
			return true;
	}
	return false;
}
