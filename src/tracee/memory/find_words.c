/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/find_words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "proc/process/dir.h"

#define PAGE_BYTES UINT64_C(4096)
#define PIECE_PAGES 256
#define PIECE_BYTES (PIECE_PAGES * PAGE_BYTES)

/* Bits of /proc/PID/pagemap; see Documentation/admin-guide/mm/pagemap.rst. */
#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_SWAPPED (UINT64_C(1) << 62)
#define PAGE_OF_FILE (UINT64_C(1) << 61)

struct piece {
	struct find_words *f;
	int pagemap_fd;
	uint64_t pages[PIECE_PAGES]; /* pagemap entries of the pages being searched */
	uint64_t words[PIECE_BYTES / sizeof(uint64_t)];
};

static int compare_words(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int check_words(struct piece *piece, uint64_t addr, size_t count)
{
	struct find_words *f = piece->f;
	uint64_t first = f->wanted[0], span = f->wanted[f->wanted_count - 1] - first;

	for (size_t i = 0; i < count; i++) {
		uint64_t word = piece->words[i];

		if (word - first > span || !bsearch(&word, f->wanted, f->wanted_count,
						    sizeof(word), compare_words))
			continue;
		if (f->count == f->found_max)
			return -E2BIG;
		f->found = xgrow(f->found, &f->capacity, f->count + 1, sizeof(*f->found));
		f->found[f->count++] =
			(struct found_word){ addr + i * sizeof(word), word };
	}
	return 0;
}

/* Search a range of consecutive pages, all of which may be read. */
static int search_pages(struct piece *piece, uint64_t addr, uint64_t end_addr)
{
	struct find_words *f = piece->f;
	ssize_t n = pread(f->mem_fd, piece->words, end_addr - addr, (off_t)addr);
	uint64_t bytes = n < 0 ? 0 : (uint64_t)n / sizeof(uint64_t) * sizeof(uint64_t);

	f->read_bytes += bytes;
	f->unread_bytes += end_addr - addr - bytes;
	return check_words(piece, addr, bytes / sizeof(uint64_t));
}

static bool is_wanted(struct find_words *f, uint64_t entry)
{
	if (entry & PAGE_OF_FILE)
		return false;
	if (entry & PAGE_PRESENT)
		return true;
	if (!(entry & PAGE_SWAPPED))
		return false;
	if (!f->reads_swapped)
		f->unread_bytes += PAGE_BYTES;
	return f->reads_swapped;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Search [addr, end_addr), which spans at most PIECE_PAGES pages. */
static int search_piece(struct piece *piece, uint64_t addr, uint64_t end_addr)
{
	uint64_t page = addr / PAGE_BYTES, end = (end_addr + PAGE_BYTES - 1) / PAGE_BYTES;
	uint64_t count = end - page, i = 0;
	size_t bytes = count * sizeof(piece->pages[0]);
	int r = 0;

	if (pread(piece->pagemap_fd, piece->pages, bytes,
		  (off_t)(page * sizeof(piece->pages[0]))) != (ssize_t)bytes) {
		piece->f->unread_bytes += end_addr - addr;
		return 0;
	}
	while (r == 0 && i < count) {
		uint64_t run = i;

		while (run < count && is_wanted(piece->f, piece->pages[run]))
			run++;
		if (run > i)
			r = search_pages(piece, i == 0 ? addr : (page + i) * PAGE_BYTES,
					 lesser(end_addr, (page + run) * PAGE_BYTES));
		i = run + 1;
	}
	return r;
}

static int search_range(struct piece *piece, const struct address_range *range)
{
	uint64_t addr = (range->start_addr + 7) / 8 * 8,
		 last_addr = range->end_addr / 8 * 8;
	uint64_t end_addr;
	int r = 0;

	for (; r == 0 && addr < last_addr; addr = end_addr) {
		if (clock_now_ns() > piece->f->deadline_ns) {
			piece->f->unread_bytes += last_addr - addr;
			break;
		}
		end_addr =
			lesser(last_addr, (addr / PAGE_BYTES + PIECE_PAGES) * PAGE_BYTES);
		r = search_piece(piece, addr, end_addr);
	}
	return r;
}

int find_words(struct find_words *f, const struct address_range *ranges, size_t count)
{
	_cleanup_free_ struct piece *piece = NULL;
	_cleanup_close_ int pagemap_fd = -1;
	int r = 0;

	if (f->wanted_count == 0 || count == 0)
		return 0;
	pagemap_fd = proc_dir_open_file(f->process_fd, PROC_PAGEMAP, O_RDONLY);
	if (pagemap_fd < 0)
		return pagemap_fd;
	piece = xmalloc(sizeof(*piece));
	piece->f = f;
	piece->pagemap_fd = pagemap_fd;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = search_range(piece, &ranges[i]);
	return r;
}
