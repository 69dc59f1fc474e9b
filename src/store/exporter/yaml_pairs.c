/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/exporter/yaml_pairs.h"

#include <errno.h>

#if HAVE_YAML

#	include <stdbool.h>
#	include <string.h>
#	include <yaml.h>

#	include "base/cleanup.h"
#	include "base/library.h"
#	include "base/text.h"

#	define LEVELS_MAX 3
#	define PAIRS_MAX 256

/* clang-format off */
#	define YAML_FUNCTIONS(X) \
		X(yaml_parser_initialize) X(yaml_parser_delete) \
		X(yaml_parser_set_input_string) X(yaml_parser_parse) X(yaml_event_delete)
/* clang-format on */

LIBRARY_DEFINE(yaml, "libyaml-0.so.2", YAML_FUNCTIONS);

struct reading {
	yaml_pair_fn fn;
	void *context;
	struct strbuf *problem;
	/* dot-separated names of the open maps and of the current key */
	struct strbuf path;
	/*
	 * length in bytes of the path of each open map, including the dot after the path
	 */
	size_t lengths[LEVELS_MAX];
	size_t level_count;
	bool has_key; /* true if the path ends with a key, whose value follows */
	/* true while the parser is within a list, the value of the current key */
	bool is_list;
	/* All keys that were read, each followed by NUL, for detecting duplicates. */
	struct strbuf keys;
	size_t pair_count;
	bool is_ended;
};

static int refuse(struct reading *reading, const yaml_event_t *event, const char *why)
{
	strbuf_addf(reading->problem, "line %zu: %s", event->start_mark.line + 1, why);
	return -EBADMSG;
}

static bool is_repeated(const struct reading *reading)
{
	const char *at = strbuf_text(&reading->keys), *end = at + reading->keys.length;

	for (; at < end; at += strlen(at) + 1)
		if (strcmp(at, strbuf_text(&reading->path)) == 0)
			return true;
	return false;
}

static int begin_map(struct reading *reading, const yaml_event_t *event)
{
	if (event->data.mapping_start.anchor || reading->is_list ||
	    reading->level_count == LEVELS_MAX ||
	    (reading->level_count > 0 && !reading->has_key))
		return refuse(reading, event, "unexpected map");
	if (reading->has_key)
		strbuf_add_char(&reading->path, '.');
	reading->has_key = false;
	reading->lengths[reading->level_count++] = reading->path.length;
	return 0;
}

static void end_value(struct reading *reading)
{
	reading->has_key = false;
	if (reading->level_count > 0)
		strbuf_truncate(&reading->path,
				reading->lengths[reading->level_count - 1]);
}

static int begin_list(struct reading *reading, const yaml_event_t *event)
{
	if (event->data.sequence_start.anchor || reading->is_list || !reading->has_key)
		return refuse(reading, event, "unexpected list");
	reading->is_list = true;
	return reading->fn(reading->context, strbuf_text(&reading->path), NULL, true);
}

static int end_list(struct reading *reading, const yaml_event_t *event)
{
	if (!reading->is_list)
		return refuse(reading, event, "unexpected end of a list");
	reading->is_list = false;
	end_value(reading);
	return 0;
}

static int add_value(struct reading *reading, const yaml_event_t *event, const char *text)
{
	int r = reading->fn(reading->context, strbuf_text(&reading->path), text,
			    reading->is_list);

	if (!reading->is_list) {
		end_value(reading);
		return r;
	}
	return r == 0 && ++reading->pair_count > PAIRS_MAX
		       ? refuse(reading, event, "too many values")
		       : r;
}

static int add_scalar(struct reading *reading, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;

	if (event->data.scalar.anchor || strlen(text) != event->data.scalar.length)
		return refuse(reading, event, "unexpected value");
	if (reading->level_count == 0)
		return text[0] == '\0' ? 0 : refuse(reading, event, "not a map");
	if (!reading->has_key) {
		strbuf_add_text(&reading->path, text);
		reading->has_key = true;
		if (is_repeated(reading))
			return refuse(reading, event, "the key is repeated");
		strbuf_add(&reading->keys, strbuf_text(&reading->path),
			   reading->path.length + 1);
		return ++reading->pair_count <= PAIRS_MAX
			       ? 0
			       : refuse(reading, event, "too many keys");
	}
	return add_value(reading, event, text);
}

/* Refuse a YAML alias. The message names the key whose value is the alias. */
static int refuse_alias(struct reading *reading, const yaml_event_t *event)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;

	if (reading->has_key) {
		text_add_printable(&why, strbuf_text(&reading->path),
				   reading->path.length, false);
		strbuf_add_text(&why, ": ");
	}
	strbuf_add_text(&why, "aliases are not supported");
	return refuse(reading, event, strbuf_text(&why));
}

static int handle(struct reading *reading, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_STREAM_START_EVENT:
	case YAML_DOCUMENT_START_EVENT: return 0;
	case YAML_DOCUMENT_END_EVENT:
	case YAML_STREAM_END_EVENT: reading->is_ended = true; return 0;
	case YAML_MAPPING_START_EVENT: return begin_map(reading, event);
	case YAML_MAPPING_END_EVENT:
		if (reading->level_count == 0)
			return refuse(reading, event, "unexpected end of a map");
		reading->level_count--;
		end_value(reading);
		return 0;
	case YAML_SEQUENCE_START_EVENT: return begin_list(reading, event);
	case YAML_SEQUENCE_END_EVENT: return end_list(reading, event);
	case YAML_SCALAR_EVENT: return add_scalar(reading, event);
	default: return refuse_alias(reading, event);
	}
}

static int read_events(struct reading *reading, yaml_parser_t *parser)
{
	int r = 0;

	while (r == 0 && !reading->is_ended) {
		yaml_event_t event;

		if (!yaml.yaml_parser_parse(parser, &event)) {
			strbuf_addf(reading->problem, "line %zu: %s",
				    parser->problem_mark.line + 1,
				    parser->problem ? parser->problem : "not YAML");
			return -EBADMSG;
		}
		r = handle(reading, &event);
		yaml.yaml_event_delete(&event);
	}
	return r;
}

int yaml_pairs_read(const char *text, size_t length, yaml_pair_fn fn, void *context,
		    struct strbuf *problem)
{
	struct reading reading = { .fn = fn, .context = context, .problem = problem };
	yaml_parser_t parser;
	int r;

	if (!library_load(&yaml_library) || !yaml.yaml_parser_initialize(&parser)) {
		strbuf_add_text(problem, "libyaml is not installed");
		return -EOPNOTSUPP;
	}
	yaml.yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
	r = read_events(&reading, &parser);
	yaml.yaml_parser_delete(&parser);
	strbuf_release(&reading.path);
	strbuf_release(&reading.keys);
	return r;
}

#else

int yaml_pairs_read(const char *text, size_t length, yaml_pair_fn fn, void *context,
		    struct strbuf *problem)
{
	(void)text;
	(void)length;
	(void)fn;
	(void)context;
	strbuf_add_text(problem, "this memstate was built without libyaml");
	return -EOPNOTSUPP;
}

#endif
