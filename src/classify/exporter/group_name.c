/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/exporter/group_name.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "classify/cgroup/container_names.h"

const char *const grouping_names[GROUPING_COUNT_] = {
	"auto", "container", "unit", "cgroup", "comm", "exe", "user",
};

/* Length of a short container ID, as the runtimes print it. */
#define SHORT_ID_LENGTH 12

/* systemd-run and container engines put an ID of at least this length in a unit's name */
#define HEX_RUN_MIN 16

#define PART_LENGTH_MAX 4096

/* Length of "~" and a 64-bit digest, which replace the end of a long name. */
#define DIGEST_LENGTH 17

bool grouping_is_by_cgroup(enum grouping grouping)
{
	return grouping <= GROUPING_CGROUP;
}

void group_name_release(struct group_name *name)
{
	free(name->group);
	free(name->namespace_name);
	free(name->pod);
	free(name->container);
	*name = (struct group_name){ .group = NULL };
}

static char *copy_text(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

void group_name_copy(struct group_name *to, const struct group_name *from)
{
	*to = (struct group_name){
		copy_text(from->group),
		copy_text(from->namespace_name),
		copy_text(from->pod),
		copy_text(from->container),
	};
}

/* Compute the 64-bit FNV-1a hash of the string. */
static uint64_t hash_text(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

/* Return a printable copy of the string. A digest replaces the end of a long string. */
static char *make_label(const char *text)
{
	struct strbuf out = STRBUF_INIT;

	text_add_printable(&out, text, strlen(text), false);
	if (out.length > GROUP_NAME_LENGTH_MAX) {
		size_t length = GROUP_NAME_LENGTH_MAX - DIGEST_LENGTH;

		/* do not cut the string within a UTF-8 character */
		while (length > 0 && (out.text[length] & 0xc0) == 0x80)
			length--;
		strbuf_truncate(&out, length);
		strbuf_addf(&out, "~%016" PRIx64, hash_text(text));
	}
	return strbuf_take(&out);
}

void group_name_set_word(struct group_name *name, const char *word)
{
	group_name_release(name);
	name->group = make_label(word);
}

static size_t count_digits(const char *text, const char *digits)
{
	return strspn(text, digits);
}

/*
 * Append the name of a systemd scope or of an instance of a template, with "*" in place
 * of each number and each long ID.
 */
static void add_without_numbers(struct strbuf *out, const char *unit)
{
	while (*unit) {
		size_t hex = count_digits(unit, "0123456789abcdef");
		size_t decimal = count_digits(unit, "0123456789");

		if (hex >= HEX_RUN_MIN || decimal > 0) {
			strbuf_add_char(out, '*');
			unit += hex >= HEX_RUN_MIN ? hex : decimal;
		} else {
			strbuf_add_char(out, *unit++);
		}
	}
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static void set_unit(struct group_name *name, const char *unit)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *instance = strchr(unit, '@');
	size_t before = instance ? (size_t)(instance + 1 - unit) : 0;

	if (!instance && !ends_with(unit, ".scope")) {
		group_name_set_word(name, unit);
		return;
	}
	strbuf_add(&text, unit, before);
	add_without_numbers(&text, unit + before);
	group_name_set_word(name, strbuf_text(&text));
}

static bool is_container(char *const *names)
{
	return names[CGROUP_NAME_CONTAINER_ID] || names[CGROUP_NAME_CONTAINER] ||
	       names[CGROUP_NAME_POD_UID];
}

static void add_part(struct strbuf *out, const char *part, size_t length_max)
{
	if (!part)
		return;
	if (out->length > 0)
		strbuf_add_char(out, '/');
	strbuf_add(out, part, strnlen(part, length_max));
}

static void set_container(struct group_name *name, char *const *names)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *pod = names[CGROUP_NAME_POD];
	const char *container = names[CGROUP_NAME_CONTAINER];

	add_part(&text, names[CGROUP_NAME_NAMESPACE], PART_LENGTH_MAX);
	add_part(&text, pod ? pod : names[CGROUP_NAME_POD_UID], PART_LENGTH_MAX);
	if (container)
		add_part(&text, container, PART_LENGTH_MAX);
	else
		add_part(&text, names[CGROUP_NAME_CONTAINER_ID], SHORT_ID_LENGTH);
	group_name_set_word(name, strbuf_text(&text));
	if (names[CGROUP_NAME_NAMESPACE])
		name->namespace_name = make_label(names[CGROUP_NAME_NAMESPACE]);
	if (pod)
		name->pod = make_label(pod);
	if (container)
		name->container = make_label(container);
}

void group_name_set_cgroup(struct group_name *name, enum grouping grouping,
			   const char *path, char *const *names)
{
	bool is_auto = grouping == GROUPING_AUTO;

	if (is_container(names) && (is_auto || grouping == GROUPING_CONTAINER))
		set_container(name, names);
	else if (names[CGROUP_NAME_UNIT] && (is_auto || grouping == GROUPING_UNIT))
		set_unit(name, names[CGROUP_NAME_UNIT]);
	else if (is_auto || grouping == GROUPING_CGROUP)
		group_name_set_word(name, path[0] ? path : "/");
	else
		group_name_set_word(name, GROUP_NAME_REST);
}

static bool is_equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/*
 * Return true if both names refer to the same container or, if neither is a container, to
 * the same unit.
 */
static bool is_same(char *const *a, char *const *b)
{
	if (!is_container(a))
		return !is_container(b) &&
		       is_equal(a[CGROUP_NAME_UNIT], b[CGROUP_NAME_UNIT]);
	for (size_t i = 0; i < CGROUP_NAME_COUNT_; i++)
		if (i != CGROUP_NAME_UNIT && !is_equal(a[i], b[i]))
			return false;
	return true;
}

size_t group_name_find_cgroup(enum grouping grouping, const char *path)
{
	char *whole[CGROUP_NAME_COUNT_] = { NULL }, *part[CGROUP_NAME_COUNT_] = { NULL };
	size_t length = strlen(path), found = length;

	container_names_find(path, whole);
	if (grouping != GROUPING_CGROUP &&
	    (is_container(whole) || whole[CGROUP_NAME_UNIT])) {
		for (size_t i = 1; i < length && found == length; i++) {
			_cleanup_free_ char *above = NULL;

			if (path[i] != '/')
				continue;
			above = xstrndup(path, i);
			container_names_find(above, part);
			if (is_same(whole, part))
				found = i;
		}
	}
	cgroup_names_clear(whole);
	cgroup_names_clear(part);
	return found;
}
