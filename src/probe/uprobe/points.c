/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/uprobe/points.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/known_names.h"
#include "probe/count/names.h"
#include "probe/uprobe/inner.h"
#include "probe/uprobe/slide.h"
#include "proc/process/dir.h"
#include "tracee/elf/exports.h"
#include "tracee/elf/link_order.h"
#include "tracee/elf/reader.h"
#include "tracee/memory/mapped_file.h"

/* Maximum size of the code of one function, and of an allocator, in bytes. */
#define FUNCTION_MAX_BYTES 65536
#define INNER_MAX_BYTES (UINT64_C(4) << 20)

#define NAME_COUNT COUNTED_NAME_COUNT

static_assert(NAME_COUNT < COUNT_POINTS_MAX, "each has a place");

/* A mapped file in which memstate searches for functions to count. */
struct searched_file {
	const struct mapping *mapping;
	int fd;
	struct elf_exports exports;
};

struct search {
	const struct count_place *place;
	struct count_points *points;
	struct strbuf *why;
	/* the files that define the functions in `points` */
	struct searched_file files[COUNT_FILES_MAX];
	bool is_found[NAME_COUNT];
	/* for each name in counted_names, the index of the function in points->items */
	size_t point_of[NAME_COUNT];
};

static void release(struct searched_file *file)
{
	elf_exports_release(&file->exports);
	if (file->fd >= 0)
		close(file->fd);
}

static const struct mapping *first_of_file(const struct mapping_list *mappings,
					   const struct mapping *m)
{
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *other = &mappings->items[i];

		if (other->inode == m->inode && other->dev_major == m->dev_major &&
		    other->dev_minor == m->dev_minor)
			return other;
	}
	return m;
}

static const struct elf_export *find_function(const struct searched_file *file,
					      const char *name)
{
	const struct elf_export *found = elf_exports_find(&file->exports, name);

	return found && found->is_function ? found : NULL;
}

/*
 * Read the code at a link-time address of the file. Return the number of bytes read, at
 * most FUNCTION_MAX_BYTES.
 */
static size_t read_code(const struct searched_file *file, uint64_t vaddr, uint64_t bytes,
			uint8_t *to)
{
	uint64_t offset_bytes;
	ssize_t n;

	if (!elf_exports_offset(&file->exports, vaddr, &offset_bytes))
		return 0;
	n = pread(file->fd, to, bytes < FUNCTION_MAX_BYTES ? bytes : FUNCTION_MAX_BYTES,
		  (off_t)offset_bytes);
	return n < 0 ? 0 : (size_t)n;
}

/*
 * Find the address range of all code in the file. Used for a library that contains only
 * an allocator.
 */
static void find_all_code(const struct searched_file *file, uint64_t *ret_start,
			  uint64_t *ret_end)
{
	for (size_t i = 0; i < file->exports.part_count; i++) {
		const struct elf_part *part = &file->exports.parts[i];

		if (!part->is_code)
			continue;
		*ret_start = part->vaddr;
		*ret_end = part->vaddr + part->file_bytes;
	}
}

/*
 * Find the address range from the first to the last function of a family of allocator
 * functions. Used for a libc, a program, or a library that is not only an allocator.
 */
static void find_family(const struct searched_file *file, enum count_family family,
			uint64_t *ret_start, uint64_t *ret_end)
{
	uint64_t start = UINT64_MAX, end = 0;

	for (size_t i = 0; i < NAME_COUNT; i++) {
		const struct elf_export *e = find_function(file, counted_names[i].name);

		if (!e || counted_names[i].family != family ||
		    counted_names[i].call == CALL_REALLOCARRAY ||
		    counted_names[i].call == CALL_NEW ||
		    counted_names[i].call == CALL_DELETE)
			continue;
		start = e->vaddr < start ? e->vaddr : start;
		end = e->vaddr + e->bytes > end ? e->vaddr + e->bytes : end;
	}
	if (start < end && end - start <= INNER_MAX_BYTES) {
		*ret_start = start;
		*ret_end = end;
	}
}

static bool is_allocator(const struct searched_file *file)
{
	return library_name_find(file->mapping->name) &&
	       !find_function(file, "__libc_start_main");
}

/*
 * Return true if the function needs its own breakpoint. C++ new and delete need one only
 * if the allocator implements them; otherwise they call malloc and free.
 */
static bool is_own(const struct searched_file *file, enum counted_call call)
{
	const struct count_code code = { .fd = file->fd, .exports = &file->exports };
	bool is_new = call == CALL_NEW;
	const struct elf_export *function =
		find_function(file, is_new ? "_Znwm" : "_ZdlPv");
	const struct elf_export *called = find_function(file, is_new ? "malloc" : "free");

	if (!is_new && call != CALL_DELETE)
		return true;
	return function && called && !count_inner_calls(&code, function, called->vaddr);
}

/*
 * Add a breakpoint for a function, and return its index. If the function has already been
 * added under another name, return the index of the existing breakpoint.
 */
static size_t add_point(struct search *search, const struct searched_file *file,
			const struct elf_export *function,
			const struct counted_name *name)
{
	_cleanup_free_ uint8_t *code = xmalloc(FUNCTION_MAX_BYTES);
	size_t length = read_code(file, function->vaddr, function->bytes, code);
	struct count_points *points = search->points;
	struct count_slide slide;
	uint64_t offset_bytes;

	if (length == 0 ||
	    !elf_exports_offset(&file->exports, function->vaddr, &offset_bytes))
		return COUNT_POINT_NONE;
	for (size_t i = 0; i < points->count; i++)
		if (points->items[i].file == points->file_count &&
		    points->items[i].vaddr == function->vaddr)
			return i;
	count_slide_find(code, length, &slide);
	points->items[points->count] = (struct count_point){
		.call = name->call,
		.size_is_first = name->size_is_first,
		.file = points->file_count,
		.vaddr = function->vaddr,
		.offset_bytes = offset_bytes + slide.offset_bytes,
		.pushed_bytes = slide.pushed_bytes,
		.is_stepped = slide.is_stepped,
		.target = COUNT_POINT_NONE,
	};
	return points->count++;
}

/*
 * Add breakpoints for the file's functions, but only for names at index first_name of
 * counted_names or later. Skip functions that were found in an earlier file. Return true
 * if at least one breakpoint was added.
 */
static bool add_functions(struct search *search, const struct searched_file *file,
			  size_t first_name)
{
	struct count_points *points = search->points;
	size_t before = points->count;

	if (points->file_count == COUNT_FILES_MAX)
		return false;
	for (size_t i = first_name; i < NAME_COUNT; i++) {
		const struct elf_export *function =
			find_function(file, counted_names[i].name);

		if (!function || search->is_found[i])
			continue;
		search->is_found[i] = true;
		if (counted_name_is_extra(i) || is_own(file, counted_names[i].call))
			search->point_of[i] =
				add_point(search, file, function, &counted_names[i]);
	}
	if (points->count == before)
		return false;
	search->files[points->file_count] = *file;
	points->files[points->file_count++] =
		(struct count_file){ .fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0),
				     .name = xstrdup(file->mapping->name) };
	return true;
}

/*
 * Add breakpoints for the calls that the allocator makes to its own functions. This
 * function must be called after all functions have been added.
 */
static int add_inner(struct search *search)
{
	struct count_name names[NAME_COUNT];
	uint64_t steps_left = INNER_STEPS_MAX;
	int r = 0;

	for (size_t i = 0; i < NAME_COUNT; i++)
		names[i] =
			(struct count_name){ counted_names[i].name, search->point_of[i] };
	for (size_t i = 0; r == 0 && i < search->points->file_count; i++) {
		const struct searched_file *file = &search->files[i];
		struct count_code code = { .fd = file->fd,
					   .exports = &file->exports,
					   .file = i,
					   .steps_left = &steps_left };
		int family_count = is_allocator(file) ? 1 : COUNT_FAMILY_COUNT_;

		for (int family = 0; r == 0 && family < family_count; family++) {
			code.start_vaddr = code.end_vaddr = 0;
			if (is_allocator(file))
				find_all_code(file, &code.start_vaddr, &code.end_vaddr);
			else
				find_family(file, (enum count_family)family,
					    &code.start_vaddr, &code.end_vaddr);
			if (family == 0 || code.start_vaddr < code.end_vaddr)
				r = count_inner_add(search->points, &code, names,
						    NAME_COUNT);
		}
	}
	if (r == -E2BIG) {
		strbuf_add_text(
			search->why,
			"its allocator calls itself in too many places, or has too "
			"much code");
		r = -EOPNOTSUPP;
	}
	return r;
}

static bool has_standard(const struct search *search)
{
	for (size_t i = 0; i < COUNTED_STANDARD_COUNT; i++)
		if (!search->is_found[i] && counted_names[i].call != CALL_NEW &&
		    counted_names[i].call != CALL_DELETE &&
		    strcmp(counted_names[i].name, "cfree") != 0)
			return false;
	return true;
}

enum file_kind {
	FILE_LIBRARY, /* a library or program whose exported functions are searched */
	/*
	 * a program with a linked-in allocator whose functions have names other than
	 * malloc; its symbols are searched instead of its exports
	 */
	FILE_PROGRAM,
	FILE_STATIC_PROGRAM
};

/*
 * Search a file for functions to count. Return 0 even if the file defines none of them,
 * or -errno if the file cannot be read.
 */
static int search_file(struct search *search, const struct mapping *m,
		       enum file_kind kind)
{
	const struct mapping *first = first_of_file(search->place->mappings, m);
	struct searched_file file = { .mapping = first, .exports = ELF_EXPORTS_INIT };
	int r;

	file.fd = mapped_file_open(search->place->process_fd, first);
	r = file.fd;
	if (r >= 0)
		r = kind != FILE_LIBRARY
			    ? elf_exports_read_program(file.fd, &file.exports)
			    : elf_exports_read(file.fd, &file.exports);
	if (r < 0 && r != -ENODATA && r != -ENOEXEC)
		strbuf_addf(search->why, "%s: cannot be read: %s", first->name,
			    strerror(-r));
	if (r < 0 || !add_functions(search, &file,
				    kind == FILE_PROGRAM ? COUNTED_STANDARD_COUNT : 0))
		release(&file);
	return r == -ENODATA || r == -ENOEXEC ? 0 : r;
}

static int search_libraries(struct search *search)
{
	struct memory memory = MEMORY_INIT;
	struct link_order order = LINK_ORDER_INIT;
	_cleanup_close_ int mem =
		proc_dir_open_file(search->place->process_fd, PROC_MEM, O_RDONLY);
	_cleanup_close_ int pagemap =
		proc_dir_open_file(search->place->process_fd, PROC_PAGEMAP, O_RDONLY);
	int r = mem < 0 ? mem : pagemap < 0 ? pagemap : 0;

	memory.process_fd = search->place->process_fd;
	memory.mem_fd = mem;
	memory.pagemap_fd = pagemap;
	memory.mappings = search->place->mappings;
	if (r == 0)
		r = link_order_read(&memory, &order);
	if (r < 0 && r != -ENODATA)
		strbuf_addf(search->why, "its list of libraries cannot be read: %s",
			    strerror(-r));
	for (size_t i = 0; r == 0 && i < order.count; i++) {
		size_t length = search->why->length;

		r = search_file(search, order.items[i], FILE_LIBRARY);
		/*
		 * Once all standard functions have been found, ignore a file that cannot
		 * be read, because it may have been replaced after it was loaded.
		 */
		if (r < 0 && has_standard(search)) {
			strbuf_truncate(search->why, length);
			r = 0;
		}
	}
	link_order_release(&order);
	memory_release(&memory);
	return r == -ENODATA ? 0 : r;
}

/* Return the mapping of the process's main program, or NULL. */
static const struct mapping *find_program(const struct count_place *place)
{
	for (size_t i = 0; i < place->mappings->count; i++) {
		const struct mapping *m = &place->mappings->items[i];
		_cleanup_close_ int fd = -1;
		struct stat program, file;

		if (m->inode == 0 ||
		    proc_dir_stat(place->process_fd, PROC_EXE, &program) < 0)
			continue;
		if (program.st_ino != m->inode)
			continue;
		fd = mapped_file_open(place->process_fd, m);
		if (fd >= 0 && fstat(fd, &file) == 0 && file.st_ino == program.st_ino &&
		    file.st_dev == program.st_dev)
			return m;
	}
	return NULL;
}

/* Return true if the file is already in search->files. */
static bool is_searched(const struct search *search, const struct mapping *m)
{
	const struct mapping *first = first_of_file(search->place->mappings, m);

	for (size_t i = 0; i < search->points->file_count; i++)
		if (search->files[i].mapping == first)
			return true;
	return false;
}

/* Check that uprobes can be used for this process and for the requested figures. */
static int check_program(const struct count_place *place, struct strbuf *why)
{
	_cleanup_close_ int fd = proc_dir_open_program(place->process_fd);
	int r = fd < 0 ? fd : 0;

	if (place->request && place->request->wants_stacks) {
		strbuf_add_text(
			why,
			"stacks cannot be followed from outside without frame pointers");
		return -EOPNOTSUPP;
	}
	if (r < 0) {
		strbuf_addf(why, "its program cannot be read: %s", strerror(-r));
		return r == -ENOENT ? -ESRCH : r;
	}
	if (!elf_is_native(fd)) {
		strbuf_add_text(why, "it is a program of 32 bits, or for another "
				     "machine type");
		return -EOPNOTSUPP;
	}
	return 0;
}

int count_points_find(const struct count_place *place, struct count_points *ret,
		      struct strbuf *why)
{
	struct count_points points = COUNT_POINTS_INIT;
	struct search search = { .place = place, .points = &points, .why = why };
	const struct mapping *program;
	int r = check_program(place, why);

	for (size_t i = 0; i < NAME_COUNT; i++)
		search.point_of[i] = COUNT_POINT_NONE;
	if (r == 0)
		r = search_libraries(&search);
	program = r == 0 ? find_program(place) : NULL;
	if (program && points.count == 0)
		r = search_file(&search, program, FILE_STATIC_PROGRAM);
	else if (program && !is_searched(&search, program))
		(void)search_file(&search, program, FILE_PROGRAM);
	if (r == 0 && (points.count == 0 || !search.is_found[0])) {
		strbuf_add_text(
			why,
			"cannot find malloc: it is in no library of the process, and "
			"not among the symbols of the program (a static one must not be "
			"stripped)");
		r = -ENOENT;
	}
	if (r == 0)
		r = add_inner(&search);
	for (size_t i = 0; i < points.file_count; i++)
		release(&search.files[i]);
	if (r < 0) {
		count_points_release(&points);
		return r;
	}
	*ret = points;
	return 0;
}

size_t count_points_list_fds(const struct count_points *points, int ret[COUNT_FILES_MAX])
{
	for (size_t i = 0; i < points->file_count; i++)
		ret[i] = points->files[i].fd;
	return points->file_count;
}

void count_points_release(struct count_points *points)
{
	for (size_t i = 0; i < points->file_count; i++) {
		if (points->files[i].fd >= 0)
			close(points->files[i].fd);
		free(points->files[i].name);
	}
	*points = (struct count_points)COUNT_POINTS_INIT;
}

void count_points_add_files(const struct count_points *points, struct strbuf *out)
{
	for (size_t i = 0; i < points->file_count; i++)
		strbuf_addf(out, "%s%s", i > 0 ? ", " : "", points->files[i].name);
}
