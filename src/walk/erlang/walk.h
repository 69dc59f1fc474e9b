/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * erlang - recognize the allocators of Erlang's virtual machine (BEAM), which memstate
 * cannot read. They obtain most of their carriers from the kernel as anonymous memory,
 * and the others from malloc (erts/emulator/beam/erl_alloc_util.c of OTP 25).
 */
#ifndef MS_WALK_ERLANG_WALK_H
#define MS_WALK_ERLANG_WALK_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"

/*
 * If the process runs Erlang's virtual machine, set ret->allocator and the reason why the
 * heap is unknown. The walker does not count any memory as part of a heap. *ret and
 * *ret_blocks are always initialised.
 */
void walk_erlang(const struct walk_input *input, struct heap *ret,
		 struct blocks *ret_blocks);

#endif
