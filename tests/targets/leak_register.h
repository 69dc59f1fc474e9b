/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leak_register - wait with the only copy of an address in a register.
 */
#ifndef MS_TESTS_LEAK_REGISTER_H
#define MS_TESTS_LEAK_REGISTER_H

#include <stdbool.h>

/*
 * Call pause(2) forever. p holds the inverted address; its true value is in xmm9 if
 * is_vector is true, or else in rbx.
 */
static inline __attribute__((always_inline)) void pause_with_register(void *p,
								      bool is_vector)
{
	if (is_vector)
		__asm__ volatile(
			"not %0\n\tmovq %0, %%xmm9\n\tnot %0\n\txor %%ebx, %%ebx\n"
			"1:\tmov $34, %%eax\n\tsyscall\n\tjmp 1b"
			: "+r"(p)
			:
			: "rax", "rbx", "rcx", "r11", "xmm9", "memory");
	else
		__asm__ volatile("mov %0, %%rbx\n\tnot %%rbx\n"
				 "1:\tmov $34, %%eax\n\tsyscall\n\tjmp 1b"
				 : "+r"(p)
				 :
				 : "rax", "rbx", "rcx", "r11", "memory");
}

#endif
