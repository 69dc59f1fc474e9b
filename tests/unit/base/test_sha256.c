/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/sha256.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "../support/unit.h"

static void digest_is(const char *text, size_t length, const char *wanted)
{
	struct strbuf hex = STRBUF_INIT;
	uint8_t digest[SHA256_BYTES];

	sha256(text, length, digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		strbuf_addf(&hex, "%02x", digest[i]);
	assert_string_equal(hex.text, wanted);
	strbuf_release(&hex);
}

/* The examples of FIPS 180-2, appendix B. */
static void the_examples_of_the_standard_have_the_right_digests(void **state)
{
	static const char two_blocks[] =
		"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	char *million = xmalloc(1000000);

	(void)state;
	digest_is("", 0,
		  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	digest_is("abc", 3,
		  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	digest_is(two_blocks, strlen(two_blocks),
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	memset(million, 'a', 1000000);
	digest_is(million, 1000000,
		  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	free(million);
}

/*
 * Lengths that still fit into the last block, and lengths that do not. The
 * digests are from sha256sum(1).
 */
static void lengths_around_the_block_size_have_the_right_digests(void **state)
{
	static const struct {
		size_t length;
		const char *wanted;
	} rows[] = {
		{ 55,
		  "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318" },
		{ 56,
		  "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a" },
		{ 63,
		  "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34" },
		{ 64,
		  "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb" },
		{ 65,
		  "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0" },
	};
	char text[65];

	(void)state;
	memset(text, 'a', sizeof(text));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		digest_is(text, rows[i].length, rows[i].wanted);
}

static void base64_has_the_format_of_a_content_security_policy(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	strbuf_add_char(&out, '<');
	sha256_add_base64(&out, "abc", 3);
	assert_string_equal(out.text, "<ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
	strbuf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_examples_of_the_standard_have_the_right_digests),
		cmocka_unit_test(lengths_around_the_block_size_have_the_right_digests),
		cmocka_unit_test(base64_has_the_format_of_a_content_security_policy),
	};

	return cmocka_run_group_tests_name("sha256", tests, NULL, NULL);
}
