/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/loaded.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc/process/dir.h"
#include "tracee/memory/mapped_file.h"

struct visit {
	const struct mapping_list *mappings;
	loaded_fn *add;
	void *context;
};

uint64_t loaded_address(const struct loaded *file, const char *name)
{
	const struct elf_export *found = elf_exports_find(&file->exports, name);

	return found ? file->base_addr + found->vaddr : 0;
}

bool loaded_is_linker(const struct loaded *file)
{
	return elf_exports_find(&file->exports, "_dl_allocate_tls") &&
	       elf_exports_find(&file->exports, "_rtld_global");
}

bool loaded_is_program(const struct loaded *file, int process_fd)
{
	struct stat exe, st;

	return proc_dir_stat(process_fd, PROC_EXE, &exe) == 0 &&
	       fstat(file->fd, &st) == 0 && exe.st_ino == st.st_ino &&
	       exe.st_dev == st.st_dev;
}

void loaded_find_extent(const struct loaded *file, uint64_t *ret_start_addr,
			uint64_t *ret_end_addr)
{
	const struct mapping *first = file->first;

	*ret_start_addr = first->start_addr;
	for (size_t i = 0; i < file->mappings->count; i++) {
		const struct mapping *m = &file->mappings->items[i];

		if (m->inode == first->inode && m->dev_major == first->dev_major &&
		    m->dev_minor == first->dev_minor)
			*ret_end_addr = m->end_addr;
	}
}

static bool is_first_of_file(const struct mapping_list *mappings, size_t index)
{
	const struct mapping *m = &mappings->items[index];

	for (size_t i = index; i > 0; i--) {
		const struct mapping *other = &mappings->items[i - 1];

		if (other->inode == m->inode && other->dev_major == m->dev_major &&
		    other->dev_minor == m->dev_minor)
			return false;
	}
	return true;
}

static bool has_code(const struct mapping_list *mappings, const struct mapping *m)
{
	for (size_t i = 0; i < mappings->count; i++)
		if (mappings->items[i].inode == m->inode &&
		    (mappings->items[i].flags & MAPPING_EXEC))
			return true;
	return false;
}

/*
 * Return true if the mapped file was deleted. The kernel then appends " (deleted)" to
 * the path; elsewhere in the path, this text is part of the file's name.
 */
static bool is_deleted(const struct mapping *m)
{
	static const char mark[] = " (deleted)";
	size_t length = strlen(m->name), mark_length = strlen(mark);

	return length > mark_length && strcmp(m->name + length - mark_length, mark) == 0;
}

static int explain_unread(const struct mapping *m, int error, const char **ret_reason)
{
	*ret_reason = "a file that it has mapped cannot be read";
	if (error != -ENOENT && error != -ESRCH)
		return error;
	if (is_deleted(m)) {
		*ret_reason = "a file that it has mapped was deleted; reading it "
			      "requires CAP_CHECKPOINT_RESTORE";
		return -EPERM;
	}
	/*
	 * while memstate was reading the file, the process unmapped it,
	 * ended, or called execve()
	 */
	*ret_reason = "its mappings changed while they were read";
	return -EAGAIN;
}

static int read_file(const struct visit *visit, int process_fd, const struct mapping *m,
		     const char **ret_reason)
{
	struct loaded file = { .first = m,
			       .mappings = visit->mappings,
			       .exports = ELF_EXPORTS_INIT };
	int r;

	file.fd = mapped_file_open(process_fd, m);
	r = file.fd < 0 ? file.fd : elf_exports_read(file.fd, &file.exports);
	/* the file contains only data, or is a program that exports no symbols */
	if (r == -ENOEXEC || r == -ENODATA) {
		r = 0;
	} else if (r < 0) {
		r = explain_unread(m, r, ret_reason);
	} else if (elf_exports_base(&file.exports, m, &file.base_addr)) {
		r = visit->add(visit->context, &file, ret_reason);
	}
	elf_exports_release(&file.exports);
	if (file.fd >= 0)
		close(file.fd);
	return r;
}

/*
 * Return true if the mapping is a file. System V shared memory has an inode too, but is
 * not a file; a helper of an earlier memstate may have left such memory in the process.
 */
static bool is_file(const struct mapping *m)
{
	return m->inode != 0 && strncmp(m->name, "/SYSV", 5) != 0;
}

int loaded_read_all(int process_fd, const struct mapping_list *mappings, loaded_fn *add,
		    void *context, const char **ret_reason)
{
	const struct visit visit = { mappings, add, context };
	int r = 0;

	for (size_t i = 0; r == 0 && i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];

		if (is_file(m) && is_first_of_file(mappings, i) && has_code(mappings, m))
			r = read_file(&visit, process_fd, m, ret_reason);
	}
	return r;
}
