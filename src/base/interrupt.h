/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * interrupt - notice that the user wants memstate to end, in long work during which
 * signals are blocked.
 */
#ifndef MS_BASE_INTERRUPT_H
#define MS_BASE_INTERRUPT_H

#include <stdbool.h>

/*
 * Return true if INT, TERM or HUP is blocked and pending. The signal stays pending:
 * whoever blocked it delivers it.
 */
bool interrupt_is_pending(void);

#endif
