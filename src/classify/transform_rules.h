/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transform_rules - rules that change the stacks of a profile, as text: on a command line, and in
 * files with named sets of them. The page of a flame graph reads the same text.
 *
 * A rule is one line:
 *
 *     filter RE            keep only stacks with a frame that matches
 *     remove RE            leave stacks with a frame that matches out
 *     replace RE => TEXT   put TEXT for each match in the name of a frame; \1 to \9 are
 *                          the parts of RE in (), \0 is all that matched, \\ is a
 *                          backslash. A frame whose name becomes empty is taken out.
 *                          Neighbours that the rule gave the same name become one.
 *     hide RE              take frames that match out: what they allocate is their caller's
 *     from RE              stacks begin at their outermost frame that matches
 *     to RE                stacks end at their outermost frame that matches: what it calls
 *                          is its own
 *     NAME                 the rules of the set of that name
 *
 * There are blanks around "=>", and TEXT goes to the end of the line; blanks at the ends
 * of RE and TEXT do not count. A frame is matched by its name, as profile_frame_name() has
 * it. A match of nothing ("x*" in "ab") is none.
 *
 * RE is a POSIX extended regular expression, of which only that is taken that means the
 * same in JavaScript: no back-reference in it, no \ within [], no ] first in them, no [.
 * and [= in them, no ? after * + ? or }, no (? and no empty (), { only as {n}, {n,} or
 * {n,m}; of \ with a letter or a digit there are \w \W \s \S \b and \B. [[:alpha:]] and the
 * other eleven classes are all that the page has to translate. Of alternatives that begin
 * at the same place the longest counts here, the first one there.
 *
 * In a file "#" begins a comment line, and "[NAME]" the rules of a set; a name has letters,
 * digits, '-' and '_', and is none of the words above. What stands before the first of
 * these is the rules of the file itself. A set that is there already, by another file, gets
 * more rules at its end.
 */
#ifndef MS_CLASSIFY_TRANSFORM_RULES_H
#define MS_CLASSIFY_TRANSFORM_RULES_H

#include <stddef.h>

enum transform_kind {
	TRANSFORM_FILTER,
	TRANSFORM_REMOVE,
	TRANSFORM_REPLACE,
	TRANSFORM_HIDE,
	TRANSFORM_FROM,
	TRANSFORM_TO,
	TRANSFORM_SET,
	TRANSFORM_KIND_COUNT_
};

/* "filter", …; NULL for TRANSFORM_SET. */
extern const char *const transform_kind_names[TRANSFORM_KIND_COUNT_];

#define TRANSFORM_RULE_MAX 1000	  /* bytes of a line */
#define TRANSFORM_NAME_MAX 4096   /* bytes of a frame's name that are looked at, and that may become of it */
#define TRANSFORM_RULES_MAX 1000  /* in all, with those of sets */
#define TRANSFORM_FILE_MAX 1000000 /* bytes */

struct transform_rule {
	enum transform_kind kind;
	char *pattern; /* of a set: its name */
	char *text;    /* of replace; else NULL */
};

struct transform_list {
	struct transform_rule *rules;
	size_t count, capacity;
};

#define TRANSFORM_LIST_INIT { NULL, 0, 0 }

struct transform_sets {
	struct transform_set {
		char *name;
		struct transform_list list;
	} *sets; /* in the order in which they came */
	size_t count, capacity;
};

#define TRANSFORM_SETS_INIT { NULL, 0, 0 }

struct transform_error {
	unsigned int line; /* of a file, from 1 on; 0: of none */
	char why[256];	   /* for a person, without the line and the file */
};

void transform_list_release(struct transform_list *list);
void transform_sets_release(struct transform_sets *sets);

/* Add one rule. Returns 0; -EINVAL with the reason. */
int transform_list_parse(struct transform_list *list, const char *text,
			 struct transform_error *reterr);

/*
 * Add the sets of a file to sets, and the rules before the first to own; own is NULL where
 * there may be none. Returns 0; -EINVAL with line and reason, and what was read until
 * then is there.
 */
int transform_sets_parse(struct transform_sets *sets, struct transform_list *own, const char *text,
			 struct transform_error *reterr);

/* Add the sets that come with memstate. */
void transform_sets_add_own(struct transform_sets *sets);

/* The set, or NULL. */
const struct transform_set *transform_sets_find(const struct transform_sets *sets, const char *name);

/*
 * Rules with those of the sets in the places of these. Returns 0; -EINVAL with the reason:
 * there is no set of that name, or it is in itself, or there are too many rules.
 */
int transform_list_expand(const struct transform_list *list, const struct transform_sets *sets,
			  struct transform_list *ret, struct transform_error *reterr);

#endif
