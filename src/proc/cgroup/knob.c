/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/cgroup/knob.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "proc/cgroup/parse.h"

#define DEPTH_MAX 64

static const struct {
	enum cgroup_version version;
	const char *file, *unset;
} knobs[] = {
	[CGROUP_KNOB_FREEZE] = { CGROUP_V1, "memory.oom_control", "0" },
	[CGROUP_KNOB_HIGH] = { CGROUP_V2, "memory.high", "max" },
};

static int read_knob(const struct cgroup_knob *knob, char text[512])
{
	ssize_t n = pread(knob->fd, text, 511, 0);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	return 0;
}

/*
 * Return true if a setting is on, given the text of its file. CGROUP_KNOB_FREEZE is on if
 * the text is "oom_kill_disable 1\n…". CGROUP_KNOB_HIGH is on unless the text is "max\n".
 */
static bool is_set(const struct cgroup_knob *knob, const char *text)
{
	uint64_t value;

	if (knob->kind == CGROUP_KNOB_FREEZE)
		return cgroup_find_value(text, "oom_kill_disable", &value) && value != 0;
	return strncmp(text, "max", 3) != 0;
}

static int write_knob(const struct cgroup_knob *knob, const char *text)
{
	return pwrite(knob->fd, text, strlen(text), 0) < 0 ? -errno : 0;
}

bool cgroup_knob_is_blocking(const struct cgroup_knob *knob)
{
	uint64_t value;
	char text[512];

	return knob->kind == CGROUP_KNOB_FREEZE && read_knob(knob, text) == 0 &&
	       cgroup_find_value(text, "under_oom", &value) && value != 0;
}

/*
 * A function called for each descendant cgroup. `dir` is the cgroup's path; the function
 * may append to the path but must restore it.
 */
typedef int (*visit_fn)(struct cgroup_knob *knob, struct strbuf *dir);

static int visit_below(struct cgroup_knob *knob, struct strbuf *dir, int depth,
		       visit_fn visit)
{
	_cleanup_closedir_ DIR *folder = opendir(strbuf_text(dir));
	size_t length = dir->length;
	struct dirent *entry;
	int first = 0;

	while (folder && depth < DEPTH_MAX && (entry = readdir(folder))) {
		int r;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		strbuf_addf(dir, "/%s", entry->d_name);
		r = visit(knob, dir);
		if (r == 0)
			r = visit_below(knob, dir, depth + 1, visit);
		strbuf_truncate(dir, length);
		if (first == 0)
			first = r;
	}
	return first;
}

/*
 * Open the setting's file in the cgroup directory `dir`. The fd of the result is -1 if
 * the setting is off in this cgroup.
 */
static struct cgroup_knob open_set(const struct cgroup_knob *knob, struct strbuf *dir)
{
	struct cgroup_knob below = { .kind = knob->kind };
	size_t length = dir->length;
	char text[512];

	strbuf_addf(dir, "/%s", knobs[knob->kind].file);
	below.fd = open(strbuf_text(dir), O_RDWR | O_CLOEXEC);
	strbuf_truncate(dir, length);
	if (below.fd >= 0 && (read_knob(&below, text) < 0 || !is_set(&below, text)))
		cgroup_knob_close(&below);
	return below;
}

static int keep(struct cgroup_knob *knob, struct strbuf *dir)
{
	struct cgroup_knob below = open_set(knob, dir);

	if (below.fd < 0)
		return 0;
	cgroup_knob_close(&below);
	knob->kept = xgrow(knob->kept, &knob->kept_capacity, knob->kept_count + 1,
			   sizeof(*knob->kept));
	knob->kept[knob->kept_count++] = xstrdup(strbuf_text(dir));
	return 0;
}

static int unset(struct cgroup_knob *knob, struct strbuf *dir)
{
	struct cgroup_knob below;
	int r = 0;

	for (size_t i = 0; i < knob->kept_count; i++)
		if (strcmp(knob->kept[i], strbuf_text(dir)) == 0)
			return 0;
	below = open_set(knob, dir);
	if (below.fd >= 0)
		r = write_knob(&below, knobs[knob->kind].unset);
	cgroup_knob_close(&below);
	return r == -ENODEV ? 0 : r;
}

int cgroup_knob_restore_descendants(const struct cgroup_knob *knob)
{
	_cleanup_strbuf_ struct strbuf dir = STRBUF_INIT;
	struct cgroup_knob visited = *knob;

	if (knob->kind != CGROUP_KNOB_FREEZE)
		return 0;
	strbuf_add_text(&dir, knob->dir);
	return visit_below(&visited, &dir, 0, unset);
}

int cgroup_knob_open(const struct cgroup_mount *mount, const char *path,
		     enum cgroup_knob_kind kind, struct cgroup_knob *ret)
{
	struct cgroup_knob knob = { .kind = kind };
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	char text[512];
	int r;

	if (knobs[kind].version != mount->version)
		return -EOPNOTSUPP;
	strbuf_addf(&name, "%s%s", mount->dir, strcmp(path, "/") == 0 ? "" : path);
	knob.dir = xstrdup(name.text);
	strbuf_addf(&name, "/%s", knobs[kind].file);
	knob.fd = open(name.text, O_RDWR | O_CLOEXEC);
	if (knob.fd < 0)
		r = errno == ENOENT ? -EOPNOTSUPP : -errno;
	else
		r = read_knob(&knob, text);
	if (r == 0 && is_set(&knob, text))
		r = -EBUSY;
	if (r < 0) {
		cgroup_knob_close(&knob);
		return r;
	}
	strbuf_truncate(&name, strlen(knob.dir));
	if (kind == CGROUP_KNOB_FREEZE)
		visit_below(&knob, &name, 0, keep);
	*ret = knob;
	return 0;
}

void cgroup_knob_close(struct cgroup_knob *knob)
{
	if (knob->fd >= 0)
		close(knob->fd);
	knob->fd = -1;
	free(knob->dir);
	knob->dir = NULL;
	while (knob->kept_count > 0)
		free(knob->kept[--knob->kept_count]);
	free(knob->kept);
	knob->kept = NULL;
}

int cgroup_knob_set(const struct cgroup_knob *knob)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (knob->kind == CGROUP_KNOB_FREEZE)
		return write_knob(knob, "1");
	strbuf_add_u64(&text, knob->bytes);
	return write_knob(knob, text.text);
}

int cgroup_knob_restore(const struct cgroup_knob *knob)
{
	char text[512];
	int r = read_knob(knob, text), below;

	if (r == 0 && knob->kind == CGROUP_KNOB_HIGH &&
	    strtoull(text, NULL, 10) != knob->bytes)
		return 0;
	if (r == 0)
		r = write_knob(knob, knobs[knob->kind].unset);
	/*
	 * restore the descendants only now: those created while the setting was on have
	 * inherited it, but later ones do not
	 */
	below = cgroup_knob_restore_descendants(knob);
	if (r == 0)
		r = below;
	return r == -ENODEV ? 0 : r;
}
