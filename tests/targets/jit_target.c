/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_target FRAME FILE COUNT - generate code at run time that
 * calls an allocating function.
 *
 * FRAME: pointer (the code has a frame pointer), none, or stray (rbp points into the
 * stack, but not at a frame). FILE: map, dump, link, garbage or nothing; the kind of
 * file that is left for perf(1).
 */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CODE_BYTES 4096

static void *volatile sink;

__attribute__((noinline)) static void leaf(void)
{
	sink = malloc(24);
	free(sink);
}

static uint8_t *put(uint8_t *to, const void *bytes, size_t length)
{
	memcpy(to, bytes, length);
	return to + length;
}

/*
 * Generate code that calls leaf(): mov $leaf, %rax; call *%rax,
 * with a prologue and epilogue.
 */
static uint8_t *make(const char *frame)
{
	static const uint8_t push_rbp = 0x55, pop_rbp = 0x5d, ret = 0xc3;
	static const uint8_t mov_rsp_rbp[] = { 0x48, 0x89, 0xe5 },
			     mov_rax[] = { 0x48, 0xb8 };
	static const uint8_t call_rax[] = { 0xff, 0xd0 }, clear_rbp[] = { 0x31, 0xed };
	/* lea 8(%rsp), %rbp */
	static const uint8_t stray[] = { 0x48, 0x8d, 0x6c, 0x24, 0x08 };
	uint8_t *code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*function)(void) = leaf;
	uint8_t *at = code;

	if (code == MAP_FAILED)
		exit(77);
	at = put(at, &push_rbp, 1);
	if (strcmp(frame, "pointer") == 0)
		at = put(at, mov_rsp_rbp, sizeof(mov_rsp_rbp));
	else if (strcmp(frame, "stray") == 0)
		at = put(at, stray, sizeof(stray));
	else
		at = put(at, clear_rbp, sizeof(clear_rbp));
	at = put(at, mov_rax, sizeof(mov_rax));
	at = put(at, &function, sizeof(function));
	at = put(at, call_rax, sizeof(call_rax));
	at = put(at, &pop_rbp, 1);
	put(at, &ret, 1);
	return code;
}

static void write_map(FILE *file, const uint8_t *code)
{
	fprintf(file, "%lx %x before\n%lx %x stale name\n%lx %x JS:*made /x.js:1\n",
		(unsigned long)code - 64, 64, (unsigned long)code, CODE_BYTES,
		(unsigned long)code, CODE_BYTES);
}

/* Write a header, a record for the code, and a record of a kind that readers skip. */
static void write_dump(FILE *file, const uint8_t *code)
{
	const uint32_t head[10] = { 0x4a695444, 1, 40, 62, 0, (uint32_t)getpid() };
	const uint32_t load_record[4] = { 0, 16 + 40 + 6 + 4 }, end_record[4] = { 3, 16 };
	const uint64_t load[5] = { (uint32_t)getpid(), 0, (uint64_t)(uintptr_t)code,
				   CODE_BYTES, 1 };

	fwrite(head, sizeof(head), 1, file);
	fwrite(load_record, sizeof(load_record), 1, file);
	fwrite(load, sizeof(load), 1, file);
	fwrite("dumped", 6, 1, file);
	fwrite("\0abc", 4, 1, file);
	fwrite(end_record, sizeof(end_record), 1, file);
}

static void leave_file(const char *what, const uint8_t *code)
{
	char path[64], other[80];
	FILE *file;

	snprintf(path, sizeof(path),
		 strcmp(what, "dump") == 0 ? "/tmp/jit-%d.dump" : "/tmp/perf-%d.map",
		 (int)getpid());
	snprintf(other, sizeof(other), "%s.elsewhere", path);
	if (strcmp(what, "nothing") == 0)
		return;
	file = fopen(strcmp(what, "link") == 0 ? other : path, "w");
	if (!file || (strcmp(what, "link") == 0 && symlink(other, path) < 0))
		exit(77);
	if (strcmp(what, "dump") == 0)
		write_dump(file, code);
	if (strcmp(what, "garbage") == 0)
		fwrite("\0\xff no line\n\n 12 \nzz 10 a\n10\n1 2\nfffffffffffffffff 1 x\nffffffffffffffff "
		       "ffffffffffffffff y\n",
		       72, 1, file);
	if (strcmp(what, "dump") != 0)
		write_map(file, code);
	fclose(file);
}

int main(int argc, char **argv)
{
	void (*function)(void);
	uint8_t *code;

	if (argc != 4)
		return 2;
	code = make(argv[1]);
	leave_file(argv[2], code);
	memcpy(&function, &code, sizeof(function));
	for (long i = atol(argv[3]); i > 0; i--)
		function();
	return 0;
}
