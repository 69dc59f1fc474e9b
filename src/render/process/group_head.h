/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group_head - the first lines of a report about a cgroup: its path, the pod, container
 * or unit that owns it, and the limit that applies.
 */
#ifndef MS_RENDER_PROCESS_GROUP_HEAD_H
#define MS_RENDER_PROCESS_GROUP_HEAD_H

#include "base/strbuf.h"
#include "model/cgroup.h"
#include "render/table/output.h"

/*
 * Append the first lines of a report about a cgroup. Only the fields
 * exact_bytes and ascii of options are used.
 */
void group_head_add(struct strbuf *out, const struct cgroup *cgroup,
		    const struct table_options *options);

#endif
