/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/proc_cgroup_knob.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "proc/proc_cgroup_parse.h"

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

/* "oom_kill_disable 1\n…", or "max\n" */
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

int cgroup_knob_open(const struct cgroup_mount *mount, const char *path,
		     enum cgroup_knob_kind kind, struct cgroup_knob *ret)
{
	struct cgroup_knob knob = { .kind = kind };
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	char text[512];
	int r;

	if (knobs[kind].version != mount->version)
		return -EOPNOTSUPP;
	strbuf_addf(&name, "%s%s/%s", mount->dir, strcmp(path, "/") == 0 ? "" : path,
		    knobs[kind].file);
	knob.fd = open(name.text, O_RDWR | O_CLOEXEC);
	if (knob.fd < 0)
		return errno == ENOENT ? -EOPNOTSUPP : -errno;
	r = read_knob(&knob, text);
	if (r == 0 && is_set(&knob, text))
		r = -EBUSY;
	if (r < 0) {
		close(knob.fd);
		return r;
	}
	*ret = knob;
	return 0;
}

void cgroup_knob_close(struct cgroup_knob *knob)
{
	if (knob->fd >= 0)
		close(knob->fd);
	knob->fd = -1;
}

int cgroup_knob_set(const struct cgroup_knob *knob)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (knob->kind == CGROUP_KNOB_FREEZE)
		return write_knob(knob, "1");
	strbuf_add_u64(&text, knob->bytes);
	return write_knob(knob, text.text);
}

int cgroup_knob_put_back(const struct cgroup_knob *knob)
{
	char text[512];
	int r = read_knob(knob, text);

	if (r == 0 && knob->kind == CGROUP_KNOB_HIGH &&
	    strtoull(text, NULL, 10) != knob->bytes)
		return 0;
	if (r == 0)
		r = write_knob(knob, knobs[knob->kind].unset);
	return r == -ENODEV ? 0 : r;
}
