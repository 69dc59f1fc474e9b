/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/landmarks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/blob.h"
#include "base/cleanup.h"
#include "base/search.h"
#include "base/xalloc.h"
#include "model/allocator_signs.h"
#include "model/known_names.h"
#include "probe/borrow/loaded.h"
#include "probe/borrow/machine.h"
#include "tracee/elf/exports.h"

/* Prefix of the names of all libraries that memstate preloads. */
#define OWN_LIBRARY "libmemstate-"

/* Upper bound on the size of libc's code. */
#define CODE_MAX_BYTES (UINT64_C(64) << 20)

/* All functions that glibc's malloc.o exports. */
static const char *const malloc_family[] = {
	"malloc",      "calloc",	   "realloc",	       "free",
	"cfree",       "memalign",	   "aligned_alloc",    "valloc",
	"pvalloc",     "posix_memalign",   "malloc_trim",      "malloc_usable_size",
	"mallinfo",    "mallinfo2",	   "malloc_stats",     "mallopt",
	"malloc_info", "malloc_get_state", "malloc_set_state",
};

/* Functions of libc that hold a lock which pthread_create() also needs. */
static const char *const lock_holders[] = {
	"pthread_create",
	"pthread_exit",
	"pthread_getattr_np",
	"dlopen",
	"dlclose",
	"dlsym",
	"dlvsym",
	"dlmopen",
	"dladdr",
	"dladdr1",
	"dlinfo",
	"dlerror",
	"dl_iterate_phdr",
	"_dl_addr",
	"_dl_catch_exception",
	"_dl_catch_error",
	"__libc_dlopen_mode",
	"__libc_dlsym",
	"fork",
	"_Fork",
	"vfork",
	"posix_spawn",
	"posix_spawnp",
	"__lll_lock_wait",
	"__lll_lock_wait_private",
	"setuid",
	"setgid",
	"setreuid",
	"setregid",
	"setresuid",
	"setresgid",
	"seteuid",
	"setegid",
	"setgroups",
	"initgroups",
};

/*
 * Runtimes that keep data for each thread, and must therefore intercept the creation of
 * each thread. If such a runtime misses the creation of a thread, the new thread crashes
 * in the first function that the runtime intercepts.
 */
static const struct {
	const char *name, *reason;
} sanitizers[] = {
	{ "__tsan_init",
	  "it runs under ThreadSanitizer, which crashes in a thread that it did not "
	  "start" },
	{ "__asan_init",
	  "it runs under AddressSanitizer, which has its own threads and malloc" },
	{ "__hwasan_init",
	  "it runs under HWAddressSanitizer, which has its own threads and malloc" },
	{ "__msan_init",
	  "it runs under MemorySanitizer, which has its own threads and malloc" },
	{ "__lsan_init",
	  "it runs under LeakSanitizer, which has its own threads and malloc" },
	{ "__dfsan_init", "it runs under DataFlowSanitizer, which has its own threads" },
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static bool is_in(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool is_of_malloc(const char *name)
{
	if (strncmp(name, "__libc_", 7) == 0)
		name += 7;
	else if (strncmp(name, "__", 2) == 0)
		name += 2;
	return is_in(malloc_family, LENGTH(malloc_family), name);
}

static void add_range(struct landmarks *marks, uint64_t start_addr, uint64_t end_addr)
{
	marks->ranges = xgrow(marks->ranges, &marks->range_capacity,
			      marks->range_count + 1, sizeof(*marks->ranges));
	marks->ranges[marks->range_count++] = (struct code_range){ start_addr, end_addr };
}

static bool is_code_of(const struct mapping *m, const struct loaded *file)
{
	return (m->flags & MAPPING_EXEC) && m->inode == file->first->inode &&
	       m->dev_major == file->first->dev_major &&
	       m->dev_minor == file->first->dev_minor;
}

static void add_all_code(struct landmarks *marks, const struct loaded *file,
			 const struct mapping_list *mappings)
{
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];

		if (is_code_of(m, file))
			add_range(marks, m->start_addr, m->end_addr);
	}
}

static void add_libc_code(struct landmarks *marks, const struct loaded *file)
{
	for (size_t i = 0; i < file->mappings->count; i++) {
		const struct mapping *m = &file->mappings->items[i];

		if (is_code_of(m, file) && marks->libc_count < LANDMARKS_LIBC_MAX)
			marks->libc[marks->libc_count++] =
				(struct code_range){ m->start_addr, m->end_addr };
	}
}

/*
 * Add libc's code from malloc.o, including its static functions, to the code ranges: it
 * is the range from the end of the preceding exported function to the start of the
 * following one.
 */
static int add_malloc(struct landmarks *marks, const struct loaded *libc)
{
	const struct elf_exports *exports = &libc->exports;
	uint64_t low = UINT64_MAX, high = 0, before = 0, behind = UINT64_MAX;

	for (size_t i = 0; i < exports->count; i++) {
		const struct elf_export *e = &exports->items[i];

		if (!e->is_function || !is_of_malloc(e->name))
			continue;
		low = e->vaddr < low ? e->vaddr : low;
		high = e->vaddr + e->bytes > high ? e->vaddr + e->bytes : high;
	}
	for (size_t i = 0; i < exports->count; i++) {
		const struct elf_export *e = &exports->items[i];

		if (!e->is_function || is_of_malloc(e->name))
			continue;
		if (e->vaddr + e->bytes <= low && e->vaddr + e->bytes > before)
			before = e->vaddr + e->bytes;
		if (e->vaddr >= high && e->vaddr < behind)
			behind = e->vaddr;
	}
	if (low >= high || before == 0 || behind == UINT64_MAX)
		return -EOPNOTSUPP;
	add_range(marks, libc->base_addr + before, libc->base_addr + behind);
	return 0;
}

static void add_lock_holders(struct landmarks *marks, const struct loaded *file)
{
	for (size_t i = 0; i < file->exports.count; i++) {
		const struct elf_export *e = &file->exports.items[i];

		if (e->is_function && is_in(lock_holders, LENGTH(lock_holders), e->name))
			add_range(marks, file->base_addr + e->vaddr,
				  file->base_addr + e->vaddr + e->bytes);
	}
}

/* Return the address at which the given bytes first occur in the file's code, or 0. */
static uint64_t find_code(const struct loaded *file, const uint8_t *code, size_t length)
{
	for (size_t i = 0; i < file->exports.part_count; i++) {
		const struct elf_part *part = &file->exports.parts[i];
		_cleanup_free_ uint8_t *text = NULL;
		const uint8_t *found;
		ssize_t n;

		if (!part->is_code || part->file_bytes > CODE_MAX_BYTES)
			continue;
		text = xmalloc(part->file_bytes + 1);
		n = pread(file->fd, text, part->file_bytes, (off_t)part->offset_bytes);
		found = n > 0 ? memmem(text, (size_t)n, code, length) : NULL;
		if (found)
			return file->base_addr + part->vaddr + (uint64_t)(found - text);
	}
	return 0;
}

static int read_libc(struct landmarks *marks, const struct loaded *libc,
		     const char **ret_reason)
{
	size_t syscall_bytes, sigreturn_bytes;
	const uint8_t *syscall_code = machine_syscall_code(&syscall_bytes);
	const uint8_t *sigreturn_code = machine_sigreturn_code(&sigreturn_bytes);

	marks->syscall_addr = find_code(libc, syscall_code, syscall_bytes);
	marks->sigreturn_addr = find_code(libc, sigreturn_code, sigreturn_bytes);
	if (!marks->syscall_addr || !marks->sigreturn_addr) {
		*ret_reason = "its libc lacks the code that a borrowed thread requires";
		return -EOPNOTSUPP;
	}
	if (add_malloc(marks, libc) < 0) {
		*ret_reason = "the location of malloc in its libc cannot be determined";
		return -EOPNOTSUPP;
	}
	return 0;
}

static int check_sanitizer(const struct loaded *file, const char **ret_reason)
{
	for (size_t i = 0; i < LENGTH(sanitizers); i++)
		if (elf_exports_find(&file->exports, sanitizers[i].name)) {
			*ret_reason = sanitizers[i].reason;
			return -EOPNOTSUPP;
		}
	return 0;
}

/*
 * Return true if the file replaces malloc. memstate's own preloaded library does not
 * count as a replacement, because it passes all calls on to the next malloc.
 */
static bool has_own_malloc(const struct loaded *file)
{
	const char *slash = strrchr(file->first->name, '/');

	return elf_exports_find(&file->exports, "malloc") &&
	       elf_exports_find(&file->exports, "free") && !loaded_is_linker(file) &&
	       !(slash && strncmp(slash + 1, OWN_LIBRARY, strlen(OWN_LIBRARY)) == 0);
}

/*
 * Record the addresses of a file's functions, and its code ranges. Return 0 or
 * -errno. If several files define a function, the first file takes precedence, as in
 * the dynamic linker.
 */
static int add_file(struct landmarks *marks, const struct loaded *file,
		    const struct mapping_list *mappings, const char **ret_reason)
{
	bool is_libc = elf_exports_find(&file->exports, "gnu_get_libc_version");
	int r = check_sanitizer(file, ret_reason);

	if (r < 0)
		return r;
	if (!is_libc && has_own_malloc(file) &&
	    !elf_exports_find(&file->exports,
			      agent_function_names[AGENT_FN_MALLINFO2][0]))
		marks->has_other_malloc = true;
	if (marks->pthread_create_addr == 0)
		marks->pthread_create_addr = loaded_address(file, "pthread_create");
	for (size_t i = 0; i < AGENT_FN_COUNT_; i++)
		for (size_t j = 0; j < AGENT_ALIAS_MAX && agent_function_names[i][j]; j++)
			if (marks->functions.addr[i] == 0)
				marks->functions.addr[i] =
					loaded_address(file, agent_function_names[i][j]);
	if (is_libc || marks->syscall_addr == 0)
		add_lock_holders(marks, file);
	if (is_libc || elf_exports_find(&file->exports, "pthread_mutex_unlock"))
		add_libc_code(marks, file);
	if (marks->wants_tables)
		code_tables_add(&marks->tables, file);
	if (loaded_is_linker(file))
		add_all_code(marks, file, mappings);
	else if (is_libc)
		return read_libc(marks, file, ret_reason);
	else if (elf_exports_find(&file->exports, "malloc") ||
		 elf_exports_find(&file->exports, "calloc"))
		add_all_code(marks, file, mappings);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct code_range *left = a, *right = b;

	return (left->start_addr > right->start_addr) -
	       (left->start_addr < right->start_addr);
}

/* Sort the code ranges, and merge overlapping ones. */
static void sort_ranges(struct landmarks *marks)
{
	size_t kept = 0;

	if (marks->range_count == 0)
		return;
	qsort(marks->ranges, marks->range_count, sizeof(*marks->ranges), compare);
	for (size_t i = 1; i < marks->range_count; i++) {
		struct code_range *last = &marks->ranges[kept], *next = &marks->ranges[i];

		if (next->start_addr > last->end_addr)
			marks->ranges[++kept] = *next;
		else if (next->end_addr > last->end_addr)
			last->end_addr = next->end_addr;
	}
	marks->range_count = kept + 1;
}

static int add(void *context, const struct loaded *file, const char **ret_reason)
{
	struct landmarks *marks = context;

	return add_file(marks, file, file->mappings, ret_reason);
}

static bool is_go(const struct mapping_list *mappings)
{
	for (size_t i = 0; i < mappings->count; i++)
		if (is_heap_of_go(&mappings->items[i]))
			return true;
	return false;
}

static const char *explain_no_libc(const struct mapping_list *mappings)
{
	if (is_go(mappings))
		return "it is a static Go program, without glibc";
	for (size_t i = 0; i < mappings->count; i++) {
		const struct library_name *library =
			library_name_find(mappings->items[i].name);

		if (library && library->allocator == ALLOCATOR_MUSL)
			return "its libc is musl, not glibc";
	}
	return "it is a static program, or has no shared glibc";
}

static int read_code(int process_fd, const struct mapping_list *mappings,
		     bool wants_tables, struct landmarks *ret, const char **ret_reason)
{
	struct landmarks marks = { .wants_tables = wants_tables };
	int r = loaded_read_all(process_fd, mappings, add, &marks, ret_reason);

	if (r == 0 && (marks.syscall_addr == 0 || marks.pthread_create_addr == 0)) {
		*ret_reason = explain_no_libc(mappings);
		r = -EOPNOTSUPP;
	}
	if (r < 0) {
		landmarks_release(&marks);
		return r;
	}
	sort_ranges(&marks);
	*ret = marks;
	return 0;
}

int landmarks_read_code(int process_fd, const struct mapping_list *mappings,
			struct landmarks *ret, const char **ret_reason)
{
	return read_code(process_fd, mappings, false, ret, ret_reason);
}

static bool has_any(const struct agent_functions *functions)
{
	for (size_t i = 0; i < AGENT_FN_COUNT_; i++)
		if (functions->addr[i] != 0)
			return true;
	return false;
}

/*
 * Clear the addresses of glibc's malloc functions, because the program uses
 * another allocator.
 */
static void forget_libc_functions(struct landmarks *marks)
{
	marks->functions.addr[AGENT_FN_MALLINFO2] = 0;
	marks->functions.addr[AGENT_FN_MALLOC_INFO] = 0;
	marks->functions.addr[AGENT_FN_FOPENCOOKIE] = 0;
	marks->functions.addr[AGENT_FN_SETVBUF] = 0;
	marks->functions.addr[AGENT_FN_FCLOSE] = 0;
}

/*
 * If the program uses an allocator that has no function for reading its figures, return a
 * phrase that explains this. Otherwise return NULL.
 */
static const char *explain_allocator(const struct mapping_list *mappings,
				     bool has_other_malloc)
{
	struct allocator_signs signs = ALLOCATOR_SIGNS_INIT;
	bool has_heap = false;

	for (size_t i = 0; i < mappings->count; i++) {
		allocator_signs_add(&signs, &mappings->items[i]);
		has_heap = has_heap || strcmp(mappings->items[i].name, "[heap]") == 0;
	}
	/*
	 * The mappings were read without resident sizes, so it is unknown whether
	 * [heap] or the memory of PartitionAlloc is larger. If there is a [heap] and
	 * no other malloc, assume that the program uses libc's malloc, and that only
	 * V8 uses PartitionAlloc.
	 */
	if (signs.pools.is_found && (has_other_malloc || !has_heap))
		return "its allocator is PartitionAlloc (Chromium), which reports no figures";
	return NULL;
}

/*
 * Return the reason why no function of the process reports its allocator's figures, or
 * NULL if there is such a function.
 */
static const char *explain_no_figures(const struct mapping_list *mappings,
				      const struct landmarks *marks)
{
	const char *reason;

	if (is_go(mappings))
		return "it is a Go program, whose memory is not managed by malloc";
	reason = explain_allocator(mappings, marks->has_other_malloc);
	if (reason)
		return reason;
	if (has_any(&marks->functions))
		return NULL;
	return marks->has_other_malloc
		       ? "its malloc is not glibc's, and has no function that reports "
			 "figures"
		       : "its allocator has no function that reports figures";
}

int landmarks_read(int process_fd, const struct mapping_list *mappings,
		   struct landmarks *ret, const char **ret_reason)
{
	struct landmarks marks = LANDMARKS_INIT;
	int r = read_code(process_fd, mappings, true, &marks, ret_reason);

	if (r < 0)
		return r;
	if (marks.has_other_malloc)
		forget_libc_functions(&marks);
	*ret_reason = explain_no_figures(mappings, &marks);
	if (*ret_reason) {
		landmarks_release(&marks);
		return -ENOSYS;
	}
	*ret = marks;
	return 0;
}

void landmarks_release(struct landmarks *marks)
{
	free(marks->ranges);
	code_tables_release(&marks->tables);
	*marks = (struct landmarks)LANDMARKS_INIT;
}

bool landmarks_hold(const struct landmarks *marks, uint64_t addr)
{
	size_t low =
		SEARCH_FIRST(marks->range_count, i, marks->ranges[i].end_addr > addr);

	return low < marks->range_count && addr >= marks->ranges[low].start_addr;
}

bool landmarks_in_libc(const struct landmarks *marks, uint64_t addr)
{
	for (size_t i = 0; i < marks->libc_count; i++)
		if (addr >= marks->libc[i].start_addr && addr < marks->libc[i].end_addr)
			return true;
	return false;
}
