/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_keep - assembly around the hooks of additional entry points (extra.h) that
 * preserves all registers.
 *
 * If an allocator is linked into the program, the program's calls to the allocator also
 * reach these hooks. A compiler that has seen the allocator's code may rely on more than
 * the ABI guarantees: gcc's -fipa-ra keeps values in registers that the called function
 * does not change, and the compiler may skip aligning the stack for the call. Therefore
 * hooks.c is compiled to use only general-purpose registers, and the assembly saves all
 * of them that the ABI allows a function to change. Hooks for entry points with the same
 * call and size in extra.h share one function body.
 */
#ifndef MS_AGENT_COUNT_HOOKS_KEEP_H
#define MS_AGENT_COUNT_HOOKS_KEEP_H

#include "agent/count/hooks.h"

#define HOOKS_KEEP(function, size)                             \
	__asm__(".text\n"                                      \
		"kept_" #function "_" #size ":\n"              \
		"push %rax\npush %rcx\npush %rdx\npush %rsi\n" \
		"push %rdi\npush %r8\npush %r9\npush %r10\n"   \
		"push %r11\npush %rbp\n"                       \
		"lea 88(%rsp), %rcx\n"                         \
		"mov %rbp, %r8\n"                              \
		"call count_" #function "_" #size "\n"         \
		"pop %rbp\npop %r11\npop %r10\npop %r9\n"      \
		"pop %r8\npop %rdi\npop %rsi\npop %rdx\n"      \
		"pop %rcx\npop %rax\n"                         \
		"ret\n"                                        \
		".previous\n");

#define XMM(X) \
	X(0)   \
	X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define SAVE(n) "movaps %xmm" #n ", 16*" #n "(%rsp)\n"
#define RESTORE(n) "movaps 16*" #n "(%rsp), %xmm" #n "\n"

/*
 * Save all vector registers and align the stack before calling take_stack(), which may
 * use any register.
 */
__attribute__((visibility("hidden"))) void keep_and_take_stack(struct count_slot *slot,
							       uint64_t bytes,
							       uint64_t pc, uint64_t sp,
							       uint64_t rbp);
__asm__(".text\n"
	"keep_and_take_stack:\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	"sub $256, %rsp\n"
	"and $-16, %rsp\n" XMM(SAVE) "call take_stack\n" XMM(RESTORE) "mov %rbp, %rsp\n"
								      "pop %rbp\n"
								      "ret\n"
								      ".previous\n");

/*
 * Offset in struct hooks_head of the original function's address, for the hook that is
 * defined next.
 */
__asm__(".set original_offset, 240\n");
static_assert(offsetof(struct hooks_head, originals[HOOK_FIRST_EXTRA]) == 240,
	      "as above");

#define HOOKS_EXTRA_ENTRY(symbol, call, size)                 \
	__asm__(".text\n"                                     \
		".globl hook_" #symbol "\n"                   \
		".hidden hook_" #symbol "\n"                  \
		".balign 16\n"                                \
		"hook_" #symbol ":\n"                         \
		"call kept_COUNT_" #call "_" #size "\n"       \
		"jmp *hooks_head + original_offset(%rip)\n"   \
		".set original_offset, original_offset + 8\n" \
		".previous\n");

#endif
