/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/capture/block_list.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/num.h"

#define MAGIC "memstate blocks "
#define FORMAT_VERSION "1"

/*
 * Maximum size of a block list file in bytes, which suffices for about 2^28 blocks. A
 * heap with more blocks would be too large to scan.
 */
#define FILE_BYTES_MAX ((size_t)1 << 30)

static void add_number(struct strbuf *out, uint64_t value)
{
	while (value > 0x7f) {
		strbuf_add_char(out, (char)(0x80 | (value & 0x7f)));
		value >>= 7;
	}
	strbuf_add_char(out, (char)value);
}

void block_list_add(struct block_list_writer *writer, uint64_t addr, uint64_t bytes)
{
	add_number(&writer->body, addr - writer->end_addr);
	add_number(&writer->body, bytes);
	writer->end_addr = addr + bytes;
	writer->count++;
}

int block_list_save(const struct block_list_writer *writer,
		    const struct block_list_head *head, const char *path)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text,
		    MAGIC FORMAT_VERSION "\npid %d\nstart_ticks %" PRIu64
					 "\nunix_ms %" PRIu64 "\ncount %" PRIu64 "\n\n",
		    head->pid, head->start_ticks, head->unix_ms, writer->count);
	strbuf_add(&text, strbuf_text(&writer->body), writer->body.length);
	return io_write_file_atomic(path, strbuf_text(&text), text.length, 0600);
}

void block_list_writer_release(struct block_list_writer *writer)
{
	strbuf_release(&writer->body);
	*writer = (struct block_list_writer)BLOCK_LIST_WRITER_INIT;
}

/*
 * Parse the line "KEY NUMBER\n" at the start of the text, and replace the newline with
 * NUL. Return a pointer to the next line, or NULL on failure.
 */
static char *read_field(char *line, const char *key, uint64_t *ret)
{
	size_t length = strlen(key);
	char *end = line ? strchr(line, '\n') : NULL;

	if (!end || strncmp(line, key, length) != 0 || line[length] != ' ')
		return NULL;
	*end = '\0';
	return num_parse_u64(line + length + 1, ret) < 0 ? NULL : end + 1;
}

static int read_head(struct block_list *list)
{
	char *text = list->text.text;
	uint64_t pid = 0;
	char *line;

	if (list->text.length < sizeof(MAGIC) ||
	    memcmp(text, MAGIC, sizeof(MAGIC) - 1) != 0)
		return -EBADMSG;
	line = text + sizeof(MAGIC) - 1;
	if (strncmp(line, FORMAT_VERSION "\n", sizeof(FORMAT_VERSION)) != 0)
		return -EPROTONOSUPPORT;
	line = read_field(line + sizeof(FORMAT_VERSION), "pid", &pid);
	line = read_field(line, "start_ticks", &list->head.start_ticks);
	line = read_field(line, "unix_ms", &list->head.unix_ms);
	line = read_field(line, "count", &list->head.count);
	if (!line || line[0] != '\n' || pid == 0 || pid > INT32_MAX)
		return -EBADMSG;
	list->head.pid = (int)pid;
	list->body = (size_t)(line + 1 - text);
	return 0;
}

/*
 * Read an LEB128 number from the text of a block list. Return false if the number is
 * truncated or does not fit into 64 bits.
 */
static bool read_number(struct block_list *list, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64 && list->at < list->text.length;
	     shift += 7) {
		uint8_t byte = (uint8_t)list->text.text[list->at++];

		if (shift == 63 && byte > 1)
			return false;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

bool block_list_next(struct block_list *list)
{
	uint64_t gap, bytes, end = list->addr + list->bytes;
	size_t at = list->at;

	if (!read_number(list, &gap) || !read_number(list, &bytes) || bytes == 0 ||
	    gap > UINT64_MAX - end || bytes > UINT64_MAX - end - gap) {
		/*
		 * do not advance past an invalid block: restore the
		 * offset at which it starts
		 */
		list->at = at;
		return false;
	}
	list->addr = end + gap;
	list->bytes = bytes;
	return true;
}

static void rewind_list(struct block_list *list)
{
	list->at = list->body;
	list->addr = 0;
	list->bytes = 0;
}

int block_list_parse(struct strbuf *text, struct block_list *ret)
{
	struct block_list list = { .text = *text };
	uint64_t count = 0;
	int r;

	*text = (struct strbuf)STRBUF_INIT;
	r = read_head(&list);
	if (r == 0) {
		rewind_list(&list);
		while (block_list_next(&list))
			count++;
		if (count != list.head.count || list.at != list.text.length)
			r = -EBADMSG;
	}
	if (r < 0) {
		block_list_release(&list);
		return r;
	}
	rewind_list(&list);
	*ret = list;
	return 0;
}

int block_list_load(const char *path, struct block_list *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r;

	r = io_read_file_at(AT_FDCWD, path, FILE_BYTES_MAX, &text);
	return r < 0 ? r : block_list_parse(&text, ret);
}

void block_list_release(struct block_list *list)
{
	strbuf_release(&list->text);
	*list = (struct block_list){ 0 };
}
