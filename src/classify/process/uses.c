/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/process/uses.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "classify/process/chromium_ranges.h"

#define INNODB_EXTENT_BYTES (8 * MIB)
#define INNODB_BUFFER_BYTES MIB
#define GCC_MAPPING_BYTES_MIN (MIB / 16)
#define ARENA_BYTES (64 * MIB)

enum program {
	PROGRAM_INNODB = 1 << 0,
	PROGRAM_POSTGRES = 1 << 1,
	PROGRAM_GCC = 1 << 2,
	PROGRAM_JAVA = 1 << 3,
	PROGRAM_OPCACHE = 1 << 4,
	PROGRAM_NGINX = 1 << 5,
	PROGRAM_ASAN = 1 << 6,
	PROGRAM_TSAN = 1 << 7,
};

/* Executable files that identify a program. */
static const struct {
	const char *file;
	enum program program;
} programs[] = {
	{ "mariadbd", PROGRAM_INNODB },	  { "mysqld", PROGRAM_INNODB },
	{ "postgres", PROGRAM_POSTGRES }, { "cc1", PROGRAM_GCC },
	{ "cc1plus", PROGRAM_GCC },	  { "cc1obj", PROGRAM_GCC },
	{ "cc1objplus", PROGRAM_GCC },	  { "f951", PROGRAM_GCC },
	{ "gnat1", PROGRAM_GCC },	  { "d21", PROGRAM_GCC },
	{ "go1", PROGRAM_GCC },		  { "lto1", PROGRAM_GCC },
	{ "libjvm.so", PROGRAM_JAVA },	  { "opcache.so", PROGRAM_OPCACHE },
	{ "nginx", PROGRAM_NGINX },
};

/*
 * The memory of the sanitizers on x86-64: AddressSanitizer's mapping with the offset
 * 0x7fff8000, and ThreadSanitizer's mapping for 48 bits of address space (compiler-rt,
 * asan_mapping.h and tsan_platform.h).
 */
static const struct range {
	uint64_t start_addr, end_addr;
	enum known_use use;
	enum program program;
} sanitizer_ranges[] = {
	{ 0x7fff7000, 0x10007fff8000, USE_ASAN_SHADOW, PROGRAM_ASAN },
	{ 0x600000000000, 0x640000002000, USE_ASAN_HEAP, PROGRAM_ASAN },
	{ 0x10000000000, 0x200000000000, USE_TSAN_SHADOW, PROGRAM_TSAN },
	{ 0x300000000000, 0x340000000000, USE_TSAN_SHADOW, PROGRAM_TSAN },
	{ 0x7b0000000000, 0x7c0000002000, USE_TSAN_HEAP, PROGRAM_TSAN },
};

/* The mappings of one process, and the programs found among them. */
struct shapes {
	const struct mapping_list *mappings;
	/* programs found among the mappings, as a bit set of enum program */
	unsigned int programs;
	/* index of the mapping with InnoDB's buffer pool; mappings->count: none */
	size_t innodb_pool;
	struct chromium_ranges chromium;
};

static const struct mapping *neighbour(const struct shapes *s, size_t index, int step)
{
	size_t other = index + (size_t)step;

	return other < s->mappings->count ? &s->mappings->items[other] : NULL;
}

static uint64_t size_of(const struct mapping *m)
{
	return m->end_addr - m->start_addr;
}

static uint32_t access_of(const struct mapping *m)
{
	return m->flags & (MAPPING_ACCESS | MAPPING_SHARED);
}

/* Return true if the mapping has no file, no name and the given permissions. */
static bool is_nameless(const struct mapping *m, uint32_t access)
{
	return m->inode == 0 && m->name[0] == '\0' && access_of(m) == access;
}

static bool is_data(const struct mapping *m)
{
	return m->owner == OWNER_ANON && is_nameless(m, MAPPING_READ | MAPPING_WRITE);
}

static bool has_prefix(const struct mapping *m, const char *prefix)
{
	return strncmp(m->name, prefix, strlen(prefix)) == 0;
}

/* Return true if the mapping is shared memory that no file name identifies. */
static bool is_shared_anonymous(const struct mapping *m)
{
	return m->flags & MAPPING_SHARED &&
	       (has_prefix(m, "/dev/zero") || has_prefix(m, "/anon_hugepage") ||
		has_prefix(m, "[anon_shmem:"));
}

/*
 * Return true if the mapping is the inaccessible remainder of a glibc arena: the mapping
 * directly follows the used part and ends at the end of the arena.
 */
static bool is_arena_reserve(const struct shapes *s, size_t i)
{
	const struct mapping *m = &s->mappings->items[i], *used = neighbour(s, i, -1);

	return is_nameless(m, 0) && m->end_addr % ARENA_BYTES == 0 &&
	       size_of(m) < ARENA_BYTES && used && is_data(used) &&
	       used->end_addr == m->start_addr &&
	       used->start_addr <= m->end_addr - ARENA_BYTES &&
	       used->start_addr % ARENA_BYTES == 0;
}

static bool is_arena(const struct shapes *s, size_t i)
{
	return i + 1 < s->mappings->count && is_arena_reserve(s, i + 1);
}

/*
 * Return true if the mapping may contain an InnoDB buffer pool that can grow:
 * reserved memory directly follows the mapping. InnoDB's log buffers may precede
 * the pool in the mapping.
 */
static bool is_growing_pool(const struct shapes *s, size_t i)
{
	const struct mapping *m = &s->mappings->items[i], *reserve = neighbour(s, i, 1);

	return is_data(m) && m->start_addr % MIB == 0 && m->end_addr % MIB == 0 &&
	       reserve && is_nameless(reserve, 0) && reserve->start_addr == m->end_addr &&
	       size_of(reserve) >= INNODB_EXTENT_BYTES && !is_arena(s, i);
}

/*
 * Return true if the mapping may be an InnoDB buffer pool that cannot grow: both of its
 * ends are aligned to the size of InnoDB's extents.
 */
static bool is_full_pool(const struct shapes *s, size_t i)
{
	const struct mapping *m = &s->mappings->items[i];

	return is_data(m) && m->start_addr % INNODB_EXTENT_BYTES == 0 &&
	       m->end_addr % INNODB_EXTENT_BYTES == 0;
}

/*
 * Return the index of the mapping with InnoDB's buffer pool, or the number of mappings
 * if not found.
 */
static size_t find_pool(const struct shapes *s)
{
	size_t count = s->mappings->count, pool = count;

	for (size_t i = 0; i < count; i++)
		if (is_growing_pool(s, i))
			return i;
	for (size_t i = 0; i < count; i++)
		if (is_full_pool(s, i) &&
		    (pool == count || size_of(&s->mappings->items[i]) >
					      size_of(&s->mappings->items[pool])))
			pool = i;
	return pool;
}

static bool is_innodb_pool(const struct shapes *s, size_t i)
{
	return i == s->innodb_pool;
}

static bool is_innodb_reserve(const struct shapes *s, size_t i)
{
	return i > 0 && i - 1 == s->innodb_pool && is_growing_pool(s, i - 1);
}

static bool is_innodb_buffer(const struct shapes *s, size_t i)
{
	const struct mapping *m = &s->mappings->items[i];

	return is_data(m) && size_of(m) % INNODB_BUFFER_BYTES == 0 && !is_arena(s, i);
}

/*
 * Return true if the mapping directly follows a private, non-executable mapping
 * of a file. The file's mapping may be read-only, because the last part of a
 * file's data may be.
 */
static bool follows_file(const struct shapes *s, size_t i)
{
	const struct mapping *m = &s->mappings->items[i], *file = neighbour(s, i, -1);

	return file && file->end_addr == m->start_addr && file->inode != 0 &&
	       !(file->flags & (MAPPING_EXEC | MAPPING_SHARED));
}

/*
 * Return true if the mapping contains the .bss section of the program. In memory, [heap]
 * follows this section, but not that of a library.
 */
static bool is_program_data(const struct shapes *s, size_t i)
{
	const struct mapping *heap = neighbour(s, i, 1);

	return is_data(&s->mappings->items[i]) && follows_file(s, i) && heap &&
	       strcmp(heap->name, "[heap]") == 0;
}

static bool is_gcc_memory(const struct shapes *s, size_t i)
{
	const struct mapping *m = &s->mappings->items[i];

	return is_data(m) && size_of(m) >= GCC_MAPPING_BYTES_MIN && !follows_file(s, i) &&
	       !is_arena(s, i);
}

static bool is_shared_memory(const struct shapes *s, size_t i)
{
	return is_shared_anonymous(&s->mappings->items[i]);
}

static bool is_stack(const struct shapes *s, size_t i)
{
	return s->mappings->items[i].owner == OWNER_STACK;
}

static bool is_code(const struct shapes *s, size_t i)
{
	const struct mapping *m = &s->mappings->items[i];

	return m->owner == OWNER_ANON && m->inode == 0 && m->name[0] == '\0' &&
	       m->flags & MAPPING_EXEC;
}

/*
 * Return true if a device file is mapped. Shared memory, /dev/zero and huge pages do
 * not count as devices.
 */
static bool is_device(const struct shapes *s, size_t i)
{
	const struct mapping *m = &s->mappings->items[i];

	return has_prefix(m, "/dev/") && !has_prefix(m, "/dev/shm/") &&
	       !has_prefix(m, "/dev/zero") && !has_prefix(m, "/dev/hugepages/");
}

/*
 * Rules for recognising the use of a mapping. A rule applies if the process maps one of
 * `programs` (0: any program), and either is_shape() returns true or the mapping's name
 * begins with `name`. The first rule that applies determines the use.
 */
static const struct {
	enum known_use use;
	unsigned int programs;
	bool (*is_shape)(const struct shapes *s, size_t index);
	const char *name;
} rules[] = {
	{ USE_IO_URING, 0, NULL, "anon_inode:[io_uring]" },
	{ USE_AIO, 0, NULL, "/[aio]" },
	{ USE_PERF, 0, NULL, "anon_inode:[perf_event]" },
	{ USE_PACKET_RING, 0, NULL, "socket:[" },
	{ USE_KVM, 0, NULL, "anon_inode:kvm-vcpu" },
	{ USE_BPF, 0, NULL, "anon_inode:bpf-map" },
	{ USE_GPU, 0, NULL, "/dev/nvidia" },
	{ USE_GPU, 0, NULL, "/dev/dri/" },
	{ USE_GPU, 0, NULL, "/dev/kfd" },
	{ USE_GPU, 0, NULL, "/dev/mali" },
	{ USE_GPU, 0, NULL, "/drm mm object" },
	{ USE_GPU, 0, NULL, "/i915" },
	{ USE_GPU, 0, NULL, "/dmabuf:" },
	{ USE_DEVICE, 0, is_device, NULL },
	{ USE_POSTGRES_DYNAMIC, 0, NULL, "/dev/shm/PostgreSQL." },
	{ USE_POSTGRES_SHARED, PROGRAM_POSTGRES, is_shared_memory, NULL },
	{ USE_POSTGRES_SHARED, PROGRAM_POSTGRES, NULL, "/SYSV" },
	{ USE_SYSV, 0, NULL, "/SYSV" },
	{ USE_PHP_OPCACHE, PROGRAM_OPCACHE, is_shared_memory, NULL },
	{ USE_NGINX_ZONES, PROGRAM_NGINX, is_shared_memory, NULL },
	{ USE_JAVA_STACKS, PROGRAM_JAVA, is_stack, NULL },
	{ USE_STACKS, 0, is_stack, NULL },
	{ USE_PROGRAM_DATA, 0, is_program_data, NULL },
	{ USE_INNODB_POOL, PROGRAM_INNODB, is_innodb_pool, NULL },
	{ USE_INNODB_RESERVE, PROGRAM_INNODB, is_innodb_reserve, NULL },
	{ USE_INNODB_BUFFERS, PROGRAM_INNODB, is_innodb_buffer, NULL },
	{ USE_GCC_COLLECTED, PROGRAM_GCC, is_gcc_memory, NULL },
	{ USE_ARENA_RESERVE, 0, is_arena_reserve, NULL },
	{ USE_JAVA_CODE, PROGRAM_JAVA, is_code, NULL },
	{ USE_JIT_CODE, 0, is_code, NULL },
};

/* Return true if the name ends with "/FILE" or "/FILE (deleted)". */
static bool is_file(const struct mapping *m, const char *file)
{
	const char *slash = strrchr(m->name, '/');
	size_t length = strlen(file);

	return slash && strncmp(slash + 1, file, length) == 0 &&
	       (slash[length + 1] == '\0' ||
		strcmp(slash + length + 1, " (deleted)") == 0);
}

/*
 * Return true if one mapping begins where the range begins, and one ends
 * where the range ends.
 */
static bool has_bounds(const struct mapping_list *mappings, const struct range *range)
{
	bool has_start = false, has_end = false;

	for (size_t i = 0; i < mappings->count; i++) {
		has_start |= mappings->items[i].start_addr == range->start_addr;
		has_end |= mappings->items[i].end_addr == range->end_addr;
	}
	return has_start && has_end;
}

static unsigned int find_programs(const struct mapping_list *mappings)
{
	unsigned int found = 0;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];

		if (!(m->flags & MAPPING_EXEC) || m->inode == 0)
			continue;
		for (size_t p = 0; p < sizeof(programs) / sizeof(programs[0]); p++)
			if (is_file(m, programs[p].file))
				found |= programs[p].program;
	}
	if (has_bounds(mappings, &sanitizer_ranges[0]))
		found |= PROGRAM_ASAN;
	if (has_bounds(mappings, &sanitizer_ranges[2]) &&
	    has_bounds(mappings, &sanitizer_ranges[3]))
		found |= PROGRAM_TSAN;
	return found;
}

static enum known_use find_sanitizer(const struct shapes *s, const struct mapping *m)
{
	for (size_t r = 0; r < sizeof(sanitizer_ranges) / sizeof(sanitizer_ranges[0]);
	     r++) {
		const struct range *range = &sanitizer_ranges[r];

		if (s->programs & range->program && m->inode == 0 &&
		    m->start_addr >= range->start_addr && m->end_addr <= range->end_addr)
			return range->use;
	}
	return USE_NONE;
}

static enum known_use find_use(const struct shapes *s, size_t index)
{
	const struct mapping *m = &s->mappings->items[index];
	enum known_use use = chromium_ranges_use(&s->chromium, m);

	if (use != USE_NONE)
		return use;
	for (size_t r = 0; r < sizeof(rules) / sizeof(rules[0]); r++) {
		if (rules[r].programs && !(rules[r].programs & s->programs))
			continue;
		if (rules[r].is_shape ? rules[r].is_shape(s, index)
				      : has_prefix(m, rules[r].name))
			return rules[r].use;
	}
	return find_sanitizer(s, m);
}

static void add_use(struct usage *u, enum known_use use, const struct mapping *m,
		    uint64_t rss_bytes)
{
	struct usage_use *to = NULL;

	for (size_t i = 0; i < u->uses.count && !to; i++)
		if (u->uses.items[i].use == use && u->uses.items[i].owner == m->owner)
			to = &u->uses.items[i];
	if (!to) {
		if (u->uses.count == USAGE_USE_MAX)
			return;
		to = &u->uses.items[u->uses.count++];
		*to = (struct usage_use){ .use = use, .owner = m->owner };
		to->is_upper_bound =
			u->heap_quality == QUALITY_UNKNOWN &&
			(use == USE_GCC_COLLECTED || use == USE_INNODB_BUFFERS);
	}
	to->rss_bytes = bytes_add(to->rss_bytes, rss_bytes);
	to->size_bytes = bytes_add(to->size_bytes, size_of(m));
}

static uint64_t sum_share(const struct heap_share *share)
{
	uint64_t sum = 0;

	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		sum = bytes_add(sum, share->owner_bytes[o]);
	return sum;
}

/* Compare two uses by size, for sorting in descending order. */
static int compare_uses(const void *a, const void *b)
{
	const struct usage_use *use_a = a, *use_b = b;

	if (use_a->rss_bytes != use_b->rss_bytes)
		return use_a->rss_bytes < use_b->rss_bytes ? 1 : -1;
	return (use_a->use > use_b->use) - (use_a->use < use_b->use);
}

void classify_uses(struct usage *usage, struct mapping_list *mappings,
		   const struct heap_share *shares, size_t share_count)
{
	struct shapes s = { .mappings = mappings,
			    .programs = find_programs(mappings),
			    .innodb_pool = mappings->count };
	size_t next = 0;

	chromium_ranges_find(mappings, &s.chromium);
	if (s.programs & PROGRAM_INNODB)
		s.innodb_pool = find_pool(&s);
	usage->uses.count = 0;
	for (size_t i = 0; i < mappings->count; i++) {
		struct mapping *m = &mappings->items[i];
		uint64_t rss = m->counters.bytes[SMAPS_RSS], heap = 0;

		m->use = find_use(&s, i);
		while (next < share_count && shares[next].mapping < i)
			next++;
		if (next < share_count && shares[next].mapping == i)
			heap = sum_share(&shares[next]);
		else if (m->flags & MAPPING_HEAP)
			heap = rss;
		if (heap > 0 && s.programs & PROGRAM_POSTGRES)
			add_use(usage, USE_POSTGRES_BACKEND, m, heap);
		if (m->use == USE_NONE)
			continue;
		if (heap == 0 || heap < rss)
			add_use(usage, m->use, m, bytes_sub(rss, heap));
		/* a mapping that is mostly heap memory has no other use */
		if (heap > 0 && heap >= rss - heap)
			m->use = USE_NONE;
	}
	qsort(usage->uses.items, usage->uses.count, sizeof(usage->uses.items[0]),
	      compare_uses);
}
