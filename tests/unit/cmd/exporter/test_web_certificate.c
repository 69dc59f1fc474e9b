/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of a client's certificate against client_allowed_sans. */
#include "config.h"

#include "cmd/exporter/web_certificate.h"

#include <string.h>

#include "store/exporter/web_file.h"
#include "../../support/unit.h"

#if HAVE_MICROHTTPD

static struct strbuf settings;

static void allow(enum web_setting setting, const char *value)
{
	strbuf_add_char(&settings, (char)('0' + (int)setting));
	strbuf_add(&settings, value, strlen(value) + 1);
}

static int begin(void **state)
{
	(void)state;
	allow(WEB_HEADER, "header.example");
	allow(WEB_CLIENT_NAME, "client.example");
	allow(WEB_CLIENT_NAME, "10.1.2.3");
	allow(WEB_CLIENT_NAME, "2001:db8::1");
	allow(WEB_CLIENT_NAME, "ops@example.org");
	return 0;
}

static int end(void **state)
{
	(void)state;
	strbuf_release(&settings);
	return 0;
}

static bool is_allowed(int type, const void *name, size_t size)
{
	return web_certificate_name_is_allowed(type, name, size, settings.text,
					       settings.length);
}

static bool is_text_allowed(int type, const char *name)
{
	return is_allowed(type, name, strlen(name));
}

static void names_must_be_equal(void **state)
{
	(void)state;
	assert_true(is_text_allowed(GNUTLS_SAN_DNSNAME, "client.example"));
	assert_true(is_text_allowed(GNUTLS_SAN_RFC822NAME, "ops@example.org"));
	assert_false(is_text_allowed(GNUTLS_SAN_DNSNAME, "Client.example"));
	assert_false(is_text_allowed(GNUTLS_SAN_DNSNAME, "client.exampl"));
	assert_false(is_text_allowed(GNUTLS_SAN_DNSNAME, "client.example."));
	assert_false(is_text_allowed(GNUTLS_SAN_DNSNAME, "*.example"));
	assert_false(is_text_allowed(GNUTLS_SAN_DNSNAME, ""));
	/* other settings are not names */
	assert_false(is_text_allowed(GNUTLS_SAN_DNSNAME, "header.example"));
}

static void a_name_with_a_nul_byte_is_another_name(void **state)
{
	static const char name[] = "client.example\0.attacker.example";

	(void)state;
	assert_false(is_allowed(GNUTLS_SAN_DNSNAME, name, sizeof(name) - 1));
	assert_false(is_allowed(GNUTLS_SAN_DNSNAME, name, 15));
	assert_true(is_allowed(GNUTLS_SAN_DNSNAME, name, 14));
}

static void addresses_are_compared_as_text(void **state)
{
	static const unsigned char v4[] = { 10, 1, 2, 3 };
	static const unsigned char mapped[16] = { [10] = 255, 255, 10, 1, 2, 3 };
	static const unsigned char v6[16] = { 0x20, 1, 0xd, 0xb8, [15] = 1 };
	static const unsigned char other[16] = { 0x20, 1, 0xd, 0xb8, [15] = 2 };

	(void)state;
	assert_true(is_allowed(GNUTLS_SAN_IPADDRESS, v4, sizeof(v4)));
	assert_true(is_allowed(GNUTLS_SAN_IPADDRESS, mapped, sizeof(mapped)));
	assert_true(is_allowed(GNUTLS_SAN_IPADDRESS, v6, sizeof(v6)));
	assert_false(is_allowed(GNUTLS_SAN_IPADDRESS, other, sizeof(other)));
	assert_false(is_allowed(GNUTLS_SAN_IPADDRESS, v6, 8));
	assert_false(is_allowed(GNUTLS_SAN_IPADDRESS, "10.1.2.3", 8));
}

static void other_types_are_not_allowed(void **state)
{
	(void)state;
	assert_false(is_text_allowed(GNUTLS_SAN_DN, "client.example"));
	assert_false(is_text_allowed(GNUTLS_SAN_OTHERNAME, "client.example"));
	assert_false(is_text_allowed(-1, "client.example"));
}

int main(void)
{
#	define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(names_must_be_equal),
		TEST(a_name_with_a_nul_byte_is_another_name),
		TEST(addresses_are_compared_as_text),
		TEST(other_types_are_not_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 77; /* built without libmicrohttpd */
}

#endif
