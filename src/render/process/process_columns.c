/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdio.h>

#include "base/xalloc.h"
#include "base/user.h"
#include "classify/process/heap_problem.h"
#include "model/heap.h"
#include "render/table/column.h"

static const struct usage *usage_of(const void *row)
{
	return ((const struct process_row *)row)->usage;
}

/* columns that describe the sample instead of a process */

enum {
	SAMPLE_TIME,
	SAMPLE_ELAPSED,
	SAMPLE_AGE,
	SAMPLE_READ
};

static void get_sample(const void *row, int arg, struct value *ret)
{
	const struct snapshot *snapshot = ((const struct process_row *)row)->snapshot;
	const struct usage *u = usage_of(row);

	switch (arg) {
	case SAMPLE_TIME: value_set_number(ret, snapshot->unix_ms); break;
	case SAMPLE_ELAPSED: value_set_number(ret, snapshot->elapsed_ns); break;
	case SAMPLE_AGE:
		if (u->source > SOURCE_STAT)
			value_set_number(ret, snapshot->taken_ns > u->taken_ns
						      ? snapshot->taken_ns - u->taken_ns
						      : 0);
		break;
	case SAMPLE_READ:
		/* recordings do not contain the time spent on reading the process */
		if (u->source > SOURCE_STAT)
			value_set_amount(ret, u->read_ns);
		break;
	}
}

/* Columns that identify and describe the process. */

enum {
	PROCESS_PID,
	PROCESS_PPID,
	PROCESS_THREADS,
	PROCESS_MINFLT,
	PROCESS_MAJFLT,
	PROCESS_START
};

static void get_process(const void *row, int arg, struct value *ret)
{
	const struct process *p = &usage_of(row)->process;

	switch (arg) {
	case PROCESS_PID: value_set_number(ret, (uint64_t)p->pid); break;
	case PROCESS_PPID: value_set_number(ret, (uint64_t)p->ppid); break;
	case PROCESS_THREADS: value_set_number(ret, p->thread_count); break;
	case PROCESS_MINFLT: value_set_number(ret, p->minor_fault_count); break;
	case PROCESS_MAJFLT: value_set_number(ret, p->major_fault_count); break;
	case PROCESS_START: value_set_number(ret, p->start_ticks); break;
	}
}

static void get_state(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text_part(ret, &usage_of(row)->process.state, 1);
}

static void get_comm(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, usage_of(row)->process.comm);
}

/*
 * Get the command line of a process, or its name if it has no command line. Kernel
 * threads have no command line, and a process can erase its own.
 */
static void get_command(const void *row, int arg, struct value *ret)
{
	const struct usage *u = usage_of(row);

	(void)arg;
	value_set_text(ret, u->command && u->command[0] ? u->command : u->process.comm);
}

/*
 * A cached user name. A sort looks up thousands of user names, and each lookup may
 * read a file. Entries are never freed, because columns borrow the names while two
 * rows are compared.
 */
struct user {
	struct user *next;
	uint32_t uid;
	char name[64];
};

#define USER_BUCKETS 64

static const char *user_name(uint32_t uid)
{
	static struct user *users[USER_BUCKETS];
	struct user **bucket = &users[uid % USER_BUCKETS];
	const char *name;
	struct user *user;

	for (user = *bucket; user; user = user->next)
		if (user->uid == uid)
			return user->name;
	user = xcalloc(1, sizeof(*user));
	name = user_find_name(uid);
	if (name)
		snprintf(user->name, sizeof(user->name), "%s", name);
	else
		snprintf(user->name, sizeof(user->name), "%u", uid);
	user->uid = uid;
	user->next = *bucket;
	*bucket = user;
	return user->name;
}

/* Get the name of the user, or the uid if the user has no name. */
static void get_user(const void *row, int arg, struct value *ret)
{
	uint32_t uid = usage_of(row)->process.uid;

	(void)arg;
	if (uid != UINT32_MAX)
		value_set_text(ret, user_name(uid));
}

/* Columns that describe the memory of the process. */

static void get_total(const void *row, int arg, struct value *ret)
{
	value_set_amount(ret, usage_of(row)->total.bytes[arg]);
}

static void get_state_bytes(const void *row, int arg, struct value *ret)
{
	value_set_amount(ret, usage_of(row)->state_bytes[arg]);
}

static void get_owner_bytes(const void *row, int arg, struct value *ret)
{
	value_set_amount(ret,
			 matrix_owner_bytes(&usage_of(row)->matrix, (enum owner)arg));
}

static void get_cell(const void *row, int arg, struct value *ret)
{
	value_set_amount(ret, matrix_cell_bytes(&usage_of(row)->matrix,
						(enum owner)(arg / STATE_COUNT_),
						(enum page_state)(arg % STATE_COUNT_)));
}

/* Columns for amounts that are computed from several fields. */
enum {
	MADE_SIZE,
	MADE_USS,
	MADE_HUGETLB,
	MADE_THP,
	MADE_UNBACKED,
	MADE_RESERVED,
	MADE_TRIMMABLE,
	MADE_UNEXPLAINED,
};

static void get_made(const void *row, int arg, struct value *ret)
{
	const struct usage *u = usage_of(row);

	switch (arg) {
	case MADE_SIZE: value_set_amount(ret, u->process.stat_size_bytes); break;
	case MADE_USS: value_set_amount(ret, usage_uss_bytes(u)); break;
	case MADE_HUGETLB: value_set_amount(ret, usage_hugetlb_bytes(u)); break;
	case MADE_THP: value_set_amount(ret, usage_thp_bytes(u)); break;
	case MADE_UNBACKED: value_set_amount(ret, u->unbacked_bytes); break;
	case MADE_RESERVED: value_set_amount(ret, u->reserved_bytes); break;
	case MADE_TRIMMABLE: value_set_amount(ret, u->trimmable_bytes); break;
	case MADE_UNEXPLAINED: value_set_amount(ret, usage_unexplained_bytes(u)); break;
	}
}

static void get_mapping_count(const void *row, int arg, struct value *ret)
{
	const struct usage *u = usage_of(row);

	(void)arg;
	if (u->mapping_count != MAPPING_COUNT_UNKNOWN)
		value_set_number(ret, u->mapping_count);
}

static void get_allocator(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, allocator_names[usage_of(row)->allocator]);
}

enum {
	HEAP_ALL_BYTES,
	HEAP_LIVE_BYTES,
	HEAP_AMOUNT_COUNT_
};

/*
 * Get an amount of a heap. `arg` is the allocator times HEAP_AMOUNT_COUNT_ plus
 * the amount.
 */
static void get_heap_amount(const void *row, int arg, struct value *ret)
{
	enum allocator allocator = (enum allocator)(arg / HEAP_AMOUNT_COUNT_);
	bool is_live = arg % HEAP_AMOUNT_COUNT_ == HEAP_LIVE_BYTES;

	value_set_amount(ret, usage_heaps_sum(usage_of(row), allocator, is_live));
}

static void get_heap_quality(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, quality_names[usage_of(row)->heap_quality]);
}

static void get_heap_source(const void *row, int arg, struct value *ret)
{
	const struct usage *u = usage_of(row);

	(void)arg;
	if (u->heap_quality != QUALITY_UNKNOWN)
		value_set_text(ret, u->heap_is_reported ? "helper" : "walk");
}

static void get_source(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, source_names[usage_of(row)->source]);
}

enum {
	HEAP_AGE,
	HEAP_PAUSE
};

static void get_heap(const void *row, int arg, struct value *ret)
{
	const struct usage *u = usage_of(row);

	switch (arg) {
	case HEAP_AGE:
		if (u->heap_taken_ns != 0)
			value_set_number(ret, u->taken_ns - u->heap_taken_ns);
		break;
	case HEAP_PAUSE:
		if (u->heap_pause_ns != 0)
			value_set_number(ret, u->heap_pause_ns);
		break;
	}
}

static void get_heap_problem(const void *row, int arg, struct value *ret)
{
	const char *problem = heap_problem_text(usage_of(row));

	(void)arg;
	value_set_text(ret, problem ? problem : usage_of(row)->helper_problem);
}

enum {
	REPORTED_SYSTEM,
	REPORTED_LIVE,
	REPORTED_POOL,
	REPORTED_COST
};

static void get_reported(const void *row, int arg, struct value *ret)
{
	const struct reported *reported = &usage_of(row)->reported;
	const uint64_t amounts[] = {
		[REPORTED_SYSTEM] = reported->system_bytes,
		[REPORTED_LIVE] = reported->live_bytes,
		[REPORTED_POOL] = reported->pool_bytes,
		[REPORTED_COST] = reported->cost_ns,
	};

	value_set_amount(ret, amounts[arg]);
}

/* The data to read for figures that are known or accurate only after a heap walk. */
#define NEED_WALK (NEED_SMAPS | NEED_HEAP)

#define TOTAL(name, heading, field, help)                                             \
	{                                                                             \
		name, heading, help, VALUE_BYTES, true, NEED_ROLLUP, field, get_total \
	}
#define MADE(name, heading, needs, which, help)                                \
	{                                                                      \
		name, heading, help, VALUE_BYTES, true, needs, which, get_made \
	}
#define STATE(name, heading, needs, state, help)                                      \
	{                                                                             \
		name, heading, help, VALUE_BYTES, true, needs, state, get_state_bytes \
	}
#define OWNER(name, heading, needs, owner, help)                                      \
	{                                                                             \
		name, heading, help, VALUE_BYTES, true, needs, owner, get_owner_bytes \
	}
#define PROCESS(name, heading, is_descending, which, help)                         \
	{                                                                          \
		name, heading, help, VALUE_COUNT, is_descending, NEED_STAT, which, \
			get_process                                                \
	}

#define REPORTED(name, heading, which, help)                                           \
	{                                                                              \
		name, heading, help, VALUE_BYTES, true, NEED_WALK, which, get_reported \
	}

#define CELL(owner, needs, OWNER_, state, STATE_)                                        \
	{                                                                                \
		owner "_" state "_bytes", NULL, "cell of the matrix: " owner ", " state, \
			VALUE_BYTES, true, needs, OWNER_ *STATE_COUNT_ + STATE_,         \
			get_cell                                                         \
	}
#define CELLS(owner, needs, OWNER_)                                               \
	CELL(owner, needs, OWNER_, "private_dirty", STATE_PRIVATE_DIRTY),         \
		CELL(owner, needs, OWNER_, "lazyfree", STATE_LAZYFREE),           \
		CELL(owner, needs, OWNER_, "private_clean", STATE_PRIVATE_CLEAN), \
		CELL(owner, needs, OWNER_, "shared_dirty", STATE_SHARED_DIRTY),   \
		CELL(owner, needs, OWNER_, "shared_clean", STATE_SHARED_CLEAN)

#define HEAPS_OF(name, heading, allocator, owner)                                      \
	{ name "_heap_bytes",                                                          \
	  heading,                                                                     \
	  "resident bytes of the heap of " owner ", free memory included",             \
	  VALUE_BYTES,                                                                 \
	  true,                                                                        \
	  NEED_WALK,                                                                   \
	  (allocator)*HEAP_AMOUNT_COUNT_ + HEAP_ALL_BYTES,                             \
	  get_heap_amount },                                                           \
	{                                                                              \
		name "_live_bytes", heading "LIVE",                                    \
			"resident bytes allocated in the heap of " owner, VALUE_BYTES, \
			true, NEED_WALK,                                               \
			(allocator)*HEAP_AMOUNT_COUNT_ + HEAP_LIVE_BYTES,              \
			get_heap_amount                                                \
	}

static const struct column columns[] = {
	{ "time", "TIME", "time of the sample, RFC 3339, UTC", VALUE_TIME, false, 0,
	  SAMPLE_TIME, get_sample },
	{ "elapsed_s", "ELAPSED", "seconds since the series began", VALUE_SECONDS, false,
	  0, SAMPLE_ELAPSED, get_sample },
	{ "pid", "PID", "process id", VALUE_COUNT, false, 0, PROCESS_PID, get_process },
	PROCESS("ppid", "PPID", false, PROCESS_PPID, "parent's process id"),
	{ "user", "USER", "effective user, or its uid", VALUE_TEXT, false, NEED_UID, 0,
	  get_user },
	{ "state", "S", "R running, S sleeping, D uninterruptible, T stopped, Z zombie …",
	  VALUE_WORD, false, NEED_STAT, 0, get_state },
	{ "comm", "NAME", "name of the process (the main thread's)", VALUE_TEXT, false,
	  NEED_COMM, 0, get_comm },
	{ "command", "COMMAND", "command line", VALUE_TEXT, false,
	  NEED_STAT | NEED_COMMAND, 0, get_command },
	PROCESS("threads", "THR", true, PROCESS_THREADS, "number of threads"),
	PROCESS("minor_faults", "MINFLT", true, PROCESS_MINFLT,
		"page faults without I/O"),
	PROCESS("major_faults", "MAJFLT", true, PROCESS_MAJFLT, "page faults with I/O"),
	PROCESS("start_ticks", "START", true, PROCESS_START,
		"start time since boot in clock ticks: distinguishes reused pids"),

	MADE("size_bytes", "SIZE", NEED_STAT, MADE_SIZE, "address space (VmSize)"),
	TOTAL("rss_bytes", "RSS", SMAPS_RSS, "resident memory: the sum of the states"),
	TOTAL("pss_bytes", "PSS", SMAPS_PSS,
	      "Rss with each shared page divided by its number of mappings"),
	MADE("uss_bytes", "USS", NEED_ROLLUP, MADE_USS,
	     "private resident memory: freed when the process exits"),
	STATE("private_dirty_bytes", "PDIRTY", NEED_ROLLUP, STATE_PRIVATE_DIRTY,
	      "private, written: can only be swapped out"),
	STATE("lazyfree_bytes", "LAZYFREE", NEED_ROLLUP, STATE_LAZYFREE,
	      "freed with MADV_FREE: the kernel reclaims it when it needs to"),
	STATE("private_clean_bytes", "PCLEAN", NEED_ROLLUP | NEED_STATES,
	      STATE_PRIVATE_CLEAN, "private, not written: can be dropped and read again"),
	STATE("shared_dirty_bytes", "SDIRTY", NEED_ROLLUP, STATE_SHARED_DIRTY,
	      "mapped by several processes, written"),
	STATE("shared_clean_bytes", "SCLEAN", NEED_ROLLUP | NEED_STATES,
	      STATE_SHARED_CLEAN, "mapped by several processes, not written"),
	MADE("unbacked_bytes", "UNBACKED", NEED_SMAPS, MADE_UNBACKED,
	     "accessible private anonymous address space without pages"),
	MADE("reserved_bytes", "RESERVED", NEED_SMAPS, MADE_RESERVED,
	     "PROT_NONE private anonymous address space without pages"),
	TOTAL("swap_bytes", "SWAP", SMAPS_SWAP, "swapped out"),
	TOTAL("swap_pss_bytes", "SWAPPSS", SMAPS_SWAP_PSS,
	      "Swap with each shared page divided by its number of users"),
	{ "allocator", "ALLOCATOR", "malloc in use, identified by the mapped libraries",
	  VALUE_WORD, false, NEED_SMAPS, 0, get_allocator },
	OWNER("live_bytes", "LIVE", NEED_WALK, OWNER_LIVE,
	      "resident bytes of allocated blocks"),
	OWNER("pool_pages_bytes", "POOL", NEED_WALK, OWNER_POOL_PAGES,
	      "freed, whole resident pages kept by the allocator"),
	OWNER("pool_fragments_bytes", "FRAGS", NEED_WALK, OWNER_POOL_FRAGMENTS,
	      "freed, on pages shared with live blocks"),
	OWNER("heap_meta_bytes", "META", NEED_WALK, OWNER_HEAP_META,
	      "the allocator's own data"),
	OWNER("stack_bytes", "STACK", NEED_SMAPS, OWNER_STACK,
	      "stacks of all threads, resident"),
	OWNER("anon_bytes", "ANON", NEED_WALK, OWNER_ANON,
	      "other private anonymous memory; includes the heap until it is read"),
	OWNER("file_bytes", "FILE", NEED_SMAPS, OWNER_FILE,
	      "mapped files, including private copies"),
	OWNER("shmem_bytes", "SHMEM", NEED_SMAPS, OWNER_SHMEM,
	      "shared memory: tmpfs, memfd, SysV, shared anonymous"),
	MADE("trimmable_bytes", "TRIM", NEED_WALK, MADE_TRIMMABLE,
	     "memory that trimming all heaps, as malloc_trim(0) does, would return"),
	HEAPS_OF("malloc", "MALLOC", ALLOCATOR_UNKNOWN, "malloc"),
	HEAPS_OF("go", "GO", ALLOCATOR_GO, "the Go runtime"),
	HEAPS_OF("python", "PYTHON", ALLOCATOR_PYTHON, "Python's object allocator"),
	HEAPS_OF("java", "JAVA", ALLOCATOR_HOTSPOT, "the Java virtual machine"),
	HEAPS_OF("php", "PHP", ALLOCATOR_PHP, "PHP"),
	HEAPS_OF("js", "JS", ALLOCATOR_V8, "JavaScript (V8)"),
	HEAPS_OF("ruby", "RUBY", ALLOCATOR_RUBY, "Ruby objects"),
	{ "heap_quality", "HEAP", "quality of the heap's owners", VALUE_WORD, false,
	  NEED_WALK, 0, get_heap_quality },
	{ "heap_age_s", "HEAPAGE", "age of the heap's figures when the others were read",
	  VALUE_SECONDS, true, NEED_WALK, HEAP_AGE, get_heap },
	{ "heap_pause_s", "PAUSE",
	  "time for which the last walk of the heap paused the process", VALUE_COST, true,
	  NEED_WALK, HEAP_PAUSE, get_heap },
	{ "heap_problem", "HEAPWHY",
	  "why the heap's figures are unknown or inexact, or why its allocator could "
	  "not be queried",
	  VALUE_TEXT, false, NEED_WALK, 0, get_heap_problem },
	{ "heap_source", "HEAPBY", "source of the heap's owners: walk or helper",
	  VALUE_WORD, false, NEED_WALK, 0, get_heap_source },
	REPORTED("said_system_bytes", "SAIDSYS", REPORTED_SYSTEM,
		 "memory that the allocator reports to have obtained from the "
		 "kernel (--heap helper)"),
	REPORTED("said_live_bytes", "SAIDLIVE", REPORTED_LIVE,
		 "memory that the allocator reports as allocated, resident or "
		 "not"),
	REPORTED("said_pool_bytes", "SAIDPOOL", REPORTED_POOL,
		 "memory that the allocator reports as free, resident or not"),
	{ "said_cost_s", "SAIDCOST",
	  "time that the allocator took to answer, inside the process", VALUE_COST, true,
	  NEED_WALK, REPORTED_COST, get_reported },

	MADE("thp_bytes", "THP", NEED_ROLLUP, MADE_THP,
	     "resident in transparent huge pages"),
	MADE("hugetlb_bytes", "HUGETLB", NEED_ROLLUP, MADE_HUGETLB,
	     "hugetlb pages, never part of Rss"),
	TOTAL("anonymous_bytes", "ANONYMOUS", SMAPS_ANONYMOUS,
	      "resident anonymous pages, including those of private file mappings"),
	TOTAL("referenced_bytes", "REF", SMAPS_REFERENCED,
	      "resident and accessed since the referenced bits were last "
	      "cleared"),
	TOTAL("ksm_bytes", "KSM", SMAPS_KSM, "merged with equal pages"),
	TOTAL("locked_bytes", "LOCKED", SMAPS_LOCKED, "locked by mlock, in Pss"),
	MADE("unexplained_bytes", "UNEXPL", NEED_ROLLUP | NEED_STATES, MADE_UNEXPLAINED,
	     "Rss minus the sum of all parts: 0 unless the process changed while it "
	     "was read"),
	{ "mappings", "MAPS", "number of mappings", VALUE_COUNT, true, NEED_SMAPS, 0,
	  get_mapping_count },
	{ "source", "SOURCE", "the file that the memory figures come from", VALUE_WORD,
	  false, 0, 0, get_source },
	{ "age_s", "AGE", "age of the memory figures when the sample was shown",
	  VALUE_SECONDS, true, 0, SAMPLE_AGE, get_sample },
	{ "read_s", "READ", "time that reading the memory figures took", VALUE_COST, true,
	  NEED_ROLLUP, SAMPLE_READ, get_sample },
	CELLS("live", NEED_WALK, OWNER_LIVE),
	CELLS("pool_pages", NEED_WALK, OWNER_POOL_PAGES),
	CELLS("pool_fragments", NEED_WALK, OWNER_POOL_FRAGMENTS),
	CELLS("heap_meta", NEED_WALK, OWNER_HEAP_META),
	CELLS("stack", NEED_SMAPS, OWNER_STACK),
	CELLS("anon", NEED_WALK, OWNER_ANON),
	CELLS("file", NEED_SMAPS, OWNER_FILE),
	CELLS("shmem", NEED_SMAPS, OWNER_SHMEM),
};

const struct column_set process_columns = {
	.columns = columns,
	.count = sizeof(columns) / sizeof(columns[0]),
	.csv_default =
		"time,elapsed_s,pid,comm,size_bytes,rss_bytes,pss_bytes,uss_bytes,"
		"private_dirty_bytes,lazyfree_bytes,private_clean_bytes,shared_dirty_bytes,"
		"shared_clean_bytes,unbacked_bytes,swap_bytes,allocator,live_bytes,"
		"pool_pages_bytes,pool_fragments_bytes,heap_meta_bytes,stack_bytes,anon_bytes,"
		"file_bytes,shmem_bytes,trimmable_bytes,heap_quality,heap_age_s,heap_pause_s",
	.table_default = "pid,user,rss_bytes,pss_bytes,uss_bytes,private_dirty_bytes,"
			 "lazyfree_bytes,swap_bytes,command",
	.sort_default = "rss_bytes",
};
