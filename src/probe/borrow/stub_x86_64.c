/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/machine.h"

#include <string.h>

#if defined(__x86_64__)

/*
 * The stub described in machine.h. rbx points to struct machine_order, r12 to the
 * context in the signal frame, for rt_sigreturn(2), and r13 to struct machine_answer.
 * While the stub waits, rsp equals r13, so that a signal handler's frame cannot
 * overwrite the answer or the context. The stub sleeps in ppoll(2), because an
 * interrupted ppoll(2) stores no restart data in the kernel, and thus does not overwrite
 * the data of the thread's own system call.
 */
__asm__(".pushsection .rodata\n"
	"machine_stub_start:\n"
	"	mov 0(%rbx), %rdi\n" /* shmat: attach the shared page */
	"	test %rdi, %rdi\n"
	"	js 1f\n"
	"	mov 8(%rbx), %rsi\n"
	"	mov $0x4000, %edx\n" /* SHM_REMAP */
	"	mov $30, %eax\n"
	"	syscall\n"
	"	cmp $-4096, %rax\n"
	"	ja 2f\n"
	"1:	mov 16(%rbx), %rdi\n" /* mmap: map the stacks */
	"	mov 24(%rbx), %rsi\n"
	"	mov $3, %edx\n"
	/* MAP_STACK, MAP_NORESERVE, MAP_ANONYMOUS, MAP_FIXED, MAP_PRIVATE */
	"	mov $0x24032, %r10d\n"
	"	mov $-1, %r8\n"
	"	xor %r9d, %r9d\n"
	"	mov $9, %eax\n"
	"	syscall\n"
	"	cmp $-4096, %rax\n"
	"	ja 2f\n"
	"	mov 40(%rbx), %rdi\n" /* call madvise */
	"	mov 48(%rbx), %rsi\n"
	"	mov $10, %edx\n" /* MADV_DONTFORK */
	"	mov $28, %eax\n"
	"	syscall\n"
	"	mov 32(%rbx), %rsp\n"
	"	mov 64(%rbx), %rdi\n"
	"	mov 72(%rbx), %rsi\n"
	"	mov 80(%rbx), %rdx\n"
	"	mov 88(%rbx), %rcx\n"
	"	call *56(%rbx)\n"
	"	movslq %eax, %rax\n"
	"	neg %rax\n"
	"2:	mov %r13, %rsp\n"
	"	mov %rax, 0(%r13)\n"
	"	movq $1, 8(%r13)\n"
	"	mov $1000, %ebp\n"
	/*
	 * the word that ends the wait is only data: a process that changes it can only
	 * end the wait early
	 */
	"3:	mov 104(%rbx), %rdx\n"
	"	mov 96(%rbx), %eax\n"
	"	cmp (%rdx), %eax\n"
	"	jne 4f\n"
	"	movq $0, 16(%r13)\n"
	/* set the timeout before each call, because ppoll(2) changes it */
	"	movq $1000000, 24(%r13)\n"
	"	lea 16(%r13), %rdx\n"
	"	mov $271, %eax\n" /* call ppoll */
	"	xor %edi, %edi\n"
	"	xor %esi, %esi\n"
	"	xor %r10d, %r10d\n"
	"	mov $8, %r8d\n"
	"	syscall\n"
	"	dec %ebp\n"
	"	jnz 3b\n"
	"4:	mov %r12, %rsp\n"
	"	mov $15, %eax\n"
	"	syscall\n"
	"machine_stub_end:\n"
	".popsection\n");

extern const uint8_t machine_stub_start[], machine_stub_end[];

_Static_assert(offsetof(struct machine_order, page_addr) == 8, "the stub's");
_Static_assert(offsetof(struct machine_order, stack_addr) == 16, "the stub's");
_Static_assert(offsetof(struct machine_order, call_stack_addr) == 32, "the stub's");
_Static_assert(offsetof(struct machine_order, no_fork_addr) == 40, "the stub's");
_Static_assert(offsetof(struct machine_order, function_addr) == 56, "the stub's");
_Static_assert(offsetof(struct machine_order, arguments) == 64, "the stub's");
_Static_assert(offsetof(struct machine_order, tracer) == 96, "the stub's");
_Static_assert(offsetof(struct machine_order, tracer_now_addr) == 104, "the stub's");
_Static_assert(offsetof(struct machine_answer, is_done) == 8, "the stub's");

const uint8_t *machine_stub(size_t *ret_bytes)
{
	*ret_bytes = (uintptr_t)machine_stub_end - (uintptr_t)machine_stub_start;
	return machine_stub_start;
}

const uint8_t *machine_syscall_code(size_t *ret_bytes)
{
	static const uint8_t code[] = { 0x0f, 0x05, 0xc3 }; /* syscall; ret */

	*ret_bytes = sizeof(code);
	return code;
}

const uint8_t *machine_sigreturn_code(size_t *ret_bytes)
{
	/* mov $15, %rax; syscall (rt_sigreturn) */
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

	*ret_bytes = sizeof(code);
	return code;
}

size_t machine_jump(int32_t distance, uint8_t ret[MACHINE_JUMP_MAX])
{
	/*
	 * encode jmp *distance(%rip), where %rip is the address of the next instruction
	 */
	const size_t bytes = 6;

	distance -= (int32_t)bytes;
	ret[0] = 0xff;
	ret[1] = 0x25;
	memcpy(ret + 2, &distance, sizeof(distance));
	return bytes;
}

#endif
