/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/cgroup/parse.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/key_lines.h"
#include "base/num.h"
#include "base/units.h"

#define KEY_SIZE 64
#define NUMBER_SIZE 24

/*
 * The keys in memory.stat for each member. The values of the v1 keys include all
 * descendants.
 */
static const struct {
	const char *v1, *v2;
	size_t offset;
} stat_keys[] = {
#define KEY(v1, v2, field)                                  \
	{                                                   \
		v1, v2, offsetof(struct cgroup_stat, field) \
	}
	KEY("total_rss", "anon", anon_bytes),
	KEY("total_cache", "file", file_bytes),
	KEY("total_shmem", "shmem", shmem_bytes),
	KEY(NULL, "kernel", kernel_bytes),
	KEY(NULL, "kernel_stack", kernel_stack_bytes),
	KEY(NULL, "pagetables", pagetables_bytes),
	KEY(NULL, "percpu", percpu_bytes),
	KEY(NULL, "vmalloc", vmalloc_bytes),
	KEY(NULL, "sock", sock_bytes),
	KEY(NULL, "slab_reclaimable", slab_reclaimable_bytes),
	KEY(NULL, "slab_unreclaimable", slab_unreclaimable_bytes),
	KEY("total_inactive_anon", "inactive_anon", inactive_anon_bytes),
	KEY("total_active_anon", "active_anon", active_anon_bytes),
	KEY("total_inactive_file", "inactive_file", inactive_file_bytes),
	KEY("total_active_file", "active_file", active_file_bytes),
	KEY("total_unevictable", "unevictable", unevictable_bytes),
	KEY("total_mapped_file", "file_mapped", file_mapped_bytes),
	KEY("total_dirty", "file_dirty", file_dirty_bytes),
	KEY("total_writeback", "file_writeback", file_writeback_bytes),
	KEY("total_rss_huge", "anon_thp", anon_thp_bytes),
	KEY("total_swap", NULL, swap_bytes),
	KEY(NULL, "pglazyfree", lazyfree_count),
	KEY(NULL, "pglazyfreed", lazyfreed_count),
#undef KEY
};

bool cgroup_find_value(const char *text, const char *key, uint64_t *ret)
{
	char start[KEY_SIZE];

	snprintf(start, sizeof(start), "%s ", key);
	return key_lines_find_u64(text, start, ret);
}

/*
 * Set kernel_bytes to the sum of its known parts. Linux before 5.18 does not report the
 * total.
 */
static void add_kernel_parts(struct cgroup_stat *s)
{
	const uint64_t parts[] = {
		s->kernel_stack_bytes,	   s->pagetables_bytes,
		s->percpu_bytes,	   s->vmalloc_bytes,
		s->slab_reclaimable_bytes, s->slab_unreclaimable_bytes
	};
	uint64_t sum = 0;
	bool is_known = false;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (bytes_known(parts[i])) {
			sum += parts[i];
			is_known = true;
		}
	if (is_known)
		s->kernel_bytes = sum;
}

void cgroup_stat_parse(enum cgroup_version version, const char *text,
		       struct cgroup_stat *ret)
{
	for (size_t i = 0; i < sizeof(stat_keys) / sizeof(stat_keys[0]); i++) {
		const char *key = version == CGROUP_V1 ? stat_keys[i].v1
						       : stat_keys[i].v2;
		uint64_t value;

		if (key && cgroup_find_value(text, key, &value))
			memcpy((char *)ret + stat_keys[i].offset, &value, sizeof(value));
	}
	if (!bytes_known(ret->kernel_bytes))
		add_kernel_parts(ret);
}

/* Copy the value after a field name, such as "avg10=", in a line of memory.pressure. */
static bool find_field(const char *line, const char *field, char *ret, size_t size)
{
	size_t length = strlen(field), value_length;

	while (strncmp(line, field, length) != 0) {
		line += strcspn(line, " \n");
		if (*line != ' ')
			return false;
		line++;
	}
	line += length;
	value_length = strcspn(line, " \n");
	if (value_length >= size)
		return false;
	memcpy(ret, line, value_length);
	ret[value_length] = '\0';
	return true;
}

/* Parse a line of memory.pressure: "some avg10=0.00 avg60=0.00 avg300=0.00 total=0". */
static bool parse_line(const char *text, const char *key, uint64_t *ret_ns,
		       uint32_t *ret_avg10)
{
	const char *line = key_lines_find(text, key);
	uint64_t us, thousandths;
	char total[NUMBER_SIZE], avg[NUMBER_SIZE];

	if (!line || !find_field(line, "total=", total, sizeof(total)) ||
	    !find_field(line, "avg10=", avg, sizeof(avg)) ||
	    num_parse_u64(total, &us) < 0 || num_parse_thousandths(avg, &thousandths) < 0)
		return false;
	*ret_ns = us * NS_PER_US;
	*ret_avg10 = (uint32_t)(thousandths / 10);
	return true;
}

bool cgroup_pressure_parse(const char *text, struct cgroup_pressure *ret)
{
	return parse_line(text, "some ", &ret->some_ns, &ret->some_avg10_percent_x100) &&
	       parse_line(text, "full ", &ret->full_ns, &ret->full_avg10_percent_x100);
}

/*
 * Names of slab caches for sockets (those with SLAB_ACCOUNT in Linux 5.8). A suffix
 * cannot identify them, because sock_inode_cache ends like the inode caches of file
 * systems.
 */
static const char *const socket_caches[] = {
	"sock_inode_cache", "TCP",  "TCPv6", "UDP",   "UDPv6",
	"UDPLITE",	    "UNIX", "RAW",   "RAWv6", "PING",
};

static bool is_socket_cache(const char *name)
{
	for (size_t i = 0; i < sizeof(socket_caches) / sizeof(socket_caches[0]); i++)
		if (strcmp(name, socket_caches[i]) == 0)
			return true;
	return false;
}

static bool is_inode_cache(const char *name)
{
	static const char end[] = "inode_cache";
	size_t length = strlen(name);

	return strcmp(name, "dentry") == 0 ||
	       (length >= sizeof(end) - 1 &&
		strcmp(name + length - (sizeof(end) - 1), end) == 0);
}

/*
 * The format of a line is "name active objects size per_slab pages_per_slab : tunables …
 * : slabdata active slabs shared".
 */
void cgroup_slabs_parse(const char *text, struct cgroup_kernel *ret)
{
	uint64_t inode_bytes = 0, socket_bytes = 0;
	bool has_cache = false;

	for (const char *line = text; line[0] != '\0';) {
		const char *end = strchrnul(line, '\n');
		char name[KEY_SIZE];
		unsigned long pages, slabs;

		if (sscanf(line,
			   "%63s %*u %*u %*u %*u %9lu : tunables %*u %*u %*u : slabdata %*u %9lu",
			   name, &pages, &slabs) == 3) {
			uint64_t bytes =
				(uint64_t)slabs * pages * (uint64_t)sysconf(_SC_PAGESIZE);

			has_cache = true;
			if (is_socket_cache(name))
				socket_bytes += bytes;
			else if (is_inode_cache(name))
				inode_bytes += bytes;
		}
		line = *end == '\0' ? end : end + 1;
	}
	if (!has_cache)
		return;
	ret->inode_slab_bytes = inode_bytes;
	ret->socket_slab_bytes = socket_bytes;
}
