/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/linked_in.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tracee/elf/exports.h"
#include "tracee/elf/window.h"

/*
 * Maximum number of bytes to search per program, the same as in allocator_code.c. Real
 * stripped programs are smaller.
 */
#define SEARCH_BYTES_MAX (UINT64_C(256) << 20)
#define SIGN_MAX 64

/*
 * Strings by which memstate recognizes allocators. The first character of each string is
 * stored separately, so that memstate's own program does not contain the strings.
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

static int compare_parts(const void *a, const void *b)
{
	const struct elf_part *left = a, *right = b;

	return (left->offset_bytes > right->offset_bytes) -
	       (left->offset_bytes < right->offset_bytes);
}

/*
 * Search the file from `offset` to `end`, or to the end of the file, for the strings of
 * known allocators.
 */
static int search_range(struct elf_window *window, uint64_t offset, uint64_t end,
			const char **ret)
{
	size_t wanted, length;

	for (; !*ret && offset < end; offset += length - SIGN_MAX) {
		const uint8_t *piece;
		int r;

		wanted = end - offset < ELF_WINDOW_BYTES ? (size_t)(end - offset)
							 : ELF_WINDOW_BYTES;
		r = elf_window_read(window, offset, wanted, &piece, &length);
		if (r < 0)
			return r;
		*ret = find_sign(piece, length < wanted ? length : wanted);
		/*
		 * keep an overlap, because a string may be split between two chunks of
		 * the file
		 */
		if (length < wanted || wanted == end - offset)
			break;
	}
	return 0;
}

/*
 * Return true if the segment of the file can contain constant strings. Linkers place them
 * in a read-only segment or, if the program has none, in the code segment.
 */
static bool has_messages(const struct elf_exports *exports, const struct elf_part *part)
{
	for (size_t i = 0; i < exports->part_count; i++)
		if (!exports->parts[i].is_code && !exports->parts[i].is_writable)
			return !part->is_code;
	return true;
}

/*
 * Search the loaded segments that can contain constant strings. Bytes that belong to
 * several segments are searched only once. Return 0 or an error from elf_window_read().
 */
static int search_parts(int fd, struct elf_exports *exports, const char **ret)
{
	uint64_t left_bytes = SEARCH_BYTES_MAX, done = 0;
	_cleanup_free_ struct elf_window *window = elf_window_new(fd, &left_bytes);
	int r = 0;

	qsort(exports->parts, exports->part_count, sizeof(exports->parts[0]),
	      compare_parts);
	for (size_t i = 0; r == 0 && !*ret && i < exports->part_count; i++) {
		uint64_t offset = exports->parts[i].offset_bytes;
		uint64_t end = offset + exports->parts[i].file_bytes;

		if (end < offset)
			return -EBADMSG;
		if (end <= done || !has_messages(exports, &exports->parts[i]))
			continue;
		/*
		 * start before the end of the previous segment, because a string may be
		 * split between the two segments
		 */
		if (offset + SIGN_MAX < done)
			offset = done - SIGN_MAX;
		r = search_range(window, offset, end, ret);
		done = end;
	}
	return r;
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
	if (!own || !own->is_function)
		r = search_parts(fd, &exports, &found);
	elf_exports_release(&exports);
	return r == -E2BIG
		       ? "a possible allocator beyond the first 256 MiB of this stripped "
			 "program"
		       : found;
}
