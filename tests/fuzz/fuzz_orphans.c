/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process in which memstate looks for hooks and gates that another memstate left
 * behind: its mappings, and its memory, which is a memfd. The input contains the number
 * of mappings, the mappings, and the content of the memory: copies of the hooks and
 * gates, and arbitrary bytes.
 */
#include "config.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/blob.h"
#include "fuzz.h"
#include "probe/borrow/private_code.h"
#include "probe/count/hooks_orphans.h"
#include "proc/process/stat.h"

#define PAGE UINT64_C(4096)
#define MEMORY_BYTES (UINT64_C(8) << 20)
#define FOUND_MAX 16
#define MAPPINGS_MAX 16
/* the last page there ends at 2^64 */
#define HIGH_ADDR (UINT64_MAX - MEMORY_BYTES + 1)
#define ENDED_PID INT32_MAX /* larger than any pid */

enum mapping_kind {
	ONE,
	LAYOUT,
	HIGH,
	KIND_COUNT
};
enum content_kind {
	BYTES,
	HOOKS,
	HOOKS_UNOWNED,
	GATES,
	CONTENT_COUNT
};

struct input_mapping {
	uint8_t kind, gap_pages, pages, flags;
};

struct input_content {
	uint8_t kind, bytes;
	uint16_t page, offset;
};

struct reader {
	const uint8_t *data;
	size_t size;
};

static struct procfs fs;
static int mem_fd = -1, segment;
static uint64_t pid_namespace;
static struct process self;

static bool take(struct reader *reader, void *ret, size_t bytes)
{
	if (reader->size < bytes)
		return false;
	memcpy(ret, reader->data, bytes);
	reader->data += bytes;
	reader->size -= bytes;
	return true;
}

/* Set up the memory and the segment. The segment is removed when this process ends. */
static void begin(void)
{
	struct stat st;

	mem_fd = memfd_create("orphans", MFD_CLOEXEC);
	segment = shmget(IPC_PRIVATE, HOOKS_COUNTS_BYTES, IPC_CREAT | 0600);
	CHECK(mem_fd >= 0 && segment >= 0);
	CHECK(shmat(segment, NULL, SHM_RDONLY) != (void *)-1);
	CHECK(shmctl(segment, IPC_RMID, NULL) == 0);
	CHECK(procfs_open(&fs, "/proc") == 0);
	CHECK(stat("/proc/self/ns/pid", &st) == 0);
	pid_namespace = st.st_ino;
	CHECK(proc_stat_read(&fs, getpid(), &self) == 0);
}

/* Return the address after the mapping. */
static uint64_t add(struct mapping_list *list, uint64_t addr, uint64_t bytes,
		    uint8_t flags)
{
	const struct mapping m = {
		.start_addr = addr,
		.end_addr = bytes > UINT64_MAX - addr ? UINT64_MAX - PAGE + 1
						      : addr + bytes,
		.flags = flags & (MAPPING_ACCESS | MAPPING_SHARED),
		.inode = flags & 0x40 ? 7 : 0,
		.name = flags & 0x80 ? "/lib/file" : "",
		.name_length = flags & 0x80 ? 9 : 0,
	};

	if (m.start_addr < m.end_addr)
		mapping_list_add(list, &m);
	return m.end_addr;
}

/*
 * Add the mappings of hooks without stacks, laid out as memstate does. Return their end.
 */
static uint64_t add_layout(struct mapping_list *list, uint64_t addr)
{
	struct mapping counts = {
		.flags = MAPPING_READ | MAPPING_WRITE | MAPPING_SHARED,
		.inode = (uint64_t)segment,
		.name = "/SYSV00000000 (deleted)",
		.name_length = 23,
	};

	addr = add(list, addr, HOOKS_COUNTS_OFFSET, MAPPING_READ | MAPPING_EXEC);
	counts.start_addr = addr;
	counts.end_addr = addr + HOOKS_COUNTS_BYTES;
	mapping_list_add(list, &counts);
	return add(list, counts.end_addr, HOOKS_PRIVATE_BYTES,
		   MAPPING_READ | MAPPING_WRITE);
}

static void add_mappings(struct reader *reader, struct mapping_list *list)
{
	uint64_t addr = PAGE;
	uint8_t count = 0;

	if (!take(reader, &count, sizeof(count)))
		return;
	for (int i = 0; i < count % MAPPINGS_MAX; i++) {
		struct input_mapping m;

		if (!take(reader, &m, sizeof(m)))
			return;
		if (m.kind % KIND_COUNT == HIGH && addr < HIGH_ADDR)
			addr = HIGH_ADDR;
		if (addr >= UINT64_MAX - MEMORY_BYTES / 2)
			return;
		addr += m.gap_pages * PAGE;
		if (m.kind % KIND_COUNT == LAYOUT && addr < HIGH_ADDR)
			addr = add_layout(list, addr);
		else
			addr = add(list, addr, m.pages * PAGE, m.flags);
	}
}

static void write_memory(uint64_t addr, const void *bytes, size_t size)
{
	if (addr + size <= MEMORY_BYTES)
		CHECK(pwrite(mem_fd, bytes, size, (off_t)addr) == (ssize_t)size);
}

static void write_hooks(uint64_t addr, bool has_owner)
{
	struct hooks_head head;
	size_t bytes;
	const void *hooks = agent_hooks(&bytes);

	memcpy(&head, hooks, sizeof(head));
	head.range_bytes = HOOKS_BYTES;
	head.owner_pid = has_owner ? (uint64_t)getpid() : ENDED_PID;
	head.owner_start_ticks = self.start_ticks;
	head.owner_namespace = pid_namespace;
	write_memory(addr, hooks, bytes);
	write_memory(addr, &head, sizeof(head));
}

static void fill_memory(struct reader *reader)
{
	struct input_content content;
	struct gates *gates;
	uint8_t bytes[UINT8_MAX];

	CHECK(ftruncate(mem_fd, 0) == 0 && ftruncate(mem_fd, (off_t)MEMORY_BYTES) == 0);
	while (take(reader, &content, sizeof(content))) {
		uint64_t addr = content.page % (MEMORY_BYTES / PAGE) * PAGE;

		switch ((enum content_kind)(content.kind % CONTENT_COUNT)) {
		case HOOKS:
		case HOOKS_UNOWNED:
			write_hooks(addr, content.kind % CONTENT_COUNT == HOOKS);
			break;
		case GATES:
			gates = gates_make();
			write_memory(addr, gates, sizeof(*gates));
			free(gates);
			break;
		default:
			if (!take(reader, bytes, content.bytes))
				return;
			write_memory(addr + content.offset, bytes, content.bytes);
		}
	}
}

/*
 * Check that every byte equals the hooks' own code, except the
 * fields that memstate fills in.
 */
static void check_hooks(uint64_t addr)
{
	static uint8_t there[HOOKS_CODE_BYTES];
	const size_t filled = offsetof(struct hooks_head, owner_pid);
	struct hooks_head head;
	size_t bytes;
	const uint8_t *hooks = agent_hooks(&bytes);
	bool is_same = pread(mem_fd, there, bytes, (off_t)addr) == (ssize_t)bytes;

	for (size_t i = sizeof(head.originals); is_same && i < bytes; i++)
		if (there[i] != hooks[i] && (i < filled || i >= sizeof(head)))
			is_same = false;
	memcpy(&head, there, sizeof(head));
	is_same =
		is_same && head.record_count <= HOOKS_RECORD_MAX &&
		(head.range_bytes == HOOKS_BYTES || head.range_bytes == HOOKS_ALL_BYTES);
	CHECK(hooks_exist(mem_fd, addr, &head) == is_same);
}

static void check_gates(uint64_t addr)
{
	const size_t from = offsetof(struct gates, targets);
	struct gates *expected = gates_make(), there, ret;
	bool is_same = pread(mem_fd, &there, sizeof(there), (off_t)addr) == sizeof(there);

	for (size_t i = 0; is_same && i < sizeof(there); i++)
		if (((uint8_t *)&there)[i] != ((uint8_t *)expected)[i] &&
		    (i < from || i >= from + sizeof(there.targets)))
			is_same = false;
	CHECK(gates_exist(mem_fd, addr, &ret) == is_same);
	CHECK(!is_same || memcmp(&ret, &there, sizeof(ret)) == 0);
	free(expected);
}

/* Check that the range consists of private code and data, and of the segment. */
static void check_range(const struct mapping_list *list, uint64_t addr, uint64_t bytes)
{
	uint64_t end = addr + bytes;

	CHECK(bytes > 0 && addr < end && addr % PAGE == 0);
	while (addr < end) {
		const struct mapping *m = mapping_list_find(list, addr);

		CHECK(m && (m->inode == 0 || m->inode == (uint64_t)segment));
		CHECK(m->inode != 0 ||
		      (m->name[0] == '\0' && !(m->flags & MAPPING_SHARED)));
		addr = m->end_addr;
	}
}

static void check_found(const struct mapping_list *list,
			const struct private_code_mark *mark,
			void (*check)(uint64_t addr))
{
	uint64_t found[FOUND_MAX];
	size_t count = private_code_find(list, mem_fd, mark, found, FOUND_MAX);
	uint32_t words[2];

	CHECK(count <= FOUND_MAX);
	for (size_t i = 0; i < count; i++) {
		CHECK(found[i] % PAGE == 0 && (i == 0 || found[i] > found[i - 1]));
		check_range(list, found[i], PAGE);
		CHECK(private_code_covers(list, found[i], PAGE));
		CHECK(pread(mem_fd, words, sizeof(words),
			    (off_t)(found[i] + mark->offset)) == sizeof(words));
		CHECK(memcmp(words, mark->words, sizeof(words)) == 0);
		check(found[i]);
	}
}

static void check_orphans(const struct mapping_list *list)
{
	const struct hooks_search search = { .fs = &fs,
					     .mappings = list,
					     .mem_fd = mem_fd };
	struct hooks_orphan orphans[HOOKS_ORPHANS_MAX];
	struct gates *gates = NULL;
	int owner_pid;
	size_t count = hooks_orphans_find(&search, orphans, &owner_pid);

	CHECK(count <= HOOKS_ORPHANS_MAX);
	for (size_t i = 0; i < count; i++) {
		check_range(list, orphans[i].addr, orphans[i].bytes);
		CHECK(hooks_orphans_is_one(&search, &orphans[i]));
	}
	if (hooks_orphans_find_gates(&search, &gates))
		CHECK(gates);
	free(gates);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct private_code_mark hooks = { { HOOKS_MAGIC, HOOKS_VERSION },
						 offsetof(struct hooks_head, magic) };
	const struct private_code_mark gates = { { GATES_MAGIC, HOOKS_VERSION }, 0 };
	struct mapping_list list = MAPPING_LIST_INIT;
	struct reader reader = { data, size };
	size_t bytes;

	if (!agent_hooks(&bytes))
		return 0;
	if (mem_fd < 0)
		begin();
	add_mappings(&reader, &list);
	fill_memory(&reader);
	check_found(&list, &hooks, check_hooks);
	check_found(&list, &gates, check_gates);
	check_orphans(&list);
	/* a range that extends past the address space is not covered */
	CHECK(!private_code_covers(&list, UINT64_MAX - PAGE + 1, 2 * PAGE));
	mapping_list_release(&list);
	return 0;
}
