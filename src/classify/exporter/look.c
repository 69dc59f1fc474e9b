/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/exporter/look.h"

#include <string.h>

const char *const look_stage_names[LOOK_STAGE_COUNT_] = {
	"processes", "groups", "cgroups", "owners", "heaps",
};

const uint64_t look_pause_limits_ns[LOOK_PAUSE_BUCKETS - 1] = {
	1 * NS_PER_MS,	 5 * NS_PER_MS,	  10 * NS_PER_MS, 50 * NS_PER_MS,
	100 * NS_PER_MS, 500 * NS_PER_MS, 1 * NS_PER_S,
};

void exporter_look_init(struct exporter_look *look)
{
	memset(look, 0, sizeof(*look));
	look->self.cpu_ns = look->self.resident_bytes = BYTES_UNKNOWN;
	look->self.open_fds = look->self.max_fds = BYTES_UNKNOWN;
}

void exporter_look_release(struct exporter_look *look)
{
	named_groups_release(&look->groups);
	named_cgroups_release(&look->cgroups);
}
