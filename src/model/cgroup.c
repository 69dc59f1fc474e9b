/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/cgroup.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"

void cgroup_init(struct cgroup *cgroup)
{
	*cgroup = (struct cgroup){ .tightest = SIZE_MAX, .hidden_limit_bytes = CGROUP_NO_LIMIT };
	/* all of it amounts, and all bits set is an unknown one */
	memset(&cgroup->stat, 0xff, sizeof(cgroup->stat));
	memset(&cgroup->limit_stat, 0xff, sizeof(cgroup->limit_stat));
}

void cgroup_release(struct cgroup *cgroup)
{
	struct cgroup_names *n = &cgroup->names;
	char *names[] = { n->runtime, n->container_id,	      n->container, n->pod_uid,
			  n->pod,     n->kubernetes_namespace, n->qos,	     n->unit };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		free(names[i]);
	for (size_t i = 0; i < cgroup->level_count; i++)
		free(cgroup->levels[i].path);
	free(cgroup->levels);
	free(cgroup->pids);
	cgroup_init(cgroup);
}

const struct cgroup_level *cgroup_tightest(const struct cgroup *cgroup)
{
	return cgroup->tightest < cgroup->level_count ? &cgroup->levels[cgroup->tightest] : NULL;
}

uint64_t cgroup_limit_bytes(const struct cgroup *cgroup)
{
	const struct cgroup_level *level = cgroup_tightest(cgroup);
	uint64_t seen = level ? level->limit_bytes : CGROUP_NO_LIMIT;

	return cgroup->hidden_limit_bytes < seen ? cgroup->hidden_limit_bytes : seen;
}
