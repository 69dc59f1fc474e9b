/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/run/variants.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/run/allocators.h"
#include "cmd/run/program.h"

void variants_release(struct variants *variants)
{
	for (size_t i = 0; i < variants->count; i++)
		variant_release(&variants->items[i]);
	free(variants->items);
	*variants = (struct variants){ 0 };
}

static bool is_setting(const struct known_allocator *known, const char *name,
		       size_t length)
{
	for (const char *const *s = known->settings; *s; s++)
		if (strlen(*s) == length && memcmp(*s, name, length) == 0)
			return true;
	return false;
}

static void refuse_setting(const struct known_allocator *known, const char *setting,
			   size_t length)
{
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;

	for (const char *const *s = known->settings; *s; s++)
		strbuf_addf(&names, "%s%s", s == known->settings ? "" : ", ", *s);
	message_usage(NULL, "--preload: %s has no setting '%.*s'; available: %s",
		      known->name, (int)length, setting, strbuf_text(&names));
}

/*
 * Parse a setting. For an allocator that reads all settings from one variable, append the
 * setting to *joined.
 */
static int parse_setting(const struct known_allocator *known, const char *setting,
			 struct strbuf *joined)
{
	size_t length = strcspn(setting, "=");
	const char *value = setting + length + 1;
	uint64_t number;

	if (setting[length] == '\0' || length == 0 || *value == '\0') {
		message_usage(NULL,
			      "--preload: '%s': settings of %s have the form "
			      "NAME=VALUE",
			      setting, known->name);
		return -EINVAL;
	}
	if (!is_setting(known, setting, length)) {
		refuse_setting(known, setting, length);
		return -EINVAL;
	}
	strbuf_addf(joined, "%s%.*s%c", known->prefix, (int)length, setting,
		    known->equals);
	if (!known->are_numbers || num_parse_u64(value, &number) == 0) {
		strbuf_add_text(joined, value);
	} else if (units_parse_bytes(value, &number) == 0) {
		strbuf_add_u64(joined, number);
	} else {
		message_usage(NULL,
			      "--preload: %s: '%s' is neither a number nor a size "
			      "such as 64K",
			      known->name, setting);
		return -EINVAL;
	}
	return 0;
}

static void add_variable(struct variant *v, size_t count, char *text)
{
	v->settings = xrealloc(v->settings, (count + 2) * sizeof(*v->settings));
	v->settings[count] = text;
	v->settings[count + 1] = NULL;
}

/* Parse the settings of an allocator, such as "dirty_decay_ms=0:muzzy_decay_ms=60000". */
static int parse_settings(const struct known_allocator *known, char *list,
			  struct variant *v)
{
	_cleanup_strbuf_ struct strbuf joined = STRBUF_INIT;
	size_t count = 0;
	char *setting;

	if (known->variable)
		strbuf_addf(&joined, "%s=", known->variable);
	for (bool is_first = true; (setting = strsep(&list, ":")); is_first = false) {
		if (known->variable && !is_first)
			strbuf_add_char(&joined, known->separator);
		if (parse_setting(known, setting, &joined) < 0)
			return -EINVAL;
		if (known->variable)
			continue;
		for (char *c = joined.text; *c != '='; c++)
			*c = (char)toupper((unsigned char)*c);
		add_variable(v, count++, strbuf_take(&joined));
	}
	if (known->variable)
		add_variable(v, 0, strbuf_take(&joined));
	return 0;
}

static int refuse_name(const char *name)
{
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;

	allocators_add_names(&names);
	if (strchr(name, '='))
		message_usage(
			NULL,
			"--preload: '%s' is not an allocator; separate settings of one "
			"allocator with ':'",
			name);
	else
		message_usage(
			NULL,
			"--preload: unknown allocator '%s'; use %s, or the path of a "
			"library, which must contain a '/'",
			name, strbuf_text(&names));
	return -EINVAL;
}

/* Parse the name of an allocator and its settings, such as "glibc:arena_max=2". */
static int parse_variant(char *text, struct variant *ret)
{
	const struct known_allocator *known;
	struct variant v = { .name = xstrdup(text) };
	char *settings = strchr(text, ':');
	int r = 0;

	if (settings)
		*settings++ = '\0';
	known = strchr(text, '/') ? allocators_guess(text)
				  : allocators_find(text, strlen(text));
	if (strchr(text, '/')) {
		v.library = xstrdup(text);
	} else if (!known) {
		r = refuse_name(text);
	}
	if (known)
		v.allocator = known->allocator;
	if (r == 0 && settings && !known) {
		message_usage(
			NULL,
			"--preload: memstate does not know the settings of '%s'; set "
			"them in the environment",
			text);
		r = -EINVAL;
	}
	if (r == 0 && settings)
		r = parse_settings(known, settings, &v);
	if (r < 0) {
		variant_release(&v);
		return r;
	}
	*ret = v;
	return 0;
}

static bool is_duplicate(const struct variants *variants)
{
	const struct variant *last = &variants->items[variants->count - 1];

	for (size_t i = 0; i + 1 < variants->count; i++)
		if (strcmp(variants->items[i].name, last->name) == 0)
			return true;
	return false;
}

int variants_parse(const char *list, struct variants *ret)
{
	_cleanup_free_ char *copy = xstrdup(list);
	struct variants variants = { 0 };
	char *rest = copy, *part;
	size_t capacity = 0;

	while ((part = strsep(&rest, ","))) {
		variants.items = xgrow(variants.items, &capacity, variants.count + 1,
				       sizeof(*variants.items));
		if (parse_variant(part, &variants.items[variants.count]) < 0) {
			variants_release(&variants);
			return -EINVAL;
		}
		variants.count++;
		if (is_duplicate(&variants)) {
			message_usage(NULL, "--preload: '%s' appears twice",
				      variants.items[variants.count - 1].name);
			variants_release(&variants);
			return -EINVAL;
		}
	}
	*ret = variants;
	return 0;
}

/*
 * Check a library that the user named by its path. Make the path absolute, because the
 * program may change its working directory before it starts other programs.
 */
static int check_library(struct variant *v, const struct machine *machine)
{
	char *path = realpath(v->library, NULL);
	struct machine own;
	int r;

	if (!path) {
		r = -errno;
		message_error(v->library, r);
		return r;
	}
	r = machine_read(path, &own);
	if (r == -ENOEXEC)
		message("%s: not a shared library", v->library);
	else if (r < 0)
		message_error(v->library, r);
	if (r < 0) {
		free(path);
		return r;
	}
	free(v->library);
	v->library = path;
	if (path[strcspn(path, ": ")]) {
		message("%s: cannot be preloaded: its path contains ':' or a space",
			path);
		return -EINVAL;
	}
	if (!machine_is_same(&own, machine)) {
		message("%s: built for a different machine type (%s) than the command "
			"(%s)",
			path, machine_bits(&own), machine_bits(machine));
		return -ENOEXEC;
	}
	return 0;
}

static int find_library(struct variant *v, const struct machine *machine)
{
	const struct known_allocator *known =
		allocators_find(v->name, strcspn(v->name, ":"));
	char *path;
	int r;

	if (v->library)
		return check_library(v, machine);
	/*
	 * Preload glibc by its bare file name, so that the loader uses the glibc that the
	 * program uses anyway. glibc is then loaded first, so its malloc() is used even
	 * if the program is linked with another allocator.
	 */
	if (known->allocator == ALLOCATOR_GLIBC) {
		v->library = xstrdup(known->file);
		return 0;
	}
	r = allocators_find_library("", known, machine, &path);
	if (r == 0) {
		v->library = path;
		return 0;
	}
	if (r == -ENOEXEC) {
		message("%s: installed only for a different machine type (%s); the "
			"command is %s",
			known->name, path, machine_bits(machine));
		free(path);
		return r;
	}
	message("%s: not found: no library directory contains %s*", known->name,
		known->file);
	message("hint: install the package %s, or give the path of a library",
		known->packages);
	return r;
}

int variants_prepare(const char *list, const char *command, struct variants *ret)
{
	struct variants variants;
	struct machine machine;
	bool is_ready;

	if (variants_parse(list, &variants) < 0)
		return EXIT_BAD_USAGE;
	is_ready = program_check(command, &machine) == 0;
	if (is_ready) /* continue, to report every missing library */
		for (size_t i = 0; i < variants.count; i++)
			is_ready &= find_library(&variants.items[i], &machine) == 0;
	if (!is_ready) {
		variants_release(&variants);
		return EXIT_FAILED;
	}
	*ret = variants;
	return EXIT_DONE;
}

/*
 * Environment variables that contain lists, and may already be set. is_first is true if
 * the first entry of a list has precedence over the last.
 */
static const struct {
	const char *name;
	char separator;
	bool is_first;
} lists[] = {
	{ "LD_PRELOAD", ':', true },
	{ "GLIBC_TUNABLES", ':', false },
	{ "MALLOC_CONF", ',', false },
};

static char *join(const char *name, const char *before, const char *value)
{
	struct strbuf joined = STRBUF_INIT;

	strbuf_addf(&joined, "%s=", name);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (strcmp(name, lists[i].name) != 0 || !before || *before == '\0')
			continue;
		strbuf_addf(&joined, "%s%c%s", lists[i].is_first ? value : before,
			    lists[i].separator, lists[i].is_first ? before : value);
		return strbuf_take(&joined);
	}
	strbuf_add_text(&joined, value);
	return strbuf_take(&joined);
}

/*
 * Set an environment variable, or extend its value. The array must have room for one
 * more entry.
 */
static void set_variable(char **environment, const char *name, const char *value)
{
	size_t length = strlen(name), i;
	char *joined;

	for (i = 0; environment[i]; i++)
		if (strncmp(environment[i], name, length) == 0 &&
		    environment[i][length] == '=')
			break;
	joined = join(name, environment[i] ? environment[i] + length + 1 : NULL, value);
	if (!environment[i])
		environment[i + 1] = NULL;
	free(environment[i]);
	environment[i] = joined;
}

char **variant_environment(const struct variant *v, char *const *base)
{
	size_t count = 0, added = 1;
	char **environment;

	while (base[count])
		count++;
	for (char **s = v->settings; s && *s; s++)
		added++;
	environment = xcalloc(count + added + 1, sizeof(*environment));
	for (size_t i = 0; i < count; i++)
		environment[i] = xstrdup(base[i]);
	if (v->library)
		set_variable(environment, "LD_PRELOAD", v->library);
	for (char **s = v->settings; s && *s; s++) {
		_cleanup_free_ char *name = xstrndup(*s, strcspn(*s, "="));

		set_variable(environment, name, strchr(*s, '=') + 1);
	}
	return environment;
}

void environment_free(char **environment)
{
	for (char **e = environment; e && *e; e++)
		free(*e);
	free(environment);
}
