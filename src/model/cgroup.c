/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/cgroup.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"

const char *const cgroup_name_keys[CGROUP_NAME_COUNT_] = {
	[CGROUP_NAME_RUNTIME] = "runtime",
	[CGROUP_NAME_CONTAINER_ID] = "container_id",
	[CGROUP_NAME_CONTAINER] = "container",
	[CGROUP_NAME_POD_UID] = "pod_uid",
	[CGROUP_NAME_POD] = "pod",
	[CGROUP_NAME_NAMESPACE] = "namespace",
	[CGROUP_NAME_QOS] = "qos",
	[CGROUP_NAME_UNIT] = "unit",
};

void cgroup_init(struct cgroup *cgroup)
{
	*cgroup = (struct cgroup){ .tightest = SIZE_MAX,
				   .hidden_limit_bytes = CGROUP_NO_LIMIT,
				   .slack_bytes = BYTES_UNKNOWN };
	/*
	 * All fields of these structs are amounts. Setting all bits of an amount makes it
	 * unknown.
	 */
	memset(&cgroup->stat, 0xff, sizeof(cgroup->stat));
	memset(&cgroup->limit_stat, 0xff, sizeof(cgroup->limit_stat));
	memset(&cgroup->kernel, 0xff, sizeof(cgroup->kernel));
}

void cgroup_names_clear(char *names[CGROUP_NAME_COUNT_])
{
	for (size_t i = 0; i < CGROUP_NAME_COUNT_; i++) {
		free(names[i]);
		names[i] = NULL;
	}
}

void cgroup_release(struct cgroup *cgroup)
{
	cgroup_names_clear(cgroup->names);
	for (size_t i = 0; i < cgroup->level_count; i++)
		free(cgroup->levels[i].path);
	free(cgroup->levels);
	free(cgroup->pids);
	cgroup_init(cgroup);
}

const struct cgroup_level *cgroup_tightest(const struct cgroup *cgroup)
{
	return cgroup->tightest < cgroup->level_count ? &cgroup->levels[cgroup->tightest]
						      : NULL;
}

uint64_t cgroup_limit_bytes(const struct cgroup *cgroup)
{
	const struct cgroup_level *level = cgroup_tightest(cgroup);
	uint64_t seen = level ? level->limit_bytes : CGROUP_NO_LIMIT;

	return cgroup->hidden_limit_bytes < seen ? cgroup->hidden_limit_bytes : seen;
}
