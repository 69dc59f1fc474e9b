/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/exporter/selection.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

/* Maximum number of bytes of an invalid name that an error message quotes. */
#define NAME_SIZE_MAX 100

static int refuse(struct strbuf *problem, const char *key, const char *value,
		  const char *why)
{
	strbuf_addf(problem, "%s=", key);
	text_add_printable(problem, value, strnlen(value, NAME_SIZE_MAX), true);
	strbuf_addf(problem, ": %s", why);
	return -EINVAL;
}

/* Return why the collector is not available, or NULL. */
static const char *find_obstacle(const struct metric_selection *selection,
				 enum metric_collector collector)
{
	if (collector == METRIC_COLLECTOR_OWNERS && !selection->has_owners)
		return "the exporter runs without --owners";
	if (collector == METRIC_COLLECTOR_HEAPS && !selection->has_heaps)
		return "the exporter runs without --heap walk";
	return NULL;
}

static int add_collector(struct metric_selection *selection, const char *key,
			 const char *value, struct strbuf *problem)
{
	for (int i = 0; i < METRIC_COLLECTOR_COUNT_; i++) {
		const char *obstacle;

		if (strcmp(value, metric_collector_names[i]) != 0)
			continue;
		obstacle = find_obstacle(selection, (enum metric_collector)i);
		if (obstacle)
			return refuse(problem, key, value, obstacle);
		selection->has_collectors = selection->collectors[i] = true;
		return 0;
	}
	return refuse(problem, key, value, "unknown collector");
}

static int add_name(struct metric_selection *selection, const char *key,
		    const char *value, struct strbuf *problem)
{
	enum metric metric = metric_find(value, strlen(value));
	const char *obstacle;

	if (metric == METRIC_COUNT_)
		return refuse(problem, key, value, "unknown metric");
	obstacle = find_obstacle(selection, metric_families[metric].collector);
	if (obstacle)
		return refuse(problem, key, value, obstacle);
	selection->has_names = selection->names[metric] = true;
	return 0;
}

int metric_selection_add(struct metric_selection *selection, const char *key,
			 const char *value, struct strbuf *problem)
{
	if (strcmp(key, "collect[]") == 0)
		return add_collector(selection, key, value ? value : "", problem);
	if (strcmp(key, "name[]") == 0)
		return add_name(selection, key, value ? value : "", problem);
	return 0;
}

bool metric_selection_is_all(const struct metric_selection *selection)
{
	return !selection->has_collectors && !selection->has_names;
}

static bool has(const struct metric_selection *selection, enum metric metric)
{
	if (metric == METRIC_COUNT_)
		return false;
	return (!selection->has_names || selection->names[metric]) &&
	       (!selection->has_collectors ||
		selection->collectors[metric_families[metric].collector]);
}

/*
 * Return the family of a line such as "# TYPE memstate_build info", or METRIC_COUNT_ if
 * the line has no name.
 */
static enum metric find_family(const char *line, size_t length)
{
	static const char *const keys[] = { "# HELP ", "# TYPE ", "# UNIT " };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t skipped = strlen(keys[i]);
		const char *name = line + skipped, *end;

		if (length < skipped || memcmp(line, keys[i], skipped) != 0)
			continue;
		end = memchr(name, ' ', length - skipped);
		return end ? metric_find(name, (size_t)(end - name)) : METRIC_COUNT_;
	}
	return METRIC_COUNT_;
}

/*
 * Return the length of the text up to the next line that begins with "# ". Neither a
 * sample nor a description contains a newline.
 */
static size_t part_length(const char *text, size_t length)
{
	const char *next = memmem(text, length, "\n# ", 3);

	return next ? (size_t)(next + 1 - text) : length;
}

void metric_selection_copy(const struct metric_selection *selection, const char *text,
			   size_t length, struct strbuf *out)
{
	while (length > 0) {
		size_t part = part_length(text, length);
		bool is_end = part >= 5 && memcmp(text, "# EOF", 5) == 0;

		if (is_end || has(selection, find_family(text, part)))
			strbuf_add(out, text, part);
		text += part;
		length -= part;
	}
}
