/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a function name. Folding may make it longer by at most "...", and not
 * at all if generics are kept.
 */
#include "config.h"

#include "classify/profile/fold_name.h"
#include "fuzz.h"

static void fold(const struct strbuf *name, bool keeps_generics, size_t max_bytes)
{
	struct strbuf out = STRBUF_INIT;

	strbuf_add_char(&out, '=');
	fold_name_add(&out, strbuf_text(name), keeps_generics);
	CHECK(out.length <= 1 + max_bytes && out.text[0] == '=');
	strbuf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf name = STRBUF_INIT;

	strbuf_add(&name, data, size);
	fold(&name, false, 5 * size);
	fold(&name, true, size);
	strbuf_release(&name);
	return 0;
}
