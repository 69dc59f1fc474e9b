/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block_list - save the list of a process's blocks in a file, so that a later run can
 * find the blocks that were allocated since.
 *
 * The file has text lines followed by an empty line, and then two numbers per block in
 * address order: the number of bytes since the end of the previous block, and the usable
 * size of the block. Numbers have 7 bits per byte, lowest bits first, with bit 7 set in
 * all bytes except the last (LEB128).
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
	/* start time of the process, for detecting whether the pid has been reused */
	uint64_t start_ticks;
	uint64_t unix_ms; /* wall-clock time at which the list was made */
	uint64_t count;
};

/* A block list file that is being built in memory. */
struct block_list_writer {
	struct strbuf body;
	uint64_t end_addr, count;
};

#define BLOCK_LIST_WRITER_INIT    \
	{                         \
		STRBUF_INIT, 0, 0 \
	}

/* Add a block. Blocks must be disjoint and in ascending order of address. */
void block_list_add(struct block_list_writer *writer, uint64_t addr, uint64_t bytes);

/*
 * Write the block list file atomically: either the whole file or nothing. The count in
 * *head is ignored. Return 0 or -errno.
 */
int block_list_save(const struct block_list_writer *writer,
		    const struct block_list_head *head, const char *path);
void block_list_writer_release(struct block_list_writer *writer);

/*
 * The contents of a block list file whose format has been checked, and the position of
 * the next block.
 */
struct block_list {
	struct block_list_head head;
	struct strbuf text;
	size_t body; /* offset in `text` of the first block */
	/*
	 * the last block that block_list_next() returned, and the offset in `text` of the
	 * block after it
	 */
	size_t at;
	uint64_t addr, bytes;
};

/*
 * Read a block list file and check all of its contents. Return 0; -EBADMSG if the
 * file is not a block list or is damaged; -EPROTONOSUPPORT if the file has another
 * version; -EFBIG if the file is too large; or another -errno. The caller releases
 * *ret only on success.
 */
int block_list_load(const char *path, struct block_list *ret);
/*
 * Check the text of a block list file and move it to *ret. Return 0 or the same errors
 * as block_list_load().
 */
int block_list_parse(struct strbuf *text, struct block_list *ret);
void block_list_release(struct block_list *list);

/*
 * Store the address and size of the next block in list->addr and list->bytes. Return
 * false after the last block.
 */
bool block_list_next(struct block_list *list);

#endif
