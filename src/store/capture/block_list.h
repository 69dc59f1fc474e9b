/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block_list - save the list of a process's blocks in a file, so that a later run can
 * find out which blocks are new.
 *
 * The file has text lines followed by an empty line, then two numbers per block in
 * address order: the number of bytes between the end of the previous block and this one,
 * and the usable size of this one. Numbers have 7 bits per byte, lowest bits first, with
 * bit 7 set in all but the last byte (LEB128).
 *
 *     memstate blocks 1
 *     pid 4242
 *     start_ticks 133337
 *     unix_ms 1763712000000
 *     count 2
 */
#ifndef MS_STORE_CAPTURE_BLOCK_LIST_H
#define MS_STORE_CAPTURE_BLOCK_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

struct block_list_head {
	int pid;
	/* Start time of the process, which shows whether its pid has been reused. */
	uint64_t start_ticks;
	uint64_t unix_ms; /* wall-clock time at which the list was made */
	uint64_t count;
};

/* A file under construction, in memory. */
struct block_list_writer {
	struct strbuf body;
	uint64_t end_addr, count;
};

#define BLOCK_LIST_WRITER_INIT    \
	{                         \
		STRBUF_INIT, 0, 0 \
	}

/* Add a block. The caller adds disjoint blocks in ascending order of address. */
void block_list_add(struct block_list_writer *writer, uint64_t addr, uint64_t bytes);

/*
 * Write the file atomically: completely or not at all. head->count is ignored. Returns
 * 0 or -errno.
 */
int block_list_save(const struct block_list_writer *writer,
		    const struct block_list_head *head, const char *path);
void block_list_writer_release(struct block_list_writer *writer);

/* A file that has been read and checked completely, and the position of the reader. */
struct block_list {
	struct block_list_head head;
	struct strbuf text;
	size_t body; /* offset in text of the first block's numbers */
	/*
	 * The last block that block_list_next() returned, and the offset after the
	 * numbers of that block.
	 */
	size_t at;
	uint64_t addr, bytes;
};

/*
 * Read a file and check its whole content. Returns 0; -EBADMSG if the file is not a block
 * list or is damaged; -EPROTONOSUPPORT if the file has another version; -EFBIG; or
 * another -errno. The caller releases *ret only after a return of 0.
 */
int block_list_load(const char *path, struct block_list *ret);
/*
 * Check a file's text, and move the text to *ret. Returns 0 or the same
 * errors as block_list_load().
 */
int block_list_parse(struct strbuf *text, struct block_list *ret);
void block_list_release(struct block_list *list);

/*
 * Store the next block in list->addr and list->bytes. Return false after the last block.
 */
bool block_list_next(struct block_list *list);

#endif
