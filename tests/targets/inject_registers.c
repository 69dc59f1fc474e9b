/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that checks the content of its registers and of the memory below its stack
 * pointer; and threads that count in restartable sequences (rseq(2)), which must not
 * continue after an interruption.
 */
#include "config.h"

#include "inject_target.h"

#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)

/*
 * The values that the code below loads and stores. The code contains the member offsets.
 */
struct image {
	uint64_t general[16]; /* rax rbx rcx rdx rsi rdi rbp r8-r15, flags */
	unsigned char red_zone[128];
	unsigned char x87[8][16]; /* 10 bytes each */
	uint16_t control;
	uint16_t unused;
	uint32_t mxcsr;
	unsigned char vectors[32][64];
	uint64_t masks[8];
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct image, red_zone) == 128, "as in the code");
_Static_assert(offsetof(struct image, x87) == 256, "as in the code");
_Static_assert(offsetof(struct image, control) == 384, "as in the code");
_Static_assert(offsetof(struct image, mxcsr) == 388, "as in the code");
_Static_assert(offsetof(struct image, vectors) == 392, "as in the code");
_Static_assert(offsetof(struct image, masks) == 2440, "as in the code");

struct image registers_wanted __attribute__((visibility("hidden")));
struct image registers_got __attribute__((visibility("hidden")));

/* Load, count down, store, with vectors of 16, 32 or 64 bytes (level 0, 1, 2). */
void registers_hold(uint64_t rounds, int level);

#	define RCX 2
#	define RDX 3
#	define FLAGS 15

__asm__(".pushsection .text\n"
	".macro each_general what\n"
	"\\what rax, 0\n\\what rbx, 1\n\\what rsi, 4\n\\what rdi, 5\n\\what rbp, 6\n"
	"\\what r8, 7\n\\what r9, 8\n\\what r10, 9\n\\what r11, 10\n\\what r12, 11\n"
	"\\what r13, 12\n\\what r14, 13\n\\what r15, 14\n"
	".endm\n"
	".macro load_general name, i\n mov registers_wanted+8*\\i(%rip), %\\name\n.endm\n"
	".macro store_general name, i\n mov %\\name, registers_got+8*\\i(%rip)\n.endm\n"
	".globl registers_hold\n"
	".type registers_hold, @function\n"
	"registers_hold:\n"
	"push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"push %rdi; push %rsi\n"
	"fninit\n"
	".irp i, 7,6,5,4,3,2,1,0\n fldt registers_wanted+256+16*\\i(%rip)\n.endr\n"
	"fldcw registers_wanted+384(%rip)\n"
	"ldmxcsr registers_wanted+388(%rip)\n"
	"cmp $1, %esi\n ja 3f\n je 2f\n"
	".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	" movdqu registers_wanted+392+64*\\i(%rip), %xmm\\i\n.endr\n"
	"jmp 4f\n"
	"2:\n"
	".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	" vmovdqu registers_wanted+392+64*\\i(%rip), %ymm\\i\n.endr\n"
	"jmp 4f\n"
	"3:\n"
	".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,"
	"29,30,31\n vmovdqu64 registers_wanted+392+64*\\i(%rip), %zmm\\i\n.endr\n"
	".irp i, 0,1,2,3,4,5,6,7\n kmovq registers_wanted+2440+8*\\i(%rip), %k\\i\n.endr\n"
	"4:\n"
	"mov %rdi, %rcx\n"
	"pushq registers_wanted+8*15(%rip)\n popfq\n"
	".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	" mov registers_wanted+128+8*\\i(%rip), %rax\n mov %rax, 8*\\i-128(%rsp)\n.endr\n"
	"mov $0, %edx\n"
	"each_general load_general\n"
	/* only these two registers change in the loop, not even the flags */
	"5: lea -1(%rcx), %rcx\n lea 1(%rdx), %rdx\n jrcxz 6f\n jmp 5b\n"
	"6:\n"
	"each_general store_general\n"
	"store_general rcx, 2\n store_general rdx, 3\n"
	".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	" mov 8*\\i-128(%rsp), %rax\n mov %rax, registers_got+128+8*\\i(%rip)\n.endr\n"
	"pushfq\n popq registers_got+8*15(%rip)\n"
	"cld\n"
	"pop %rsi\n pop %rdi\n"
	"fnstcw registers_got+384(%rip)\n"
	"stmxcsr registers_got+388(%rip)\n"
	".irp i, 0,1,2,3,4,5,6,7\n fstpt registers_got+256+16*\\i(%rip)\n.endr\n"
	"cmp $1, %esi\n ja 8f\n je 7f\n"
	".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	" movdqu %xmm\\i, registers_got+392+64*\\i(%rip)\n.endr\n"
	"jmp 9f\n"
	"7:\n"
	".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	" vmovdqu %ymm\\i, registers_got+392+64*\\i(%rip)\n.endr\n"
	"vzeroupper\n jmp 9f\n"
	"8:\n"
	".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,"
	"29,30,31\n vmovdqu64 %zmm\\i, registers_got+392+64*\\i(%rip)\n.endr\n"
	".irp i, 0,1,2,3,4,5,6,7\n kmovq %k\\i, registers_got+2440+8*\\i(%rip)\n.endr\n"
	"vzeroupper\n"
	"9:\n"
	"fninit\n"
	"pushq $0x1f80\n ldmxcsr (%rsp)\n pop %rax\n"
	"pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"ret\n"
	".size registers_hold, .-registers_hold\n"
	".popsection\n");

static void fill_some(void *to, size_t size, unsigned int *seed)
{
	for (size_t i = 0; i < size; i++)
		((unsigned char *)to)[i] = (unsigned char)(rand_r(seed) >> 7);
}

/*
 * Carry, parity, adjust, zero, sign, direction and overflow. Bit 1 and the
 * interrupt flag are always set.
 */
#	define FLAGS_FREE 0xcd5U
#	define FLAGS_SET 0x202U

static void fill(struct image *image, int level, unsigned int *seed)
{
	static const size_t vector_size[] = { 16, 32, 64 };

	fill_some(image->general, sizeof(image->general), seed);
	image->general[FLAGS] = (image->general[FLAGS] & FLAGS_FREE) | FLAGS_SET;
	fill_some(image->red_zone, sizeof(image->red_zone), seed);
	for (int i = 0; i < 8; i++) {
		fill_some(image->x87[i], 8, seed);
		/* normalized, as the unit itself would store it */
		image->x87[i][7] |= 0x80;
		image->x87[i][8] = (unsigned char)rand_r(seed);
		image->x87[i][9] = 0x3f;
	}
	image->control = (uint16_t)(0x37f | (rand_r(seed) & 0xc00));
	image->mxcsr = 0x1f80U | ((unsigned int)rand_r(seed) & 0xe040);
	for (int i = 0; i < (level == 2 ? 32 : 16); i++)
		fill_some(image->vectors[i], vector_size[level], seed);
	if (level == 2)
		fill_some(image->masks, sizeof(image->masks), seed);
}

#	define ROUNDS 1000000U

void registers_run(const char *argument)
{
	struct image *wanted = &registers_wanted, *got = &registers_got;
	int level = __builtin_cpu_supports("avx512bw") ? 2
		    : __builtin_cpu_supports("avx2")   ? 1
						       : 0;
	unsigned int seed = 1;

	(void)argument;
	have_heap();
	shown->counter_count = 1;
	target_is_ready();
	for (;;) {
		fill(wanted, level, &seed);
		registers_hold(ROUNDS, level);
		wanted->general[RCX] = 0;
		wanted->general[RDX] = ROUNDS;
		if (memcmp(wanted, got, sizeof(*wanted)) != 0)
			__atomic_fetch_add(&shown->wrong, 1, __ATOMIC_RELAXED);
		count_one(0);
	}
}

#else

void registers_run(const char *argument)
{
	(void)argument;
	cannot("the registers of this machine are not known");
}

#endif

#if defined(__x86_64__) && __has_include(<sys/rseq.h>)
#	include <sys/rseq.h>

enum {
	CPUS_MAX = 1024
};

/* For each CPU, the number of increments that all threads made there without a lock. */
static uint64_t per_cpu[CPUS_MAX][8];

/*
 * Increment the counter of the current CPU. Return false, with no change, if
 * the sequence was interrupted.
 */
static int count_on_cpu(struct rseq *area)
{
	uint64_t cpu = *(volatile uint32_t *)&area->cpu_id_start;

	if (cpu >= CPUS_MAX)
		failed("so many CPUs");
	__asm__ goto(".pushsection __rseq_cs, \"aw\"\n"
		     ".balign 32\n"
		     "3: .long 0, 0\n"
		     ".quad 1f, 2f - 1f, 4f\n"
		     ".popsection\n"
		     "leaq 3b(%%rip), %%rax\n"
		     "movq %%rax, %c[section](%[area])\n"
		     "1:\n"
		     "cmpl %k[cpu], %c[cpu_id](%[area])\n"
		     "jnz 4f\n"
		     "movq (%[counter]), %%rax\n"
		     "movl $200, %%ecx\n" /* long enough to be interrupted here */
		     "5: pause\n"
		     "decl %%ecx\n"
		     "jnz 5b\n"
		     "addq $1, %%rax\n"
		     "movq %%rax, (%[counter])\n" /* this store commits the sequence */
		     "2:\n"
		     "jmp %l[done]\n"
		     ".byte 0x0f, 0xb9, 0x3d\n"
		     ".long 0x53053053\n"
		     "4:\n"
		     "jmp %l[disturbed]\n"
		     :
		     : [area] "r"(area), [cpu] "r"(cpu), [counter] "r"(&per_cpu[cpu][0]),
		       [section] "i"(offsetof(struct rseq, rseq_cs)),
		       [cpu_id] "i"(offsetof(struct rseq, cpu_id))
		     : "memory", "cc", "rax", "rcx"
		     : done, disturbed);
done:
	return 1;
disturbed:
	return 0;
}

static struct rseq *own_area(void)
{
	return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

static int is_halted;
static uint64_t halted_count;

/* Count in restartable sequences, and independently of them. */
static void *count_both_ways(void *arg)
{
	unsigned long id = (uintptr_t)arg;

	for (;;) {
		if (count_on_cpu(own_area()))
			count_one(id);
		if (!__atomic_load_n(&is_halted, __ATOMIC_ACQUIRE))
			continue;
		__atomic_fetch_add(&halted_count, 1, __ATOMIC_ACQ_REL);
		while (__atomic_load_n(&is_halted, __ATOMIC_ACQUIRE))
			sched_yield();
		__atomic_fetch_sub(&halted_count, 1, __ATOMIC_ACQ_REL);
	}
	return NULL;
}

/* The threads have halted: both sums must be equal. */
static void compare_counts(unsigned long thread_count)
{
	uint64_t in_sequences = 0, in_all = 0;

	for (int i = 0; i < CPUS_MAX; i++)
		in_sequences += per_cpu[i][0];
	for (unsigned long i = 0; i < thread_count; i++)
		in_all += shown->counters[i][0];
	shown->wrong += in_sequences != in_all;
}

/* The main thread counts, too, and compares the sums from time to time. */
void rseq_run(const char *argument)
{
	unsigned long count = number_of(argument);

	if (__rseq_size == 0)
		cannot("no rseq in this libc, or this kernel");
	have_heap();
	shown->counter_count = count;
	for (unsigned long i = 1; i < count; i++)
		start_thread(count_both_ways, (void *)(uintptr_t)i);
	target_is_ready();
	for (;;) {
		for (int i = 0; i < 5000; i++)
			if (count_on_cpu(own_area()))
				count_one(0);
		__atomic_store_n(&is_halted, 1, __ATOMIC_RELEASE);
		while (__atomic_load_n(&halted_count, __ATOMIC_ACQUIRE) < count - 1)
			sched_yield();
		compare_counts(count);
		__atomic_store_n(&is_halted, 0, __ATOMIC_RELEASE);
		while (__atomic_load_n(&halted_count, __ATOMIC_ACQUIRE))
			sched_yield();
	}
}

#else

void rseq_run(const char *argument)
{
	(void)argument;
	cannot("no sys/rseq.h");
}

#endif
