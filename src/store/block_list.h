/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block_list - which blocks a process had, in a file: to tell later which are new.
 *
 * The file is text up to an empty line, then a pair of numbers per block by address: the
 * bytes between the end of the one before and it, and its usable bytes; 7 bits to the
 * byte, the lowest first, all but the last byte with bit 7 set (LEB128).
 *
 *     memstate blocks 1
 *     pid 4242
 *     start_ticks 133337
 *     unix_ms 1763712000000
 *     count 2
 */
#ifndef MS_STORE_BLOCK_LIST_H
#define MS_STORE_BLOCK_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

struct block_list_head {
	int pid;
	uint64_t start_ticks; /* of the process: its pid may come again */
	uint64_t unix_ms;     /* when the blocks were so */
	uint64_t count;
};

/* Blocks to be written, in memory. */
struct block_list_writer {
	struct strbuf body;
	uint64_t end_addr, count;
};

#define BLOCK_LIST_WRITER_INIT    \
	{                         \
		STRBUF_INIT, 0, 0 \
	}

/* By address upwards, disjoint. */
void block_list_add(struct block_list_writer *writer, uint64_t addr, uint64_t bytes);

/* Write the file whole, or not at all; head->count is not looked at. Returns 0 or -errno. */
int block_list_save(const struct block_list_writer *writer,
		    const struct block_list_head *head, const char *path);
void block_list_writer_release(struct block_list_writer *writer);

/* A file that was read, and checked to its end. */
struct block_list {
	struct block_list_head head;
	struct strbuf text;
	size_t body; /* where the pairs begin */
	/* the block that block_list_next() gave last */
	size_t at;
	uint64_t addr, bytes;
};

/*
 * Returns 0; -errno; -EBADMSG for what is no such file, or a damaged one;
 * -EPROTONOSUPPORT for one of another version; -EFBIG. *ret is to be released after 0
 * only.
 */
int block_list_load(const char *path, struct block_list *ret);
int block_list_parse(struct strbuf *text, struct block_list *ret); /* takes the text */
void block_list_release(struct block_list *list);

/* The next block into list->addr and bytes. False at the end. */
bool block_list_next(struct block_list *list);

#endif
