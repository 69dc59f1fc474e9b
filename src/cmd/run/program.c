/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/run/program.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/xalloc.h"
#include "cmd/core/message.h"
#include "probe/count/entries.h"
#include "probe/count/linked_in.h"
#include "tracee/elf/reader.h"

/* a script's interpreter may itself be a script; execve(2) allows up to four levels */
#define INTERPRETERS_MAX 4

const char *machine_bits(const struct machine *machine)
{
	return machine->elf_class == ELFCLASS32 ? "32-bit" : "64-bit";
}

static struct machine machine_of(const struct elf_reader *file)
{
	return (struct machine){
		.elf_class = file->header.e_ident[EI_CLASS],
		.byte_order = file->header.e_ident[EI_DATA],
		.number = file->header.e_machine,
	};
}

int machine_read(const char *path, struct machine *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_reader file;
	int r = fd < 0 ? -errno : elf_reader_open(fd, &file);

	if (r == 0)
		*ret = machine_of(&file);
	return r;
}

/* Properties of a program, from its ELF headers. */
struct program {
	struct machine machine;
	bool has_interpreter; /* true if the program is dynamically linked */
	char interpreter[256];
	/* true if the program exports malloc, which preloaded libraries cannot replace */
	bool has_malloc;
	bool is_go;
};

static void read_interpreter(int fd, const Elf64_Phdr *segment, struct program *p)
{
	uint64_t size = segment->p_filesz;

	p->has_interpreter = true;
	if (size > sizeof(p->interpreter) ||
	    io_read_at(fd, p->interpreter, (size_t)size, segment->p_offset) < 0)
		size = 0;
	p->interpreter[size > 0 ? size - 1 : 0] = '\0';
}

/*
 * Return true if a 64-bit file exports the symbol. Return false for files without
 * sections, whose exports cannot be determined.
 */
static bool exports(struct elf_reader *file, const char *wanted)
{
	_cleanup_elf_symbol_table_ struct elf_symbol_table table = { .items = NULL };
	int r = elf_reader_find_section(file, SHT_DYNSYM);

	if (r < 0 || elf_reader_read_symbols(file, (size_t)r, &table) < 0)
		return false;
	for (size_t i = 0; i < table.count; i++) {
		const char *name = elf_symbol_table_name(&table, &table.items[i]);

		if (name && table.items[i].st_shndx != SHN_UNDEF &&
		    strcmp(name, wanted) == 0)
			return true;
	}
	return false;
}

/*
 * Return true if the file has the section that Go's linker adds to each program, and that
 * strip(1) keeps.
 */
static bool has_go_section(struct elf_reader *file)
{
	_cleanup_free_ void *names = NULL;
	uint64_t names_bytes;

	if (elf_reader_read_sections(file) < 0 ||
	    elf_reader_read_section(file, file->header.e_shstrndx, &names) < 0)
		return false;
	names_bytes = file->sections[file->header.e_shstrndx].sh_size;
	for (size_t i = 0; i < file->header.e_shnum; i++) {
		uint32_t at = file->sections[i].sh_name;

		if (at < names_bytes &&
		    strcmp((const char *)names + at, ".go.buildinfo") == 0)
			return true;
	}
	return false;
}

bool machine_exports(const char *path, const char *symbol)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_elf_reader_ struct elf_reader file = { .fd = -1 };

	return fd >= 0 && elf_reader_open(fd, &file) == 0 && exports(&file, symbol);
}

static int read_program(int fd, struct program *ret)
{
	_cleanup_elf_reader_ struct elf_reader file;
	struct program p = { .has_interpreter = false };

	if (elf_reader_open(fd, &file) < 0 || elf_reader_read_segments(&file) < 0)
		return -ENOEXEC;
	p.machine = machine_of(&file);
	for (size_t i = 0; i < file.header.e_phnum; i++)
		if (file.segments[i].p_type == PT_INTERP)
			read_interpreter(fd, &file.segments[i], &p);
	p.has_malloc = exports(&file, "malloc");
	p.is_go = has_go_section(&file);
	*ret = p;
	return 0;
}

/*
 * Return the path of the first executable file with this name in PATH. Return NULL
 * if not found. A name with a slash is already a path.
 */
static char *find_in_path(const char *name)
{
	const char *path = getenv("PATH");
	char *full = NULL;

	if (strchr(name, '/'))
		return xstrdup(name);
	if (!path)
		/* the search path of execvp(3) if PATH is not set */
		path = "/bin:/usr/bin";
	for (;;) {
		size_t length = strcspn(path, ":");
		_cleanup_free_ char *folder =
			xstrndup(length > 0 ? path : ".", length > 0 ? length : 1);
		struct stat st;

		full = xmalloc(strlen(folder) + strlen(name) + 2);
		stpcpy(stpcpy(stpcpy(full, folder), "/"), name);
		if (access(full, X_OK) == 0 && stat(full, &st) == 0 &&
		    S_ISREG(st.st_mode))
			return full;
		free(full);
		if (path[length] == '\0')
			return NULL;
		path += length + 1;
	}
}

/*
 * Return the path of the interpreter, without arguments, from a line such as
 * "#!/usr/bin/python3 -u". Return NULL if the file is not a script.
 */
static char *read_shebang(int fd)
{
	char line[256];
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);
	char *path = line + 2;

	if (n < 3 || line[0] != '#' || line[1] != '!')
		return NULL;
	line[n] = '\0';
	path += strspn(path, " \t");
	return xstrndup(path, strcspn(path, " \t\n"));
}

/*
 * Return a description of how the program gains privileges at exec, or NULL if it gains
 * none. In programs that gain privileges, the loader ignores LD_PRELOAD.
 */
static const char *find_gained_rights(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return NULL;
	if (st.st_mode & S_ISUID && st.st_uid != getuid())
		return "set-user-ID program";
	if (st.st_mode & S_ISGID && st.st_mode & S_IXGRP && st.st_gid != getgid())
		return "set-group-ID program";
	if (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "program with file capabilities";
	return NULL;
}

static bool is_loader(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	return strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "ld64.so", 7) == 0 ||
	       strncmp(name, "ld.so", 5) == 0;
}

static int check_program(const char *path, const struct program *p)
{
	if (!p->has_interpreter && !is_loader(path))
		message("%s: statically linked; no library can be preloaded into it",
			path);
	else if (strstr(p->interpreter, "ld-musl"))
		message("%s: linked with musl; a glibc library cannot be preloaded "
			"into it",
			path);
	else if (p->has_malloc)
		message("%s: contains its own malloc, which a preloaded library does "
			"not replace",
			path);
	else
		return 0;
	return -EOPNOTSUPP;
}

/*
 * Check one file, without its interpreter. Return 0, or print a message and return
 * -errno. *ret_next is a script's interpreter, or NULL.
 */
static int check_file(const char *path, struct machine *ret, char **ret_next)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *rights = NULL;
	struct program p;
	char *next;
	int r;

	/* an executable file that is not readable can be run, but not checked */
	if (fd < 0 && errno == EACCES && access(path, X_OK) == 0) {
		message("%s: not readable; cannot determine whether a library can be "
			"preloaded into it",
			path);
		return -EACCES;
	}
	r = fd < 0 ? -errno : 0;
	if (r == 0 && access(path, X_OK) < 0)
		r = -errno;
	if (r < 0) {
		message_error(path, r);
		return r;
	}
	next = read_shebang(fd);
	if (!next)
		rights = find_gained_rights(fd);
	if (rights) {
		message("%s: %s; no library can be preloaded into it", path, rights);
		return -EPERM;
	}
	if (!next) {
		r = read_program(fd, &p);
		if (r < 0)
			message("%s: neither a program for this machine nor a script "
				"with a #! line",
				path);
		else
			r = check_program(path, &p);
		if (r < 0)
			return r;
		*ret = p.machine;
	}
	*ret_next = next;
	return 0;
}

int program_check(const char *name, struct machine *ret)
{
	char *path = find_in_path(name);
	int r = path ? 0 : -ENOENT;

	if (r < 0)
		message_error(name, r);
	/*
	 * at most one script, INTERPRETERS_MAX interpreters that are
	 * scripts, and one program
	 */
	for (int i = 0; r == 0 && path && i < INTERPRETERS_MAX + 2; i++) {
		char *next = NULL;

		r = check_file(path, ret, &next);
		free(path);
		path = next;
	}
	if (r == 0 && path) {
		message("%s: too many nested script interpreters", name);
		r = -ELOOP;
	}
	free(path);
	return r;
}

bool program_is_go(const char *name, bool *ret_static)
{
	_cleanup_free_ char *path = find_in_path(name);
	_cleanup_close_ int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct program p;

	if (fd < 0 || read_program(fd, &p) < 0)
		return false;
	*ret_static = !p.has_interpreter;
	return p.is_go;
}

const char *program_find_entry_point(const char *name)
{
	_cleanup_free_ char *path = find_in_path(name);
	_cleanup_close_ int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct count_entries entries = { .is_imported = { false } };

	if (fd < 0)
		return NULL;
	count_entries_add_defined(fd, &entries);
	for (size_t i = COUNTED_STANDARD_COUNT; i < COUNTED_NAME_COUNT; i++)
		if (entries.is_defined[i])
			return counted_names[i].name;
	return NULL;
}

const char *program_find_linked_in(const char *name)
{
	_cleanup_free_ char *path = find_in_path(name);
	_cleanup_close_ int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	return fd < 0 ? NULL : linked_in_find(fd);
}

bool program_find_loader(const char *name, char **ret_path, char **ret_loader)
{
	_cleanup_free_ char *path = find_in_path(name);
	_cleanup_close_ int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct program p;

	if (fd < 0 || read_program(fd, &p) < 0 || !p.has_interpreter)
		return false;
	*ret_path = path;
	path = NULL;
	*ret_loader = xstrdup(p.interpreter);
	return true;
}
