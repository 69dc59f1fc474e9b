/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * go_like_target - a program that looks like a Go program: its heap is at Go's
 * address, and its file has the section that Go's linker adds. Prints "ready" and
 * waits for the end of its standard input.
 */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((section(".go.buildinfo"), used)) static const char build_info[] =
	"\xff Go buildinf:";

int main(void)
{
	void *heap = mmap((void *)(uintptr_t)UINT64_C(0xc000000000), 4 << 20,
			  PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	char byte;

	if (heap == MAP_FAILED)
		return 1;
	*(volatile char *)heap = 1;
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	return read(STDIN_FILENO, &byte, 1) < 0;
}
