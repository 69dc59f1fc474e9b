/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/run/program.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "cmd/core/message.h"
#include "probe/count/entries.h"
#include "probe/count/linked_in.h"

#define INTERPRETERS_MAX 4 /* like the kernel, binfmt_script */
#define SYMBOLS_MAX (1 << 20)
#define NAMES_MAX (64 << 20)

#if __BYTE_ORDER == __LITTLE_ENDIAN
#	define OWN_BYTE_ORDER ELFDATA2LSB
#else
#	define OWN_BYTE_ORDER ELFDATA2MSB
#endif

const char *machine_bits(const struct machine *machine)
{
	return machine->elf_class == ELFCLASS32 ? "32-bit" : "64-bit";
}

static bool read_at(int fd, void *bytes, size_t length, uint64_t offset)
{
	return offset <= INT64_MAX &&
	       pread(fd, bytes, length, (off_t)offset) == (ssize_t)length;
}

static int read_machine(int fd, struct machine *ret)
{
	Elf64_Ehdr head; /* the members used here have the same offsets in both classes */

	if (!read_at(fd, &head, offsetof(Elf64_Ehdr, e_entry), 0) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	*ret = (struct machine){
		.elf_class = head.e_ident[EI_CLASS],
		.byte_order = head.e_ident[EI_DATA],
		.number = head.e_machine,
	};
	return 0;
}

int machine_read(const char *path, struct machine *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : read_machine(fd, ret);
}

/* Facts from a program's headers. */
struct program {
	struct machine machine;
	bool has_interpreter; /* dynamically linked */
	char interpreter[256];
	/* exported, so that it takes precedence over any preloaded malloc */
	bool has_malloc;
	bool is_go;
};

static void note_interpreter(int fd, uint64_t offset, uint64_t size, struct program *p)
{
	p->has_interpreter = true;
	if (size > sizeof(p->interpreter) ||
	    !read_at(fd, p->interpreter, (size_t)size, offset))
		size = 0;
	p->interpreter[size > 0 ? size - 1 : 0] = '\0';
}

static bool read_headers_32(int fd, struct program *p)
{
	Elf32_Ehdr head;
	Elf32_Phdr segment;

	if (!read_at(fd, &head, sizeof(head), 0))
		return false;
	for (unsigned int i = 0; i < head.e_phnum; i++) {
		if (!read_at(fd, &segment, sizeof(segment),
			     head.e_phoff + i * sizeof(segment)))
			return false;
		if (segment.p_type == PT_INTERP)
			note_interpreter(fd, segment.p_offset, segment.p_filesz, p);
	}
	return true;
}

/* Whether a symbol table defines the wanted symbol. */
static bool defines(int fd, const Elf64_Shdr *symbols, const Elf64_Shdr *names,
		    const char *wanted)
{
	uint64_t count = symbols->sh_size / sizeof(Elf64_Sym);
	_cleanup_free_ Elf64_Sym *table = NULL;
	_cleanup_free_ char *text = NULL;

	if (count == 0 || count > SYMBOLS_MAX || names->sh_size == 0 ||
	    names->sh_size > NAMES_MAX)
		return false;
	table = xcalloc(count, sizeof(*table));
	text = xmalloc(names->sh_size + 1);
	if (!read_at(fd, table, count * sizeof(*table), symbols->sh_offset) ||
	    !read_at(fd, text, names->sh_size, names->sh_offset))
		return false;
	text[names->sh_size] = '\0';
	for (uint64_t i = 0; i < count; i++)
		if (table[i].st_shndx != SHN_UNDEF && table[i].st_name < names->sh_size &&
		    strcmp(text + table[i].st_name, wanted) == 0)
			return true;
	return false;
}

/*
 * Whether a 64-bit file exports the symbol. Returns false for files without sections, in
 * which this is unknown.
 */
static bool exports_64(int fd, const Elf64_Ehdr *head, const char *symbol)
{
	Elf64_Shdr section, names;
	bool found = false;

	for (unsigned int i = 0; i < head->e_shnum && !found; i++) {
		if (!read_at(fd, &section, sizeof(section),
			     head->e_shoff + i * sizeof(section)))
			break;
		if (section.sh_type == SHT_DYNSYM && section.sh_link < head->e_shnum &&
		    read_at(fd, &names, sizeof(names),
			    head->e_shoff + section.sh_link * sizeof(names)))
			found = defines(fd, &section, &names, symbol);
	}
	return found;
}

/*
 * Whether the file has the section that Go's linker adds to each program.
 * strip(1) keeps it.
 */
static bool has_go_section(int fd, const Elf64_Ehdr *head)
{
	static const char wanted[] = ".go.buildinfo";
	Elf64_Shdr section, names;
	char name[sizeof(wanted)];

	if (head->e_shstrndx >= head->e_shnum ||
	    !read_at(fd, &names, sizeof(names),
		     head->e_shoff + head->e_shstrndx * sizeof(names)))
		return false;
	for (unsigned int i = 0; i < head->e_shnum; i++)
		if (read_at(fd, &section, sizeof(section),
			    head->e_shoff + i * sizeof(section)) &&
		    section.sh_name < names.sh_size && names.sh_offset <= INT64_MAX &&
		    read_at(fd, name, sizeof(name), names.sh_offset + section.sh_name) &&
		    memcmp(name, wanted, sizeof(wanted)) == 0)
			return true;
	return false;
}

bool machine_exports(const char *path, const char *symbol)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct machine machine;
	Elf64_Ehdr head;

	return fd >= 0 && read_machine(fd, &machine) == 0 &&
	       machine.elf_class == ELFCLASS64 && machine.byte_order == OWN_BYTE_ORDER &&
	       read_at(fd, &head, sizeof(head), 0) && exports_64(fd, &head, symbol);
}

static bool read_headers_64(int fd, struct program *p)
{
	Elf64_Phdr segment;
	Elf64_Ehdr head;

	if (!read_at(fd, &head, sizeof(head), 0))
		return false;
	for (unsigned int i = 0; i < head.e_phnum; i++) {
		if (!read_at(fd, &segment, sizeof(segment),
			     head.e_phoff + i * sizeof(segment)))
			return false;
		if (segment.p_type == PT_INTERP)
			note_interpreter(fd, segment.p_offset, segment.p_filesz, p);
	}
	p->has_malloc = exports_64(fd, &head, "malloc");
	p->is_go = has_go_section(fd, &head);
	return true;
}

static int read_program(int fd, struct program *ret)
{
	struct program p = { 0 };
	int r = read_machine(fd, &p.machine);

	if (r < 0)
		return r;
	if (p.machine.byte_order != OWN_BYTE_ORDER ||
	    !(p.machine.elf_class == ELFCLASS32 ? read_headers_32(fd, &p)
						: read_headers_64(fd, &p)))
		return -ENOEXEC;
	*ret = p;
	return 0;
}

/*
 * Return the path of the first executable file with that name in PATH; NULL if there is
 * none. A name with a slash is already a path.
 */
static char *find_in_path(const char *name)
{
	const char *path = getenv("PATH");
	char *full = NULL;

	if (strchr(name, '/'))
		return xstrdup(name);
	if (!path)
		path = "/bin:/usr/bin"; /* like execvp(3) */
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
 * Return the interpreter's path without arguments, as from "#!/usr/bin/python3 -u"; NULL
 * if the file is not a script.
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
 * Return how the program gains privileges at exec, or NULL. For such programs the kernel
 * makes the loader ignore LD_PRELOAD.
 */
static const char *find_gained_rights(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return NULL;
	if (st.st_mode & S_ISUID && st.st_uid != getuid())
		return "is setuid";
	if (st.st_mode & S_ISGID && st.st_mode & S_IXGRP && st.st_gid != getgid())
		return "is setgid";
	if (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "has file capabilities";
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
		message("%s: is linked statically: no library can be preloaded into it",
			path);
	else if (strstr(p->interpreter, "ld-musl"))
		message("%s: is linked with musl: a library that is linked with glibc cannot be "
			"preloaded into it",
			path);
	else if (p->has_malloc)
		message("%s: has a malloc of its own built in, which a preloaded one does not "
			"replace",
			path);
	else
		return 0;
	return -EOPNOTSUPP;
}

/*
 * Check one file. Returns 0, or -errno after a message. *ret_next is a script's
 * interpreter, or NULL.
 */
static int check_file(const char *path, struct machine *ret, char **ret_next)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *rights = NULL;
	struct program p;
	char *next;
	int r;

	/* some executable files are not readable, so that only running them would tell */
	if (fd < 0 && errno == EACCES && access(path, X_OK) == 0) {
		message("%s: may not be read: whether a library can be preloaded into it is not known",
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
		message("%s: %s: nothing can be preloaded into it", path, rights);
		return -EPERM;
	}
	if (!next) {
		r = read_program(fd, &p);
		if (r < 0)
			message("%s: is no program of this machine, and no script that names its "
				"interpreter",
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
	for (int i = 0; r == 0 && path && i <= INTERPRETERS_MAX; i++) {
		char *next = NULL;

		r = check_file(path, ret, &next);
		free(path);
		path = next;
	}
	if (r == 0 && path) {
		message("%s: is a script of a script, too often to be run", name);
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
