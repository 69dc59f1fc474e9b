/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "agent/blob.h"

#include "agent/count/hooks.h"
#include "agent/helper/abi.h"

const char *const agent_function_names[AGENT_FN_COUNT_][AGENT_ALIAS_MAX] = {
	[AGENT_FN_MALLINFO2] = { "mallinfo2" },
	[AGENT_FN_MALLOC_INFO] = { "malloc_info" },
	[AGENT_FN_FOPENCOOKIE] = { "fopencookie" },
	[AGENT_FN_SETVBUF] = { "setvbuf" },
	[AGENT_FN_FCLOSE] = { "fclose" },
	[AGENT_FN_MALLCTL] = { "mallctl", "je_mallctl", "_rjem_mallctl" },
	[AGENT_FN_MALLOC_STATS_PRINT] = { "malloc_stats_print", "je_malloc_stats_print",
					  "_rjem_malloc_stats_print" },
	[AGENT_FN_TC_GET_NUMERIC_PROPERTY] = { "MallocExtension_GetNumericProperty" },
	[AGENT_FN_TC_GET_STATS] = { "MallocExtension_GetStats" },
	[AGENT_FN_MI_PROCESS_INFO] = { "mi_process_info" },
	[AGENT_FN_MI_STATS_PRINT_OUT] = { "mi_stats_print_out" },
};

#define NAME(symbol, function) [HOOK_##symbol] = #symbol,
#define EXTRA_NAME(symbol, call, size) NAME(symbol, call)
const char *const agent_hook_names[HOOK_COUNT_] = { HOOKS_STANDARD(NAME)
							    COUNT_EXTRA(EXTRA_NAME) };

#if HAVE_AGENT

/*
 * The assembler includes two binary files here. src/agent/local.mk builds them, and
 * passes their folder to the assembler.
 */
__asm__(".section .rodata\n"
	".balign 16\n"
	".globl agent_blob_start\n"
	".globl agent_blob_end\n"
	"agent_blob_start:\n"
	".incbin \"helper.bin\"\n"
	"agent_blob_end:\n"
	".balign 16\n"
	".globl agent_hooks_start\n"
	".globl agent_hooks_end\n"
	"agent_hooks_start:\n"
	".incbin \"count_hooks.bin\"\n"
	"agent_hooks_end:\n"
	".previous\n");

extern const char agent_blob_start[], agent_blob_end[], agent_hooks_start[],
	agent_hooks_end[];

const void *agent_blob(size_t *ret_bytes)
{
	*ret_bytes = (uintptr_t)agent_blob_end - (uintptr_t)agent_blob_start;
	return agent_blob_start;
}

const void *agent_hooks(size_t *ret_bytes)
{
	*ret_bytes = (uintptr_t)agent_hooks_end - (uintptr_t)agent_hooks_start;
	return agent_hooks_start;
}

#else

const void *agent_blob(size_t *ret_bytes)
{
	*ret_bytes = 0;
	return NULL;
}

const void *agent_hooks(size_t *ret_bytes)
{
	*ret_bytes = 0;
	return NULL;
}

#endif
