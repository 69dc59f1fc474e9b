/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/count/stack_file.h"

#include <linux/fcntl.h>
#include <linux/mman.h>
#include <stddef.h>

#include "agent/system/syscalls.h"

#define NODES_FIRST 4096
/* number of nodes to reserve before the program installs a seccomp filter */
#define NODES_SEALED (1 << 15)
#define MODULES_SEALED (1 << 16)
/*
 * maximum size of the address space to reserve before the program
 * installs a seccomp filter
 */
#define RESERVE_MAX (UINT64_C(1) << 30)
#define RESERVE_MIN (UINT64_C(1) << 22)
/* minimum number of nodes to map if address space is scarce */
#define NODES_MIN (1 << 14)
#define MODULE_BYTES_STEP 16384
#define SHARE_OF_ADDRESSES 16
/* constants from <sys/resource.h>, which is not included because it is a libc header */
#define RLIMIT_FSIZE_ 1
#define RLIMIT_AS_ 9

/*
 * Address space that is reserved in advance, because a seccomp filter may
 * later forbid mmap(2).
 */
static struct {
	char *memory; /* the reserved address space, or NULL */
	uint64_t bytes, used_bytes;
	enum ask_permission permission;
} held;

static void *map_memory(uint64_t bytes)
{
	long p = agent_syscall6(
		__NR_mmap,
		(const long[6]){ 0, (long)bytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0 });

	return p < 0 && p > -4096 ? NULL : (void *)p;
}

void *stack_memory_allocate(uint64_t bytes)
{
	uint64_t whole = (bytes + ASK_PAGE_BYTES - 1) & ~(uint64_t)(ASK_PAGE_BYTES - 1),
		 used;

	if (held.permission == ASK_ALWAYS)
		return map_memory(bytes);
	used = __atomic_fetch_add(&held.used_bytes, whole, __ATOMIC_RELAXED);
	if (held.memory && used + whole <= held.bytes)
		return held.memory + used;
	return ask_may(held.permission) ? map_memory(bytes) : NULL;
}

/*
 * Keep the memory if a seccomp filter is active, because the filter may forbid munmap(2).
 */
void stack_memory_release(void *memory, uint64_t bytes)
{
	if (held.permission == ASK_ALWAYS)
		agent_syscall(__NR_munmap, (long)memory, (long)bytes, 0, 0);
}

static uint64_t limit_of(int resource)
{
	uint64_t limits[2] = { 0, 0 };

	if (agent_syscall(__NR_prlimit64, 0, resource, 0, (long)limits) < 0)
		return 0;
	return limits[0];
}

static void hold_memory(void)
{
	uint64_t limit = limit_of(RLIMIT_AS_) / SHARE_OF_ADDRESSES;

	for (uint64_t bytes = RESERVE_MAX; bytes >= RESERVE_MIN && !held.memory;
	     bytes /= 2) {
		if (bytes <= limit)
			held.memory = map_memory(bytes);
		held.bytes = bytes;
	}
}

static int open_file(const struct stack_file *file, long flags)
{
	return (int)agent_syscall(__NR_open, (long)file->path,
				  flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600, 0);
}

/*
 * Allocate disk space for a range of the file. Without disk space, a write to the mapped
 * file would kill the program with SIGBUS when the disk is full.
 */
static bool reserve(int fd, uint64_t offset, uint64_t bytes)
{
	return agent_syscall(__NR_fallocate, fd, 0, (long)offset, (long)bytes) == 0;
}

static uint64_t bytes_of_nodes(uint32_t count)
{
	return STACK_NODES_OFFSET + (uint64_t)count * STACK_NODE_BYTES;
}

/*
 * Map the file at its full size, with holes: as many nodes as fit into the address space
 * and into the maximum file size (RLIMIT_FSIZE). If the file exceeded this size, the
 * kernel would kill the program with SIGXFSZ.
 */
static void *map(struct stack_file *file, int fd)
{
	uint64_t addresses = limit_of(RLIMIT_AS_) / SHARE_OF_ADDRESSES;
	uint64_t room = (limit_of(RLIMIT_FSIZE_) - STACK_NODES_OFFSET) / STACK_NODE_BYTES;

	for (uint32_t count = STACK_NODE_MAX; count >= NODES_MIN; count /= 2) {
		long p;

		file->node_max = count < room ? count : (uint32_t)room;
		file->mapped_bytes = bytes_of_nodes(file->node_max);
		if ((uint64_t)file->node_max * STACK_NODE_BYTES > addresses ||
		    agent_syscall(__NR_ftruncate, fd, (long)file->mapped_bytes, 0, 0) < 0)
			continue;
		p = agent_syscall6(__NR_mmap,
				   (const long[6]){ 0, (long)file->mapped_bytes,
						    PROT_READ | PROT_WRITE, MAP_SHARED,
						    fd, 0 });
		if (p >= 0 || p <= -4096)
			return (void *)p;
	}
	return NULL;
}

static void fill_head(struct stack_file *file, const struct stack_mode *mode)
{
	struct stack_file_head *head = file->head;

	head->version = STACK_FILE_VERSION;
	head->head_bytes = STACK_HEAD_BYTES;
	head->node_bytes = STACK_NODE_BYTES;
	head->modules_offset = STACK_HEAD_BYTES;
	head->nodes_offset = STACK_NODES_OFFSET;
	head->pid = (int32_t)agent_syscall(__NR_getpid, 0, 0, 0, 0);
	head->flags = (mode->has_live ? STACK_LIVE : 0) |
		      (mode->is_checked ? STACK_CHECKED : 0);
	head->sample_bytes = mode->sample_bytes;
	head->scale_bits = mode->sample_bytes ? STACK_SCALE_BITS : 0;
	file->nodes[STACK_NODE_CUT].pc = STACK_FILE_PC_CUT;
	head->node_count = STACK_NODE_CUT + 1;
	/* write the magic number last, because readers ignore the file until it is set */
	__atomic_store_n(&head->magic, STACK_FILE_MAGIC, __ATOMIC_RELEASE);
}

bool stack_file_create(struct stack_file *file, const struct stack_mode *mode,
		       uint32_t node_count)
{
	uint32_t count = node_count < NODES_FIRST ? NODES_FIRST : node_count;
	void *mapped = NULL;
	int fd = open_file(file, O_CREAT | O_EXCL);

	file->head = NULL;
	if (fd < 0)
		return false;
	if (bytes_of_nodes(count) <= limit_of(RLIMIT_FSIZE_) &&
	    reserve(fd, 0, STACK_HEAD_BYTES + MODULE_BYTES_STEP) &&
	    reserve(fd, STACK_NODES_OFFSET, (uint64_t)count * STACK_NODE_BYTES))
		mapped = map(file, fd);
	if (mapped && count > file->node_max) {
		stack_memory_release(mapped, file->mapped_bytes);
		mapped = NULL;
	}
	if (!mapped)
		agent_syscall(__NR_ftruncate, fd, 0, 0, 0);
	agent_syscall(__NR_close, fd, 0, 0, 0);
	if (!mapped)
		return false;
	file->head = mapped;
	file->nodes = (void *)((char *)mapped + STACK_NODES_OFFSET);
	file->reserved_nodes = count;
	file->reserved_module_bytes = MODULE_BYTES_STEP;
	file->module_bytes = 0;
	file->is_full = false;
	file->module_lock = 0;
	fill_head(file, mode);
	return true;
}

void stack_file_close(struct stack_file *file)
{
	if (file->head)
		stack_memory_release(file->head, file->mapped_bytes);
	file->head = NULL;
}

static bool has_node_room(const struct stack_file *file, uint32_t from, uint32_t to)
{
	return ask_for_room((uintptr_t)&file->nodes[from], (uintptr_t)&file->nodes[to]);
}

/*
 * Allocate disk space for nodes up to number `end`. Return false if there is no space.
 * Several threads may allocate space for the same nodes at the same time, which is
 * harmless.
 */
static bool extend_to(struct stack_file *file, uint32_t end)
{
	uint32_t before = __atomic_load_n(&file->reserved_nodes, __ATOMIC_ACQUIRE);
	uint32_t after = before + NODES_FIRST;
	bool has_room;

	if (end <= before)
		return true;
	if (file->is_full || end > file->node_max || !ask_may(file->permission))
		return false;
	if (after > file->node_max)
		after = file->node_max;
	has_room = has_node_room(file, before, after);
	/* if the disk has no space for a large block of nodes, try a small block */
	if (!has_room) {
		after = before + NODES_FIRST / 16;
		has_room = after <= file->node_max && has_node_room(file, before, after);
	}
	while (has_room && before < after &&
	       !__atomic_compare_exchange_n(&file->reserved_nodes, &before, after, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	file->is_full = !has_room;
	return has_room && end <= after;
}

bool stack_file_take_nodes(struct stack_file *file, uint32_t count, uint32_t *ret)
{
	uint32_t begin = __atomic_load_n(&file->head->node_count, __ATOMIC_RELAXED);

	do
		if (begin <= STACK_NODE_CUT || begin > file->node_max - count ||
		    !extend_to(file, begin + count))
			return false;
	while (!__atomic_compare_exchange_n(&file->head->node_count, &begin,
					    begin + count, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED));
	*ret = begin;
	return true;
}

uint32_t stack_file_count_nodes(const struct stack_file *file)
{
	uint32_t count = __atomic_load_n(&file->head->node_count, __ATOMIC_RELAXED);
	uint32_t room = __atomic_load_n(&file->reserved_nodes, __ATOMIC_RELAXED);

	if (count <= STACK_NODE_CUT)
		return STACK_NODE_CUT + 1;
	return count < room ? count : room;
}

const struct stack_file_module *stack_file_next_module(const struct stack_file *file,
						       uint32_t *at)
{
	const uint32_t min = offsetof(struct stack_file_module, path) + 1;
	uint32_t room = file->module_bytes - *at, record_bytes;
	const struct stack_file_module *m =
		(const void *)((const char *)file->head + STACK_HEAD_BYTES + *at);

	if (room < min)
		return NULL;
	record_bytes = __atomic_load_n(&m->record_bytes, __ATOMIC_RELAXED);
	if (record_bytes < min || record_bytes % 8 != 0 || record_bytes > room)
		return NULL;
	*at += record_bytes;
	return m;
}

/*
 * Return true if the module record `a` in the file equals `b` and has this path. `end` is
 * the end of all records in the file, because in a damaged file the path may have no NUL
 * at its end.
 */
static bool is_same(const struct stack_file_module *a, const struct stack_file_module *b,
		    const char *path, const char *end)
{
	size_t room = (size_t)(end - a->path), i = 0;

	if (a->start != b->start || a->end != b->end || a->load_bias != b->load_bias ||
	    a->build_id_bytes != b->build_id_bytes)
		return false;
	for (size_t k = 0; k < sizeof(b->build_id) && k < b->build_id_bytes; k++)
		if (a->build_id[k] != b->build_id[k])
			return false;
	if (room > MODULE_BYTES_STEP)
		room = MODULE_BYTES_STEP;
	while (i < room && a->path[i] && a->path[i] == path[i])
		i++;
	return i < room && a->path[i] == path[i];
}

/* Return the last module whose address range overlaps with this range, or NULL. */
static const struct stack_file_module *find_last(const struct stack_file *file,
						 const struct stack_file_module *module)
{
	const struct stack_file_module *last = NULL, *m;
	uint32_t at = 0;

	while ((m = stack_file_next_module(file, &at)))
		if (m->start < module->end && module->start < m->end)
			last = m;
	return last;
}

static bool has_module_room(struct stack_file *file, uint32_t end)
{
	uintptr_t from =
		(uintptr_t)file->head + STACK_HEAD_BYTES + file->reserved_module_bytes;

	if (end <= file->reserved_module_bytes)
		return true;
	if (end > STACK_MODULES_BYTES || !ask_may(file->permission) ||
	    !ask_for_room(from, from + MODULE_BYTES_STEP))
		return false;
	file->reserved_module_bytes += MODULE_BYTES_STEP;
	return true;
}

static void lock_modules(struct stack_file *file)
{
	while (__atomic_exchange_n(&file->module_lock, 1, __ATOMIC_ACQUIRE))
		ask_wait(&file->module_lock, file->permission);
}

void stack_file_seal(struct stack_file *file, enum ask_permission wanted)
{
	if (wanted != ASK_ALWAYS && file->permission == ASK_ALWAYS) {
		while (file->head && extend_to(file, file->reserved_nodes + 1) &&
		       file->reserved_nodes < NODES_SEALED)
			;
		lock_modules(file);
		while (file->head && file->reserved_module_bytes < MODULES_SEALED &&
		       has_module_room(file, file->reserved_module_bytes + 1))
			;
		__atomic_store_n(&file->module_lock, 0, __ATOMIC_RELEASE);
		hold_memory();
	}
	file->permission = held.permission = wanted;
}

static void append(struct stack_file *file, const struct stack_file_module *module,
		   uint32_t first_node, const char *path)
{
	uint32_t at = file->module_bytes, path_bytes = 1, record_bytes;
	struct stack_file_module *to;

	while (path_bytes < MODULE_BYTES_STEP && path[path_bytes - 1])
		path_bytes++;
	record_bytes = (uint32_t)(sizeof(*to) + path_bytes + 7) & ~UINT32_C(7);
	if (record_bytes > MODULE_BYTES_STEP ||
	    !has_module_room(file, at + record_bytes)) {
		__atomic_fetch_add(&file->head->lost_module_count, 1, __ATOMIC_RELAXED);
		return;
	}
	to = (void *)((char *)file->head + STACK_HEAD_BYTES + at);
	*to = *module;
	to->first_node = first_node;
	to->record_bytes = (uint16_t)record_bytes;
	for (uint32_t i = 0; i < path_bytes - 1; i++)
		to->path[i] = path[i];
	to->path[path_bytes - 1] = '\0';
	file->module_bytes = at + record_bytes;
	__atomic_store_n(&file->head->module_bytes, file->module_bytes, __ATOMIC_RELEASE);
}

int stack_file_add_module(struct stack_file *file, const struct stack_file_module *module,
			  const char *path)
{
	const struct stack_file_module *last;
	const char *end;
	int r = 0;

	lock_modules(file);
	end = (const char *)file->head + STACK_HEAD_BYTES + file->module_bytes;
	last = find_last(file, module);
	if (!last || !is_same(last, module, path, end)) {
		uint32_t first_node = module->first_node;

		r = last != NULL;
		/*
		 * nodes with lower numbers belong to the modules previously mapped at
		 * these addresses
		 */
		if (last && !first_node)
			first_node = __atomic_load_n(&file->head->node_count,
						     __ATOMIC_RELAXED);
		append(file, module, first_node, path);
	}
	__atomic_store_n(&file->module_lock, 0, __ATOMIC_RELEASE);
	return r;
}
