/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The function of inject_target that its plugin calls while it is being loaded. */
#ifndef MS_TESTS_INJECT_PLUGIN_H
#define MS_TESTS_INJECT_PLUGIN_H

void plugin_is_loading(void);

#endif
