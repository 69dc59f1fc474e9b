/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between inject_target and the library that it loads. */
#ifndef MS_TESTS_INJECT_PLUGIN_H
#define MS_TESTS_INJECT_PLUGIN_H

void plugin_is_loading(void);

#endif
