/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/process/group_head.h"

#include <string.h>

#include "base/text.h"
#include "base/units.h"

struct head {
	struct strbuf *out;
	const struct cgroup *cgroup;
	const struct table_options *options;
};

/* Append a path or name, with unprintable characters escaped. */
static void add_path(struct head *h, const char *path)
{
	text_add_printable(h->out, path, strlen(path), h->options->ascii);
}

static void add_name(struct head *h, const char *before, const char *name)
{
	if (!name)
		return;
	strbuf_add_text(h->out, before);
	add_path(h, name);
}

/*
 * Append the known names of the cgroup's pod, container or unit, such as "pod shop/web-0,
 * burstable; container app, containerd 0123456789ab".
 */
static void add_names(struct head *h)
{
	char *const *names = h->cgroup->names;
	const char *uid = names[CGROUP_NAME_POD_UID], *pod = names[CGROUP_NAME_POD];
	const char *namespace = names[CGROUP_NAME_NAMESPACE],
		   *id = names[CGROUP_NAME_CONTAINER_ID];
	const char *container = names[CGROUP_NAME_CONTAINER],
		   *unit = names[CGROUP_NAME_UNIT];
	size_t begin = h->out->length;

	if (uid) {
		add_name(h, "pod ", namespace);
		add_name(h, namespace ? "/" : "pod ", pod ? pod : uid);
		add_name(h, ", ", names[CGROUP_NAME_QOS]);
	}
	if (container || id) {
		strbuf_addf(h->out, "%scontainer", h->out->length > begin ? "; " : "");
		add_name(h, " ", container);
		add_name(h, container ? ", " : " ", names[CGROUP_NAME_RUNTIME]);
	}
	if (id)
		strbuf_addf(h->out, " %.12s", id);
	add_name(h, h->out->length > begin ? "; unit " : "unit ", unit);
	if (h->out->length > begin)
		strbuf_add_char(h->out, '\n');
}

static void add_limit(struct head *h)
{
	const struct cgroup *c = h->cgroup;
	const struct cgroup_level *owner = cgroup_tightest(c);
	uint64_t limit_bytes = cgroup_limit_bytes(c);
	char buf[UNITS_TEXT_SIZE];

	strbuf_add_text(h->out, "limit ");
	if (limit_bytes == CGROUP_NO_LIMIT)
		strbuf_add_text(h->out, "none");
	else if (h->options->exact_bytes && bytes_known(limit_bytes))
		strbuf_add_u64(h->out, limit_bytes);
	else
		strbuf_add_text(h->out, units_format_bytes(limit_bytes, buf));
	if (c->hidden_limit_bytes != CGROUP_NO_LIMIT) {
		strbuf_add_text(h->out,
				", of a group above, which is not visible from here");
	} else if (owner && c->tightest > 0) {
		strbuf_add_text(h->out, ", of ");
		add_path(h, owner->path);
		strbuf_add_text(h->out, ": the figures are that group's");
	}
	if (c->is_cut && c->version == CGROUP_V2)
		strbuf_add_text(h->out, "; limits above this namespace are not visible");
	strbuf_add_char(h->out, '\n');
}

void group_head_add(struct strbuf *out, const struct cgroup *cgroup,
		    const struct table_options *options)
{
	struct head h = { out, cgroup, options };

	strbuf_add_text(out, "cgroup ");
	add_path(&h, cgroup->level_count > 0 ? cgroup->levels[0].path : "unknown");
	strbuf_addf(out, " (version %d), %zu process%s\n", (int)cgroup->version,
		    cgroup->pid_count, cgroup->pid_count == 1 ? "" : "es");
	add_names(&h);
	add_limit(&h);
}
