/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library that notifies the program while it is being loaded. */
#include "inject_plugin.h"

__attribute__((constructor)) static void begin(void)
{
	plugin_is_loading();
}
