/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/elf/allocator_code.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "proc/process/dir.h"
#include "tracee/elf/exports.h"
#include "tracee/memory/mapped_file.h"

/*
 * Limits on the total size and the number of files to search per process. Real programs
 * map a few hundred files.
 */
#define SEARCH_BYTES_MAX (UINT64_C(256) << 20)
#define SEARCH_FILES_MAX 1000

#define CHUNK_BYTES 65536
#define SIGN_BYTES_MAX 32

/*
 * Strings by which memstate recognizes allocators: messages that all versions of the
 * allocator contain. musl's mallocng has no message, but a table of size classes
 * (size_classes[] in src/malloc/mallocng/malloc.c): 292, 340, 409, 511, 584, 682, 818 and
 * 1023 as 16-bit numbers, none of whose bytes is 0. The malloc of older versions of musl
 * contains a table of bins (bin_tab[]): the bytes 32 to 43.
 */
static const struct {
	enum allocator allocator;
	const char *text;
} signs[] = {
	{ ALLOCATOR_GLIBC, "corrupted double-linked list" },
	{ ALLOCATOR_JEMALLOC, "<jemalloc>: " },
	{ ALLOCATOR_TCMALLOC, "TCMALLOC_" },
	{ ALLOCATOR_MIMALLOC, "mimalloc: error: " },
	{ ALLOCATOR_GO, "mheap.freeSpanLocked - invalid" },
	{ ALLOCATOR_MUSL,
	  "\x24\x01\x54\x01\x99\x01\xff\x01\x48\x02\xaa\x02\x32\x03\xff\x03" },
	{ ALLOCATOR_MUSL, " !\"#$$%%&&''(((())))****++++" },
};

/*
 * A string in the tcmalloc of gperftools that Google's newer tcmalloc does not contain.
 */
static const char gperftools_sign[] = "TCMALLOC_SKIP_SBRK";

struct search {
	int process_fd;
	const struct mapping_list *mappings;
	struct allocator_code *code;
	uint64_t bytes;
	size_t files;
};

static bool is_same_file(const struct mapping *a, const struct mapping *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor;
}

static void find_signs(struct allocator_code *code, const char *bytes, size_t length)
{
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (!code->is_found[signs[i].allocator])
			code->is_found[signs[i].allocator] =
				memmem(bytes, length, signs[i].text,
				       strlen(signs[i].text)) != NULL;
	if (!code->has_gperftools)
		code->has_gperftools = memmem(bytes, length, gperftools_sign,
					      strlen(gperftools_sign)) != NULL;
}

/*
 * Search the file from `offset` up to `end` or the end of the file, whichever comes
 * first.
 */
static bool search_range(struct search *s, int fd, uint64_t offset, uint64_t end)
{
	char bytes[SIGN_BYTES_MAX + CHUNK_BYTES];
	/*
	 * Number of bytes at the end of the previous chunk to search again, because a
	 * message may be split between two chunks.
	 */
	size_t kept = 0;

	while (offset < end) {
		size_t wanted = end - offset < CHUNK_BYTES ? (size_t)(end - offset)
							   : CHUNK_BYTES;
		ssize_t n = pread(fd, bytes + kept, wanted, (off_t)offset);
		size_t length;

		if (n <= 0)
			return n == 0;
		s->bytes += (uint64_t)n;
		if (s->bytes > SEARCH_BYTES_MAX)
			return false;
		offset += (uint64_t)n;
		length = kept + (size_t)n;
		find_signs(s->code, bytes, length);
		kept = length < SIGN_BYTES_MAX ? length : SIGN_BYTES_MAX;
		memmove(bytes, bytes + length - kept, kept);
	}
	return true;
}

/*
 * Search the code and constants in m's file: the ranges that are mapped without
 * write permission.
 */
static bool search_file(struct search *s, const struct mapping *m)
{
	_cleanup_close_ int fd = mapped_file_open(s->process_fd, m);

	if (fd < 0 || ++s->files > SEARCH_FILES_MAX)
		return false;
	for (size_t i = 0; i < s->mappings->count; i++) {
		const struct mapping *part = &s->mappings->items[i];

		if (part->flags & MAPPING_WRITE || !is_same_file(part, m))
			continue;
		if (!search_range(s, fd, part->file_offset_bytes,
				  part->file_offset_bytes +
					  (part->end_addr - part->start_addr)))
			return false;
	}
	return true;
}

static bool has_code(const struct mapping *m)
{
	/* mappings of the kernel's own code, such as [vdso], contain no allocator */
	return m->flags & MAPPING_EXEC &&
	       (m->inode != 0 || m->name[0] != '[' ||
		strncmp(m->name, "[anon:", strlen("[anon:")) == 0);
}

/* Return true if another executable mapping with a lower index maps the same file. */
static bool is_searched(const struct search *s, size_t index)
{
	const struct mapping *items = s->mappings->items;

	for (size_t i = 0; i < index; i++)
		if (has_code(&items[i]) && is_same_file(&items[i], &items[index]))
			return true;
	return false;
}

static bool search_all(struct search *s)
{
	for (size_t i = 0; i < s->mappings->count; i++) {
		const struct mapping *m = &s->mappings->items[i];

		if (!has_code(m) || (m->inode != 0 && is_searched(s, i)))
			continue;
		if (m->inode == 0 || !search_file(s, m))
			return false;
	}
	return true;
}

static bool exports_malloc(int fd)
{
	struct elf_exports exports = ELF_EXPORTS_INIT;
	const struct elf_export *found = NULL;
	bool is_exported;

	if (elf_exports_read(fd, &exports) == 0)
		found = elf_exports_find(&exports, "malloc");
	is_exported = found && found->is_function;
	elf_exports_release(&exports);
	return is_exported;
}

static bool search_program(struct search *s)
{
	_cleanup_close_ int fd = proc_dir_open_program(s->process_fd);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	for (size_t i = 0; i < s->mappings->count; i++) {
		const struct mapping *m = &s->mappings->items[i];

		if (m->flags & MAPPING_EXEC && m->inode == st.st_ino &&
		    !(m->flags & MAPPING_REMOTE))
			return exports_malloc(fd) && search_file(s, m);
	}
	return false;
}

/*
 * Return a hash (FNV-1a) of the scope and of the device, inode, file offset and size of
 * each executable mapping. The contents of the files are not hashed. The hash is never 0.
 */
static uint64_t make_key(const struct mapping_list *mappings, enum code_scope scope)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ scope;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];
		const uint64_t words[] = { m->inode, m->dev_major, m->dev_minor,
					   m->file_offset_bytes,
					   m->end_addr - m->start_addr };

		for (size_t k = 0; has_code(m) && k < sizeof(words) / sizeof(words[0]);
		     k++)
			for (unsigned int shift = 0; shift < 64; shift += 8)
				hash = (hash ^ (words[k] >> shift & 0xff)) *
				       UINT64_C(0x100000001b3);
	}
	return hash ? hash : 1;
}

struct allocator_code allocator_code_find(struct allocator_codes *codes, int process_fd,
					  const struct mapping_list *mappings,
					  enum code_scope scope)
{
	uint64_t key = make_key(mappings, scope);
	struct allocator_code code = { .is_complete = false };
	struct search s = { process_fd, mappings, &code, 0, 0 };
	size_t slot = (size_t)(key % ALLOCATOR_CODES_KEPT);

	if (codes->kept[slot].key == key)
		return codes->kept[slot].code;
	code.is_complete = scope == CODE_PROGRAM ? search_program(&s) : search_all(&s);
	codes->kept[slot].key = key;
	codes->kept[slot].code = code;
	return code;
}
