/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/linked_in.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "tracee/elf/exports.h"

#define PIECE_BYTES 65536
#define SIGN_MAX 64

/*
 * Messages in the code of allocators. The first character of each message is stored
 * separately, so that memstate's own file does not contain the messages.
 */
static const struct {
	char first;
	const char *rest, *description;
} signs[] = {
	{ '<', "jemalloc>: Malformed conf string", "jemalloc in this stripped program" },
	{ 'm', "imalloc: warning: ", "mimalloc in this stripped program" },
	{ 't', "cmalloc.max_total_thread_cache_bytes",
	  "tcmalloc in this stripped program" },
};

static const char *find_sign(const uint8_t *piece, size_t length)
{
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		size_t rest_length = strlen(signs[i].rest);
		const uint8_t *at = piece, *end = piece + length;

		while ((at = memmem(at, (size_t)(end - at), signs[i].rest,
				    rest_length))) {
			if (at > piece && at[-1] == (uint8_t)signs[i].first)
				return signs[i].description;
			at++;
		}
	}
	return NULL;
}

static const char *search(int fd, const struct elf_part *part)
{
	_cleanup_free_ uint8_t *piece = xmalloc(PIECE_BYTES + SIGN_MAX);
	const char *found = NULL;

	for (uint64_t done = 0; !found && done < part->file_bytes; done += PIECE_BYTES) {
		uint64_t left = part->file_bytes - done;
		size_t wanted = left < PIECE_BYTES + SIGN_MAX ? (size_t)left
							      : PIECE_BYTES + SIGN_MAX;
		ssize_t n = pread(fd, piece, wanted, (off_t)(part->offset_bytes + done));

		if (n <= 0)
			return NULL;
		found = find_sign(piece, (size_t)n);
	}
	return found;
}

/*
 * Return true if the part of the file can contain messages. Linkers put them into a part
 * that can only be read, or, where a program has no such part, beside the code.
 */
static bool has_messages(const struct elf_exports *exports, const struct elf_part *part)
{
	for (size_t i = 0; i < exports->part_count; i++)
		if (!exports->parts[i].is_code && !exports->parts[i].is_writable)
			return !part->is_code;
	return true;
}

const char *linked_in_find(int fd)
{
	struct elf_exports exports = ELF_EXPORTS_INIT;
	const char *found = NULL;
	const struct elf_export *own;
	int r = elf_exports_read_program(fd, &exports);

	elf_exports_release(&exports);
	if (r != -ENODATA || elf_exports_read(fd, &exports) < 0)
		return NULL;
	own = elf_exports_find(&exports, "malloc");
	for (size_t i = 0; !found && !(own && own->is_function) && i < exports.part_count;
	     i++)
		if (has_messages(&exports, &exports.parts[i]))
			found = search(fd, &exports.parts[i]);
	elf_exports_release(&exports);
	return found;
}
