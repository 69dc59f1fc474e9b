/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modules - find the programs and libraries (modules) that contain the code of a call
 * stack, with the help of ld.so. Each module is written to the stack file when its code
 * is first seen.
 */
#include "config.h"

#include "agent/count/stacks.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define KNOWN_MAX (1 << 10)
#define PAGE_BYTES 4096

/*
 * The result type of _dl_find_object() in glibc 2.35 and later, which older versions of
 * <dlfcn.h> lack.
 */
struct found_object {
	unsigned long long flags;
	void *start, *end;
	struct link_map *link_map;
	void *tables;
	unsigned long long reserved[7];
};
typedef int find_object_function(void *address, struct found_object *ret);

/*
 * address of _dl_find_object(), which takes no lock; NULL to use dl_iterate_phdr()
 * instead
 */
static find_object_function *find_object;
static int (*next_dlclose)(void *handle);

/*
 * The modules that are already in the stack file. An element is valid only if `end` is
 * set, because `end` is written last.
 */
static struct {
	uint64_t start, end;
} known[KNOWN_MAX];
static uint32_t known_count;
static char program_path[STACK_PATH_BYTES];

struct wanted {
	uint64_t pc;
	struct unwind_module module;
	const char *name;
	uint64_t load_bias;
	const ElfW(Phdr) * headers;
	size_t header_count;
};

static bool is_in_segment(const struct wanted *w, const ElfW(Phdr) * header,
			  uint64_t addr)
{
	uint64_t start = w->load_bias + header->p_vaddr;

	return header->p_type == PT_LOAD && addr >= start &&
	       addr - start < header->p_memsz;
}

/* Find the unwind tables of a module, and the segment that contains them. */
static void use_headers(struct wanted *w)
{
	struct unwind_module *m = &w->module;

	for (size_t i = 0; i < w->header_count; i++)
		if (w->headers[i].p_type == PT_GNU_EH_FRAME)
			m->tables_addr = w->load_bias + w->headers[i].p_vaddr;
	if (m->tables_addr >= m->start && m->tables_addr < m->end)
		return;
	for (size_t i = 0; i < w->header_count; i++) {
		if (!is_in_segment(w, &w->headers[i], m->tables_addr))
			continue;
		m->tables_start = w->load_bias + w->headers[i].p_vaddr;
		m->tables_end = m->tables_start + w->headers[i].p_memsz;
		return;
	}
	m->tables_addr = 0;
}

/*
 * Return true if there are gaps between the module's segments, in which other files may
 * be mapped.
 */
static bool has_holes(const struct wanted *w)
{
	uint64_t end = 0;

	for (size_t i = 0; i < w->header_count; i++) {
		const ElfW(Phdr) *h = &w->headers[i];

		if (h->p_type != PT_LOAD)
			continue;
		if (end && (h->p_vaddr & ~(uint64_t)(PAGE_BYTES - 1)) > end)
			return true;
		end = (h->p_vaddr + h->p_memsz + PAGE_BYTES - 1) &
		      ~(uint64_t)(PAGE_BYTES - 1);
	}
	return false;
}

/*
 * Set the module's address range to all its segments. If there are gaps between the
 * segments, set the range to the segment with the code.
 */
static void set_range(struct wanted *w, const ElfW(Phdr) * code)
{
	bool is_whole = !has_holes(w);

	w->module = (struct unwind_module){ .start = UINT64_MAX };
	for (size_t i = 0; i < w->header_count; i++) {
		const ElfW(Phdr) *h = &w->headers[i];
		uint64_t start = w->load_bias + h->p_vaddr;

		if (h->p_type != PT_LOAD || (!is_whole && h != code))
			continue;
		if (start < w->module.start)
			w->module.start = start;
		if (start + h->p_memsz > w->module.end)
			w->module.end = start + h->p_memsz;
	}
}

static int look_for(struct dl_phdr_info *info, size_t size, void *data)
{
	struct wanted *w = data;

	(void)size;
	w->load_bias = info->dlpi_addr;
	w->headers = info->dlpi_phdr;
	w->header_count = info->dlpi_phnum;
	for (size_t i = 0; i < w->header_count; i++) {
		if (!is_in_segment(w, &w->headers[i], w->pc))
			continue;
		w->name = info->dlpi_name;
		set_range(w, &w->headers[i]);
		use_headers(w);
		return 1;
	}
	return 0;
}

/*
 * Find a module with _dl_find_object(). If there are gaps between the module's segments,
 * _dl_find_object() returns only the segment that contains the address, without the ELF
 * header. In that case, use dl_iterate_phdr().
 */
static bool find_by_object(struct wanted *w)
{
	struct found_object object;
	const ElfW(Ehdr) * file;

	if (find_object((void *)(uintptr_t)w->pc, &object) < 0)
		return false;
	file = object.start;
	if (memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 || file->e_phoff >= PAGE_BYTES ||
	    file->e_phentsize != sizeof(*w->headers) ||
	    (uintptr_t)object.tables - (uintptr_t)object.start >=
		    (uintptr_t)object.end - (uintptr_t)object.start)
		return dl_iterate_phdr(look_for, w) != 0;
	w->module = (struct unwind_module){
		.start = (uintptr_t)object.start,
		.end = (uintptr_t)object.end,
		.tables_addr = (uintptr_t)object.tables,
	};
	w->name = object.link_map->l_name;
	w->load_bias = object.link_map->l_addr;
	w->headers = (const void *)((const char *)file + file->e_phoff);
	w->header_count = file->e_phnum;
	return true;
}

static void copy_build_id(const ElfW(Nhdr) * note, struct stack_file_module *ret)
{
	size_t bytes = note->n_descsz;

	if (bytes > sizeof(ret->build_id))
		bytes = sizeof(ret->build_id);
	memcpy(ret->build_id, (const char *)(note + 1) + 4, bytes);
	ret->build_id_bytes = (uint8_t)bytes;
}

static void find_build_id(const struct wanted *w, struct stack_file_module *ret)
{
	for (size_t i = 0; i < w->header_count; i++) {
		const ElfW(Phdr) *h = &w->headers[i];
		const char *at = (const char *)(uintptr_t)(w->load_bias + h->p_vaddr);
		const char *end = at + h->p_memsz;

		while (h->p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) < end) {
			const ElfW(Nhdr) *note = (const void *)at;

			at += sizeof(*note) + ((note->n_namesz + 3) & ~UINT64_C(3)) +
			      ((note->n_descsz + 3) & ~UINT64_C(3));
			if (at <= end && note->n_type == NT_GNU_BUILD_ID &&
			    note->n_namesz == 4 && memcmp(note + 1, ELF_NOTE_GNU, 4) == 0)
				copy_build_id(note, ret);
		}
	}
}

/*
 * Add a module whose path is relative. ld.so resolved the path from the current
 * directory; assume that the current directory has not changed since.
 */
static COUNT_COLD int add_relative(const struct stack_file_module *module,
				   const char *name)
{
	char path[STACK_PATH_BYTES];
	size_t length, name_bytes = strlen(name) + 1;

	if (!getcwd(path, sizeof(path)))
		return stack_file_add_module(&count_stacks.file, module, name);
	length = strlen(path);
	if (length + 1 + name_bytes > sizeof(path))
		return stack_file_add_module(&count_stacks.file, module, name);
	path[length] = '/';
	memcpy(path + length + 1, name, name_bytes);
	return stack_file_add_module(&count_stacks.file, module, path);
}

static void add_module(const struct wanted *w)
{
	struct stack_file_module module = {
		.start = w->module.start,
		.end = w->module.end,
		.load_bias = w->load_bias,
	};
	const char *name = w->name ? w->name : "";
	uint32_t place;
	int r;

	find_build_id(w, &module);
	if (name[0] == '/')
		r = stack_file_add_module(&count_stacks.file, &module, name);
	else if (strchr(name, '/'))
		r = add_relative(&module, name);
	else
		r = stack_file_add_module(&count_stacks.file, &module,
					  name[0] ? "[vdso]" : program_path);
	if (r > 0)
		__atomic_fetch_add(&count_stacks.epoch, 1, __ATOMIC_RELEASE);
	place = __atomic_fetch_add(&known_count, 1, __ATOMIC_RELAXED);
	if (place < KNOWN_MAX) {
		known[place].start = module.start;
		__atomic_store_n(&known[place].end, module.end, __ATOMIC_RELEASE);
	}
}

static bool is_known(const struct unwind_module *module)
{
	for (uint32_t i = 0; i < KNOWN_MAX && i < known_count; i++)
		if (__atomic_load_n(&known[i].end, __ATOMIC_ACQUIRE) == module->end &&
		    known[i].start == module->start)
			return true;
	return false;
}

static bool find_module(void *context, uint64_t pc, struct unwind_module *ret)
{
	struct wanted w = { .pc = pc };
	int err = errno;

	(void)context;
	if (find_object ? !find_by_object(&w) : !dl_iterate_phdr(look_for, &w))
		return false;
	w.module.is_loader = w.module.start == getauxval(AT_BASE);
	if (!is_known(&w.module))
		add_module(&w);
	errno = err;
	*ret = w.module;
	return true;
}

void count_stack_modules_begin(struct unwind_space *space)
{
	void *function = dlsym(RTLD_DEFAULT, "_dl_find_object");
	ssize_t n = readlink("/proc/self/exe", program_path, sizeof(program_path) - 1);

	memcpy(&find_object, &function, sizeof(function));
	if (n <= 0)
		memcpy(program_path, "[program]", sizeof("[program]"));
	space->find = find_module;
}

void count_stack_modules_forget(void)
{
	memset(known, 0, sizeof(known));
	known_count = 0;
}

void count_stack_modules_copy(const struct stack_file *from, struct stack_file *to)
{
	const struct stack_file_module *m;
	uint32_t at = 0;

	while ((m = stack_file_next_module(from, &at)))
		stack_file_add_module(to, m, m->path);
}

/* Call libc's dlclose(), and forget the code that was unloaded. */
COUNT_EXPORT int dlclose(void *handle)
{
	void *function = next_dlclose ? NULL : dlsym(RTLD_NEXT, "dlclose");
	int r;

	if (function)
		memcpy(&next_dlclose, &function, sizeof(function));
	if (!next_dlclose)
		return -1;
	r = next_dlclose(handle);
	count_stack_modules_forget();
	if (count_stacks.space.rows)
		unwind_forget(&count_stacks.space);
	return r;
}
