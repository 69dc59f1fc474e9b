/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_plugin - a module that calls back. The variant built with STACK_PLUGIN_OTHER has
 * a frame of a different size.
 */
#include "config.h"

void plugin_call(void (*call)(void));

void plugin_call(void (*call)(void))
{
#ifdef STACK_PLUGIN_OTHER
	volatile char room[4000];
#else
	volatile char room[40];
#endif

	room[0] = 1;
	call();
	room[1] = room[0];
}
