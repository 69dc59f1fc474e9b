/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/transform_rules.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "classify/profile/transform_regex.h"

const char *const transform_kind_names[TRANSFORM_KIND_COUNT_] = {
	[TRANSFORM_FILTER] = "filter",	 [TRANSFORM_REMOVE] = "remove",
	[TRANSFORM_REPLACE] = "replace", [TRANSFORM_HIDE] = "hide",
	[TRANSFORM_FROM] = "from",	 [TRANSFORM_TO] = "to",
};

/*
 * The makefile passes the directory of the file "transforms" to the assembler, which
 * includes the file in the program.
 */
__asm__(".section .rodata\n"
	".globl transforms_own\n"
	"transforms_own:\n"
	".incbin \"transforms\"\n"
	".byte 0\n"
	".previous\n");

extern const char transforms_own[];

__attribute__((format(printf, 2, 3))) static int refuse(struct transform_error *reterr,
							const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reterr->why, sizeof(reterr->why), format, args);
	va_end(args);
	return -EINVAL;
}

static void release_rule(struct transform_rule *rule)
{
	free(rule->pattern);
	free(rule->text);
}

void transform_list_release(struct transform_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		release_rule(&list->rules[i]);
	free(list->rules);
	*list = (struct transform_list)TRANSFORM_LIST_INIT;
}

void transform_sets_release(struct transform_sets *sets)
{
	for (size_t i = 0; i < sets->count; i++) {
		free(sets->sets[i].name);
		transform_list_release(&sets->sets[i].list);
	}
	free(sets->sets);
	*sets = (struct transform_sets)TRANSFORM_SETS_INIT;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Return a copy of the text without leading and trailing blanks. */
static char *copy_trimmed(const char *text, size_t length)
{
	while (length > 0 && is_blank(text[0])) {
		text++;
		length--;
	}
	while (length > 0 && is_blank(text[length - 1]))
		length--;
	return xstrndup(text, length);
}

static enum transform_kind find_kind(const char *word, size_t length)
{
	for (int i = 0; i < TRANSFORM_SET; i++)
		if (strlen(transform_kind_names[i]) == length &&
		    strncmp(transform_kind_names[i], word, length) == 0)
			return (enum transform_kind)i;
	return TRANSFORM_SET;
}

static bool is_set_name(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '-' && text[i] != '_')
			return false;
	return length > 0 && find_kind(text, length) == TRANSFORM_SET;
}

/* Return the position of the first "=>" that is surrounded by blanks, or NULL. */
static const char *find_arrow(const char *text)
{
	for (const char *at = strstr(text, "=>"); at; at = strstr(at + 1, "=>"))
		if (at > text && is_blank(at[-1]) && (is_blank(at[2]) || at[2] == '\0'))
			return at;
	return NULL;
}

static int check_text(const char *text, size_t part_count, struct transform_error *reterr)
{
	for (const char *at = strchr(text, '\\'); at; at = strchr(at + 2, '\\')) {
		if (at[1] == '\\')
			continue;
		if (!isdigit((unsigned char)at[1]))
			return refuse(
				reterr,
				"in the replacement, a backslash must be written as "
				"\\\\, or begin \\0 to \\9");
		if ((size_t)(at[1] - '0') > part_count)
			return refuse(reterr,
				      "\\%c: the regular expression has only %zu ()",
				      at[1], part_count);
	}
	return 0;
}

static int check_rule(const struct transform_rule *rule, struct transform_error *reterr)
{
	regex_t regex;
	int r;

	if (rule->kind == TRANSFORM_SET)
		return 0;
	if (rule->pattern[0] == '\0')
		return refuse(reterr, "%s requires a regular expression",
			      transform_kind_names[rule->kind]);
	r = transform_regex_compile(rule->pattern, &regex, reterr);
	if (r < 0)
		return r;
	if (rule->text)
		r = check_text(rule->text, regex.re_nsub, reterr);
	regfree(&regex);
	return r;
}

static int parse_rule(const char *text, struct transform_rule *ret,
		      struct transform_error *reterr)
{
	size_t word = strcspn(text, " \t");
	const char *rest = text + word, *arrow = NULL;
	enum transform_kind kind = find_kind(text, word);

	if (strlen(text) > TRANSFORM_RULE_MAX)
		return refuse(reterr, "the rule is longer than %d bytes",
			      TRANSFORM_RULE_MAX);
	if (kind == TRANSFORM_SET && !is_set_name(text, strlen(text)))
		return refuse(
			reterr,
			"'%.60s' is not a rule (filter, remove, replace, hide, from, "
			"to) or the name of a set",
			text);
	if (kind == TRANSFORM_REPLACE) {
		arrow = find_arrow(rest);
		if (!arrow)
			return refuse(reterr,
				      "replace requires a regular expression, =>, and a "
				      "text, separated by blanks");
	}
	*ret = (struct transform_rule){
		.kind = kind,
		.pattern = kind == TRANSFORM_SET
				   ? xstrdup(text)
				   : copy_trimmed(rest, arrow ? (size_t)(arrow - rest)
							      : strlen(rest)),
		.text = arrow ? copy_trimmed(arrow + 2, strlen(arrow + 2)) : NULL,
	};
	return 0;
}

static void append(struct transform_list *list, const struct transform_rule *rule)
{
	list->rules = xgrow(list->rules, &list->capacity, list->count + 1,
			    sizeof(*list->rules));
	list->rules[list->count++] = *rule;
}

int transform_list_parse(struct transform_list *list, const char *text,
			 struct transform_error *reterr)
{
	_cleanup_free_ char *line = copy_trimmed(text, strlen(text));
	struct transform_rule rule = { .kind = TRANSFORM_SET };
	int r;

	reterr->line = 0;
	if (list->count >= TRANSFORM_RULES_MAX)
		return refuse(reterr, "more than %d rules", TRANSFORM_RULES_MAX);
	r = parse_rule(line, &rule, reterr);
	if (r < 0)
		return r;
	r = check_rule(&rule, reterr);
	if (r < 0)
		release_rule(&rule);
	else
		append(list, &rule);
	return r;
}

const struct transform_set *transform_sets_find(const struct transform_sets *sets,
						const char *name)
{
	for (size_t i = 0; i < sets->count; i++)
		if (strcmp(sets->sets[i].name, name) == 0)
			return &sets->sets[i];
	return NULL;
}

/*
 * Parse "[NAME]" and set *ret to the index of the set called NAME. Create the
 * set if it does not exist.
 */
static int begin_set(struct transform_sets *sets, const char *line, size_t *ret,
		     struct transform_error *reterr)
{
	_cleanup_free_ char *name = NULL;
	const struct transform_set *found;
	size_t length = strlen(line);

	if (length < 3 || line[length - 1] != ']' || !is_set_name(line + 1, length - 2))
		return refuse(reterr,
			      "'%.60s' is not a set name: write [NAME] with letters, "
			      "digits, - and _; NAME must not be the name of a rule",
			      line);
	name = xstrndup(line + 1, length - 2);
	found = transform_sets_find(sets, name);
	if (found) {
		*ret = (size_t)(found - sets->sets);
		return 0;
	}
	if (sets->count >= TRANSFORM_RULES_MAX)
		return refuse(reterr, "more than %d sets", TRANSFORM_RULES_MAX);
	sets->sets =
		xgrow(sets->sets, &sets->capacity, sets->count + 1, sizeof(*sets->sets));
	sets->sets[sets->count] =
		(struct transform_set){ xstrdup(name), TRANSFORM_LIST_INIT };
	*ret = sets->count++;
	return 0;
}

int transform_sets_parse(struct transform_sets *sets, struct transform_list *own,
			 const char *text, struct transform_error *reterr)
{
	size_t set = SIZE_MAX;
	int r = 0;

	for (unsigned int number = 1; *text; number++) {
		size_t length = strcspn(text, "\n");
		_cleanup_free_ char *line = copy_trimmed(text, length);
		struct transform_list *list = set < SIZE_MAX ? &sets->sets[set].list
							     : own;

		text += length + (text[length] == '\n');
		if (line[0] == '\0' || line[0] == '#')
			continue;
		if (line[0] == '[')
			r = begin_set(sets, line, &set, reterr);
		else if (!list)
			r = refuse(reterr, "a rule precedes the first [NAME] of a set");
		else
			r = transform_list_parse(list, line, reterr);
		if (r < 0) {
			reterr->line = number;
			return r;
		}
	}
	return 0;
}

void transform_sets_add_own(struct transform_sets *sets)
{
	struct transform_error error;
	int r = transform_sets_parse(sets, NULL, transforms_own, &error);

	assert(r == 0);
	(void)r;
}

struct expansion {
	const struct transform_sets *sets;
	struct transform_list list;
	/*
	 * number of sets expanded so far; limited, because even an empty set takes time
	 */
	size_t use_count;
	struct transform_error *reterr;
};

/*
 * Append the rules, with each reference to a set replaced by the rules of the set. A
 * nesting depth above the number of sets means that a set contains itself.
 */
static int expand(struct expansion *e, const struct transform_list *list, size_t depth)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct transform_rule *rule = &list->rules[i];
		const struct transform_set *set;
		int r;

		if (e->list.count + e->use_count >= TRANSFORM_RULES_MAX)
			return refuse(e->reterr, "more than %d rules",
				      TRANSFORM_RULES_MAX);
		if (rule->kind != TRANSFORM_SET) {
			append(&e->list,
			       &(struct transform_rule){
				       rule->kind, xstrdup(rule->pattern),
				       rule->text ? xstrdup(rule->text) : NULL });
			continue;
		}
		set = transform_sets_find(e->sets, rule->pattern);
		if (!set)
			return refuse(e->reterr, "unknown set '%.60s'", rule->pattern);
		if (depth > e->sets->count)
			return refuse(e->reterr, "the set '%.60s' contains itself",
				      rule->pattern);
		e->use_count++;
		r = expand(e, &set->list, depth + 1);
		if (r < 0)
			return r;
	}
	return 0;
}

int transform_list_expand(const struct transform_list *list,
			  const struct transform_sets *sets, struct transform_list *ret,
			  struct transform_error *reterr)
{
	struct expansion e = { .sets = sets,
			       .list = TRANSFORM_LIST_INIT,
			       .reterr = reterr };
	int r;

	reterr->line = 0;
	r = expand(&e, list, 0);
	if (r < 0)
		transform_list_release(&e.list);
	else
		*ret = e.list;
	return r;
}
