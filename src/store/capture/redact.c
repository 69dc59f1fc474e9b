/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/capture/redact.h"

#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/known_names.h"

struct pseudonym {
	size_t id;
	char *text; /* original text */
};

struct redactor {
	/* pseudonyms in a tree of tsearch(3), sorted by original text */
	void *tree;
	size_t count;
};

struct redactor *redactor_new(void)
{
	return xcalloc(1, sizeof(struct redactor));
}

static void free_pseudonym(void *p)
{
	struct pseudonym *pseudonym = p;

	free(pseudonym->text);
	free(pseudonym);
}

void redactor_free(struct redactor *r)
{
	if (!r)
		return;
	tdestroy(r->tree, free_pseudonym);
	free(r);
}

static int compare(const void *a, const void *b)
{
	const struct pseudonym *p_a = a, *p_b = b;

	return strcmp(p_a->text, p_b->text);
}

static size_t find_id(struct redactor *r, const char *text)
{
	struct pseudonym key = { .text = (char *)text };
	void *found = tfind(&key, &r->tree, compare);
	struct pseudonym *made;

	if (found)
		return (*(struct pseudonym **)found)->id;
	made = xmalloc(sizeof(*made));
	made->id = ++r->count;
	made->text = xstrdup(text);
	if (!tsearch(made, &r->tree, compare))
		xalloc_exhausted();
	return made->id;
}

/*
 * Return true if the kernel generated the name, which therefore reveals only the purpose
 * of the memory and not a path.
 */
static bool is_kernel_name(const char *name)
{
	static const char *const names[] = { "", "/dev/zero", "/anon_hugepage",
					     "/[aio]" };
	static const char *const prefixes[] = { "[", "anon_inode:", "socket:[" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static void add_pseudonym(struct redactor *r, const char *path, struct strbuf *out)
{
	const struct library_name *library = library_name_find(path);
	const char *shmem = shmem_prefix_find(path);

	strbuf_add_text(out, shmem ? shmem : path[0] == '/' ? "/" : "");
	strbuf_addf(out, "p%zu", find_id(r, path));
	if (library)
		strbuf_addf(out, "/%s", library->prefix);
}

void redact_name(struct redactor *r, const char *name, size_t length, struct strbuf *out)
{
	static const char deleted[] = " (deleted)";
	const size_t deleted_length = sizeof(deleted) - 1;
	bool is_deleted =
		length > deleted_length &&
		memcmp(name + length - deleted_length, deleted, deleted_length) == 0;
	_cleanup_free_ char *path =
		xstrndup(name, length - (is_deleted ? deleted_length : 0));

	if (is_kernel_name(path))
		strbuf_add_text(out, path);
	else
		add_pseudonym(r, path, out);
	if (is_deleted)
		strbuf_add_text(out, deleted);
}

/* Return the position after the line's newline, or `end` if the line has no newline. */
static const char *next_line(const char *line, const char *end)
{
	const char *newline = memchr(line, '\n', (size_t)(end - line));

	return newline ? newline + 1 : end;
}

/*
 * Return the position after `count` fields, each followed by one space, or NULL if there
 * are fewer fields.
 */
static const char *skip_fields(const char *at, const char *end, int count)
{
	while (count-- > 0) {
		const char *blank = memchr(at, ' ', (size_t)(end - at));

		if (!blank || blank == at)
			return NULL;
		at = blank + 1;
	}
	return at;
}

/*
 * Redact a header line of smaps, such as "55d790847000-55d79084c000 r-xp 00002000
 * fe:00 247134 /usr/bin/cat".
 */
static int redact_header(struct redactor *r, const char *line, const char *end,
			 struct strbuf *out)
{
	static const char allowed[] = "0123456789abcdef-rwxsp: ";
	const char *name = skip_fields(line, end, 4);

	if (!name)
		return -EBADMSG;
	while (name < end && *name >= '0' && *name <= '9')
		name++;
	if (name < end && *name != ' ')
		return -EBADMSG;
	while (name < end && *name == ' ')
		name++;
	for (const char *p = line; p < name; p++)
		if (!strchr(allowed, *p))
			return -EBADMSG;
	strbuf_add(out, line, (size_t)(name - line));
	redact_name(r, name, (size_t)(end - name), out);
	strbuf_add_char(out, '\n');
	return 0;
}

/*
 * Return true if the line of smaps has a form such as "Rss: 132 kB" or "VmFlags: rd wr mr
 * mw me ac".
 */
static bool is_key_line(const char *line, const char *end)
{
	const char *colon = memchr(line, ':', (size_t)(end - line));

	return colon && *line >= 'A' && *line <= 'Z' &&
	       !memchr(line, '/', (size_t)(end - line));
}

int redact_smaps(struct redactor *r, const char *text, size_t length, struct strbuf *out)
{
	const char *end = text + length;
	const char *next;

	for (const char *line = text; line < end; line = next) {
		int result;

		next = next_line(line, end);
		if (next[-1] != '\n')
			return -EBADMSG;
		if (is_key_line(line, next)) {
			strbuf_add(out, line, (size_t)(next - line));
			continue;
		}
		result = redact_header(r, line, next - 1, out);
		if (result < 0)
			return result;
	}
	return 0;
}

static void add_mount_field(struct redactor *r, const char *field, const char *end,
			    struct strbuf *out)
{
	_cleanup_free_ char *text = xstrndup(field, (size_t)(end - field));

	if (text[0] == '\0' || strcmp(text, "/") == 0)
		strbuf_add_text(out, text);
	else
		add_pseudonym(r, text, out);
	strbuf_add_char(out, ' ');
}

/*
 * Redact a line of mountinfo, such as "29 23 0:25 / /run rw,nosuid shared:11 - tmpfs
 * tmpfs rw,size=…" (proc_pid_mountinfo(5)). The kernel escapes spaces within fields.
 * Replace the last field, because it may contain paths in any form, such as the
 * lowerdir of overlayfs.
 */
static void redact_mount(struct redactor *r, const char *line, const char *end,
			 struct strbuf *out)
{
	const char *root = skip_fields(line, end, 3);
	const char *point = root ? skip_fields(root, end, 1) : NULL;
	const char *flags = point ? skip_fields(point, end, 1) : NULL;
	const char *dash = flags ? memmem(flags, (size_t)(end - flags), " - ", 3) : NULL;
	const char *source = dash ? skip_fields(dash + 3, end, 1) : NULL;
	const char *source_end = source ? memchr(source, ' ', (size_t)(end - source))
					: NULL;

	if (!source_end)
		return;
	strbuf_add(out, line, (size_t)(root - line));
	add_mount_field(r, root, point - 1, out);
	add_mount_field(r, point, flags - 1, out);
	strbuf_add(out, flags, (size_t)(source - flags));
	add_mount_field(r, source, source_end, out);
	strbuf_add_text(out, "hidden\n");
}

int redact_mountinfo(struct redactor *r, const char *text, size_t length,
		     struct strbuf *out)
{
	const char *end = text + length;
	const char *next;

	for (const char *line = text; line < end; line = next) {
		next = next_line(line, end);
		redact_mount(r, line, next[-1] == '\n' ? next - 1 : next, out);
	}
	return 0;
}

int redact_cmdline(struct redactor *r, const char *text, size_t length,
		   struct strbuf *out)
{
	const char *end = text + length;

	while (text < end) {
		_cleanup_free_ char *arg = xstrndup(text, (size_t)(end - text));
		size_t size = strlen(arg);

		/* give the path of a file the same pseudonym in cmdline as in smaps */
		if (arg[0] == '/')
			redact_name(r, arg, size, out);
		else if (arg[0] != '\0')
			strbuf_addf(out, "arg%zu", find_id(r, arg));
		text += size;
		if (text < end) {
			strbuf_add_char(out, '\0');
			text++;
		}
	}
	return 0;
}
