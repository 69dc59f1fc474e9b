/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/count/rules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/strbuf.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"

/*
 * Find the path of the file with the user's own sets of rules. Return false if the user
 * does not have a home folder.
 */
static bool find_user_file(struct strbuf *ret)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (config && config[0] == '/')
		strbuf_addf(ret, "%s/memstate/transforms", config);
	else if (home && home[0] == '/')
		strbuf_addf(ret, "%s/.config/memstate/transforms", home);
	return ret->length > 0;
}

/*
 * Load a file of rules. Return 0, or print a message and return -errno. If the file
 * does not exist, return -ENOENT without a message.
 */
static int load_file(const char *path, struct transform_sets *sets,
		     struct transform_list *own)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct transform_error error;
	int r = io_read_file_at(AT_FDCWD, path, TRANSFORM_FILE_MAX, &text);

	if (r == -ENOENT)
		return r;
	if (r < 0) {
		message_error(path, r);
		return r;
	}
	if (strlen(strbuf_text(&text)) != text.length) {
		message("%s: not a text file", path);
		return -EBADMSG;
	}
	r = transform_sets_parse(sets, own, strbuf_text(&text), &error);
	if (r < 0)
		message("%s:%u: %s", path, error.line, error.why);
	return r;
}

static int load_user_sets(struct transform_sets *sets)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	int r;

	if (!find_user_file(&path))
		return 0;
	r = load_file(path.text, sets, NULL);
	return r == -ENOENT ? 0 : r;
}

static int add_rule(const char *verb, const struct stacks_rule *rule,
		    struct transform_sets *sets, struct transform_list *list)
{
	struct transform_error error;
	int r;

	if (!rule->is_file) {
		if (transform_list_parse(list, rule->text, &error) == 0)
			return EXIT_DONE;
		message_usage(verb, "--transform '%s': %s", rule->text, error.why);
		return EXIT_BAD_USAGE;
	}
	r = load_file(rule->text, sets, list);
	if (r == -ENOENT)
		message_error(rule->text, r);
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

int count_rules_load(const struct options *o, struct count_rules *ret)
{
	struct transform_error error;
	int status = EXIT_DONE;

	*ret = (struct count_rules){ TRANSFORM_LIST_INIT, TRANSFORM_LIST_INIT,
				     TRANSFORM_SETS_INIT };
	transform_sets_add_own(&ret->sets);
	/*
	 * a flame graph on an HTML page offers all sets of rules, including the
	 * user's sets
	 */
	if ((o->stacks.rule_count > 0 || o->stacks.flame_graph) &&
	    load_user_sets(&ret->sets) < 0)
		status = EXIT_FAILED;
	for (size_t i = 0; i < o->stacks.rule_count && status == EXIT_DONE; i++)
		status = add_rule(o->verb, &o->stacks.rules[i], &ret->sets, &ret->given);
	/*
	 * expand the sets only after all files have been read, because a later file may
	 * define a set that an earlier file uses
	 */
	if (status == EXIT_DONE &&
	    transform_list_expand(&ret->given, &ret->sets, &ret->rules, &error) < 0) {
		message_usage(o->verb, "--transform: %s", error.why);
		status = EXIT_BAD_USAGE;
	}
	return status;
}

void count_rules_release(struct count_rules *rules)
{
	transform_list_release(&rules->given);
	transform_list_release(&rules->rules);
	transform_sets_release(&rules->sets);
}
