/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transform_rules - rules that transform the stacks of a profile, written on a command
 * line or in files with named sets. The flame graph page parses the same text.
 *
 * A rule is one line:
 *
 *     filter RE            keep only stacks with a frame that matches
 *     remove RE            remove stacks with a frame that matches
 *     replace RE => TEXT   replace each match in a frame's name by TEXT; \1 to \9 are
 *                          the groups of RE in (), \0 is the whole match, \\ is a
 *                          backslash. A frame whose name becomes empty is removed.
 *                          Neighbours that get the same name from the rule are merged.
 *     hide RE              remove matching frames; the caller gets their allocations
 *     from RE              start stacks at their outermost matching frame
 *     to RE                end stacks at their outermost matching frame, which gets the
 *                          allocations of its callees
 *     NAME                 apply the rules of the set with that name
 *
 * "=>" is surrounded by blanks, and TEXT extends to the end of the line. Blanks at the
 * ends of RE and TEXT are ignored. RE is matched against profile_frame_name() of a frame.
 * Empty matches ("x*" in "ab") are ignored.
 *
 * RE is a POSIX extended regular expression, restricted to syntax with the same meaning
 * in JavaScript: no back-references in RE, no \ within [], no ] as first character in [],
 * no [. and [=, no ? after * + ? or }, no (? and no empty (), { only as {n}, {n,} or
 * {n,m}. The only escapes with a letter or digit are \w \W \s \S \b and \B. The page
 * translates only [[:alpha:]] and the other eleven classes. If several alternatives match
 * at the same place, POSIX chooses the longest, and JavaScript the first.
 *
 * In a file, "#" starts a comment line, and "[NAME]" starts the rules of a set. A name
 * consists of letters, digits, '-' and '_', and must not be one of the words above. Rules
 * before the first set belong to the file itself. Rules of a set that another file
 * already defines are appended to that set.
 */
#ifndef MS_CLASSIFY_PROFILE_TRANSFORM_RULES_H
#define MS_CLASSIFY_PROFILE_TRANSFORM_RULES_H

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

/* Keywords for the kinds of rules, such as "filter"; NULL for TRANSFORM_SET. */
extern const char *const transform_kind_names[TRANSFORM_KIND_COUNT_];

#define TRANSFORM_RULE_MAX 1000 /* maximum length of a rule in bytes */
/* Maximum length of a frame's name in bytes, before and after a rule is applied. */
#define TRANSFORM_NAME_MAX 4096
/* maximum number of rules, including those of expanded sets */
#define TRANSFORM_RULES_MAX 1000
#define TRANSFORM_FILE_MAX 1000000 /* bytes */

struct transform_rule {
	enum transform_kind kind;
	char *pattern; /* regular expression, or the name of a set */
	char *text;    /* replacement text; NULL unless kind is TRANSFORM_REPLACE */
};

struct transform_list {
	struct transform_rule *rules;
	size_t count, capacity;
};

#define TRANSFORM_LIST_INIT \
	{                   \
		NULL, 0, 0  \
	}

struct transform_sets {
	struct transform_set {
		char *name;
		struct transform_list list;
	} * sets; /* sets of rules, in the order in which they were added */
	size_t count, capacity;
};

#define TRANSFORM_SETS_INIT \
	{                   \
		NULL, 0, 0  \
	}

struct transform_error {
	/* line number in the file, starting at 1; 0: the error is not in a file */
	unsigned int line;
	/* error message for the user, without file name and line number */
	char why[256];
};

void transform_list_release(struct transform_list *list);
void transform_sets_release(struct transform_sets *sets);

/* Parse one rule and append it. Return 0, or -EINVAL with the reason in *reterr. */
int transform_list_parse(struct transform_list *list, const char *text,
			 struct transform_error *reterr);

/*
 * Add the sets in a file to `sets`, and the rules before the first set to `own`. If `own`
 * is NULL, rules before the first set are an error. Return 0, or -EINVAL with the line
 * and the reason in *reterr. On error, `sets` and `own` contain everything that was
 * parsed before the error.
 */
int transform_sets_parse(struct transform_sets *sets, struct transform_list *own,
			 const char *text, struct transform_error *reterr);

/* Add the sets of rules that are built into memstate. */
void transform_sets_add_own(struct transform_sets *sets);

/* Return the set called `name`, or NULL. */
const struct transform_set *transform_sets_find(const struct transform_sets *sets,
						const char *name);

/*
 * Copy the rules, with each reference to a set replaced by the rules of the set. Return
 * 0, or -EINVAL with the reason in *reterr if a set does not exist, a set contains
 * itself, or there are too many rules.
 */
int transform_list_expand(const struct transform_list *list,
			  const struct transform_sets *sets, struct transform_list *ret,
			  struct transform_error *reterr);

#endif
