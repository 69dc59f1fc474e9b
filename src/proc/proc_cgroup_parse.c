/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/proc_cgroup_parse.h"

#include <stddef.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"

/* Keys of memory.stat; those of v1 are sums over what is below, too. */
static const struct {
	const char *v1, *v2;
	size_t offset;
} stat_keys[] = {
#define KEY(v1, v2, field) { v1, v2, offsetof(struct cgroup_stat, field) }
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

/* The number after "KEY ", at the beginning of a line. False if there is none. */
static bool find_after(const char *text, const char *key, char separator, uint64_t *ret)
{
	size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		char digits[24];
		const char *value;
		size_t count;

		line += *line == '\n';
		if (strncmp(line, key, length) != 0 || line[length] != separator)
			continue;
		value = line + length + 1;
		count = strspn(value, "0123456789");
		if (count >= sizeof(digits))
			return false;
		memcpy(digits, value, count);
		digits[count] = '\0';
		return num_parse_u64(digits, ret) == 0;
	}
	return false;
}

bool cgroup_find_value(const char *text, const char *key, uint64_t *ret)
{
	return find_after(text, key, ' ', ret);
}

/* Before 5.18 there is no sum of the kernel's own memory: its parts that are told. */
static void add_kernel_parts(struct cgroup_stat *s)
{
	const uint64_t parts[] = { s->kernel_stack_bytes, s->pagetables_bytes,
				   s->percpu_bytes,	  s->vmalloc_bytes,
				   s->slab_reclaimable_bytes, s->slab_unreclaimable_bytes };
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

void cgroup_stat_parse(enum cgroup_version version, const char *text, struct cgroup_stat *ret)
{
	for (size_t i = 0; i < sizeof(stat_keys) / sizeof(stat_keys[0]); i++) {
		const char *key = version == CGROUP_V1 ? stat_keys[i].v1 : stat_keys[i].v2;
		uint64_t value;

		if (key && cgroup_find_value(text, key, &value))
			memcpy((char *)ret + stat_keys[i].offset, &value, sizeof(value));
	}
	if (!bytes_known(ret->kernel_bytes))
		add_kernel_parts(ret);
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=0" */
static bool parse_line(const char *text, const char *what, uint64_t *ret_ns, uint32_t *ret_avg10)
{
	const char *line = strstr(text, what), *total, *avg;
	uint64_t us, thousandths;
	char digits[24];
	size_t count;

	total = line ? strstr(line, "total=") : NULL;
	avg = line ? strstr(line, "avg10=") : NULL;
	if (!total || !avg || !find_after(total, "total", '=', &us))
		return false;
	avg += strlen("avg10=");
	count = strspn(avg, "0123456789.");
	if (count >= sizeof(digits))
		return false;
	memcpy(digits, avg, count);
	digits[count] = '\0';
	if (num_parse_thousandths(digits, &thousandths) < 0)
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
