/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a name from an object file. Its length is bounded, and text
 * that was there before is kept.
 */
#include "config.h"

#include <string.h>

#include "base/demangle.h"
#include "fuzz.h"

#define TEXT_MAX_BYTES 16384

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf name = STRBUF_INIT, out = STRBUF_INIT;
	bool is_mangled;

	strbuf_add(&name, data, size);
	strbuf_add_char(&out, '=');
	is_mangled = demangle_add(&out, strbuf_text(&name));
	CHECK(out.length >= 1 && out.length <= 1 + TEXT_MAX_BYTES && out.text[0] == '=');
	CHECK(is_mangled || out.length == 1);
	strbuf_release(&name);
	strbuf_release(&out);
	return 0;
}
