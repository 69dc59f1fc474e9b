#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate exporter: the web configuration file, with TLS, passwords and limits."""

import contextlib
import http.client
import os
import ssl
import tempfile

from exporter_lib import Exporter, add_up, parse, ready
from live import TIMEOUT, check, equal, memstate, need_built_with, run, test, wait_until
from web_file_lib import basic, bcrypt, certificates, certify, openssl_in, write

FAILURES = "memstate_web_file_failures_total"
IS_GOOD = "memstate_web_file_last_reload_successful"
COLLECTED = "memstate_collect_timestamp_seconds"


# The beginning of a web file that requires client certificates
MUTUAL = "tls_server_config: {cert: a, key: b, client_ca: c, client_auth_type: RequireAndVerifyClientCert, "



@test
def passwords_and_a_damaged_web_file():
    need_built_with("YAML", "CRYPT")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "web.yml")
        text = f"basic_auth_users:\n  alice: {bcrypt('secret')}\nhttp_server_config:\n" \
               "  headers:\n    X-Frame-Options: deny\n"
        write(path, text)
        with ready(config=path) as exporter:
            equal(exporter.get().status, 401, "without a password")
            equal(exporter.get(Authorization=basic("alice", "wrong")).status, 401, "wrong")
            equal(exporter.get(Authorization=basic("bob", "secret")).status, 401, "unknown user")
            right = exporter.get(Authorization=basic("alice", "secret"))
            equal((right.status, right.headers["X-Frame-Options"]), (200, "deny"), "right")
            equal(add_up(parse(right.body.decode()), "memstate_web_file_last_reload_successful"), 1, "good")
            equal(exporter.get("/-/healthy").status, 200, "healthy needs no password")
            # too many wrong ones in a second are not even checked
            equal({exporter.get(Authorization=basic("alice", f"x{i}")).status for i in range(30)} - {401},
                  {429}, "limited")
            equal(exporter.get(Authorization=basic("alice", "secret")).status, 200, "a known one is")
            write(path, "basic_auth_users: [")
            line = exporter.wait_for_message(b"web.yml")
            check(b"the previous settings remain in effect" in line, line)
            equal(exporter.get(Authorization=basic("alice", "secret")).status, 200, "still in force")
            equal(exporter.get().status, 401, "still in force")
            write(path, text.replace("alice", "carol"))
            wait_until(lambda: exporter.get(Authorization=basic("carol", "secret")).status == 200, "read again")
            equal(exporter.get(Authorization=basic("alice", "secret")).status, 401, "the former user")


@test
def failures_are_counted_and_reported_once():
    need_built_with("YAML")
    with tempfile.TemporaryDirectory() as folder:
        certificates(folder)
        path = os.path.join(folder, "web.yml")
        good = "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n"
        write(path, good)
        context = ssl.create_default_context(cafile=os.path.join(folder, "ca.pem"))
        with Exporter("-i", "50ms", "--max-cpu", "100%", config=path) as exporter:
            def wait_for(count, is_good, what):
                def is_as_wanted():
                    samples = exporter.samples(context=context)
                    return (add_up(samples, FAILURES), add_up(samples, IS_GOOD)) == (count, is_good)
                wait_until(is_as_wanted, what)
            exporter.wait_ready(context=context)
            wait_for(0, 1, "the file is good")
            write(path, "tls_server_config: [")
            wait_for(1, 0, "the file is damaged")
            # the file is read again every second
            begin = add_up(exporter.samples(context=context), COLLECTED)
            wait_until(lambda: add_up(exporter.samples(context=context), COLLECTED) >= begin + 2.5,
                       "the file is read again")
            wait_for(1, 0, "the failure is counted once")
            write(path, good)
            wait_for(1, 1, "the file is good again")
            # the process that serves refuses a file that is not a certificate
            write(path, good.replace("server.pem", "ca.key"))
            wait_for(2, 0, "the certificate is refused")
            write(path, good + "  min_version: TLS13\n")
            wait_for(2, 1, "the file is good for the third time")
            messages = [line for line in exporter.end().splitlines() if "web" in line]
            equal(len(messages), 2, messages)
            check("the previous settings remain in effect" in messages[0], messages)
            check("the certificate or the key is not valid" in messages[1], messages)


def serial_of(exporter, context):
    with exporter.connect() as plain, context.wrap_socket(plain, server_hostname="127.0.0.1") as s:
        return s.getpeercert()["serialNumber"]


@test
def new_certificates_and_headers_take_effect():
    need_built_with("YAML")
    with tempfile.TemporaryDirectory() as folder:
        certificates(folder)
        path = os.path.join(folder, "web.yml")
        tls = "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n"
        write(path, tls)
        context = ssl.create_default_context(cafile=os.path.join(folder, "ca.pem"))
        with Exporter("-i", "1h", config=path) as exporter:
            exporter.wait_ready(context=context)
            first = serial_of(exporter, context)
            # a renewed certificate: the web file itself does not change
            certify(folder, "renewed", "ca", "server")
            os.rename(os.path.join(folder, "renewed.pem"), os.path.join(folder, "server.pem"))
            wait_until(lambda: serial_of(exporter, context) != first, "the new certificate is presented")
            # the response with the metrics is prepared before the headers change
            equal(exporter.get(context=context).headers["X-Frame-Options"], None, "no header")
            write(path, tls + "http_server_config:\n  headers:\n    X-Frame-Options: deny\n")
            wait_until(lambda: exporter.get(context=context).headers["X-Frame-Options"] == "deny", "the header")


@test
def requests_are_limited_to_a_rate():
    need_built_with("YAML")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "web.yml")
        write(path, "rate_limit:\n  interval: 1h\n  burst: 5\n")
        with Exporter(config=path) as exporter:
            equal([exporter.get("/-/healthy").status for _ in range(8)], [200] * 5 + [429] * 3, "a burst of 5")
            write(path, "rate_limit:\n  interval: 0\n  burst: 5\n")
            wait_until(lambda: exporter.get("/-/healthy").status == 200, "the limit is removed")
            equal({exporter.get("/-/healthy").status for _ in range(20)}, {200}, "without a limit")


def version_of(exporter, folder, version=None):
    """Connect with TLS, at most in this version; return the version of the connection."""
    context = ssl.create_default_context(cafile=os.path.join(folder, "ca.pem"))
    if version:
        context.minimum_version = context.maximum_version = version
    with exporter.connect() as plain, context.wrap_socket(plain, server_hostname="127.0.0.1") as s:
        return s.version()


def indented(folder, name):
    with open(os.path.join(folder, name)) as f:
        return "".join("    " + line for line in f)


@test
def certificates_in_the_web_file_and_tls_versions():
    need_built_with("YAML")
    with tempfile.TemporaryDirectory() as folder:
        certificates(folder)
        path = os.path.join(folder, "web.yml")
        tls = f"tls_server_config:\n  cert: |\n{indented(folder, 'server.pem')}" \
              f"  key: |\n{indented(folder, 'server.key')}"
        write(path, tls + "  max_version: TLS12\n")
        with Exporter(config=path) as exporter:
            equal(version_of(exporter, folder), "TLSv1.2", "max_version")
            write(path, tls + "  min_version: TLS13\n  max_version: TLS13\n")
            wait_until(lambda: version_of(exporter, folder) == "TLSv1.3", "the settings are in effect")
            try:
                version_of(exporter, folder, ssl.TLSVersion.TLSv1_2)
                raise AssertionError("TLS 1.2 is accepted")
            except (ssl.SSLError, OSError):
                pass
            ca = f"  client_auth_type: RequireAndVerifyClientCert\n  client_ca: |\n{indented(folder, 'ca.pem')}"
            write(path, tls + ca)
            context = ssl.create_default_context(cafile=os.path.join(folder, "ca.pem"))
            wait_until(lambda: exporter.get(context=context).status == 403, "a certificate is required")
            context.load_cert_chain(os.path.join(folder, "client.pem"), os.path.join(folder, "client.key"))
            equal(exporter.get(context=context).status, 200, "with a certificate")


@test
def tls_with_client_certificates():
    need_built_with("YAML")
    with tempfile.TemporaryDirectory() as folder:
        certificates(folder)
        path = os.path.join(folder, "web.yml")
        tls = "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n"
        write(path, tls)
        context = ssl.create_default_context(cafile=os.path.join(folder, "ca.pem"))
        with Exporter(config=path) as exporter:
            exporter.wait_ready(context=context)
            equal(exporter.get(context=context).status, 200, "TLS")
            old = ssl.create_default_context(cafile=os.path.join(folder, "ca.pem"))
            old.minimum_version = ssl.TLSVersion.TLSv1
            old.maximum_version = ssl.TLSVersion.TLSv1_1
            try:
                exporter.get(context=old)
                raise AssertionError("TLS 1.1 is accepted")
            except (ssl.SSLError, OSError):
                pass
            with exporter.connect() as plain:
                plain.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
                with contextlib.suppress(ConnectionError):
                    check(b"200 OK" not in plain.recv(1000), "plain text is refused")
            # a broken certificate is refused, and the former one stays
            write(path, tls.replace("server.pem", "ca.key"))
            exporter.wait_for_message(b"web file")
            equal(exporter.get(context=context).status, 200, "the former certificate")
            write(path, tls + "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.pem\n")
            wait_until(lambda: exporter.get(context=context).status == 403, "a certificate is required")
            context.load_cert_chain(os.path.join(folder, "client.pem"), os.path.join(folder, "client.key"))
            equal(exporter.get(context=context).status, 200, "with a certificate")


NAMES = {"dns": ("DNS:client.example", "client.example"), "ip4": ("IP:10.1.2.3", "10.1.2.3"),
         "ip6": ("IP:2001:db8:0:0:0:0:0:1", "2001:db8::1"), "email": ("email:ops@example.org", "ops@example.org"),
         "uri": ("URI:spiffe://example.org/ns/scrape", "spiffe://example.org/ns/scrape"),
         "many": ("DNS:a.example,DNS:b.example,email:c@example.org,DNS:client.example", "client.example")}
OTHERS = {"parent": "DNS:example", "child": "DNS:x.client.example", "case": "DNS:CLIENT.example",
          "text": "DNS:other.example", "address": "IP:10.1.2.4", "none": None}


def contexts(folder, names, ca):
    """Make a certificate with each of these names; return contexts of clients that present them."""
    made = {}
    for name, san in names.items():
        with open(os.path.join(folder, "san"), "w") as f:
            f.write(f"subjectAltName={san}\n" if san else "keyUsage=digitalSignature\n")
        certify(folder, name, ca, "client")
        made[name] = ssl.create_default_context(cafile=os.path.join(folder, "ca.pem"))
        made[name].load_cert_chain(os.path.join(folder, f"{name}.pem"), os.path.join(folder, "client.key"))
    return made


def allow_names(path, names):
    items = "".join(f"  - {name}\n" for name in names)
    write(path, "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n  client_ca_file: ca.pem\n"
          f"  client_auth_type: RequireAndVerifyClientCert\n  client_allowed_sans:\n{items}")


def statuses(exporter, clients):
    return {name: exporter.get("/-/healthy", context=context).status for name, context in clients.items()}


@test
def clients_need_an_allowed_name():
    need_built_with("YAML")
    with tempfile.TemporaryDirectory() as folder:
        certificates(folder)
        openssl_in(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "fake.key", "-out", "fake.pem",
                   "-days", "2", "-subj", "/CN=ca")
        allowed = contexts(folder, {name: san for name, (san, _) in NAMES.items()}, "ca")
        others = contexts(folder, OTHERS, "ca")
        fakes = contexts(folder, {"fake": NAMES["dns"][0]}, "fake")
        path = os.path.join(folder, "web.yml")
        allow_names(path, [name for _, name in NAMES.values()])
        with Exporter(config=path) as exporter:
            equal(statuses(exporter, allowed), dict.fromkeys(allowed, 200), "allowed names")
            equal(statuses(exporter, others), dict.fromkeys(others, 403), "other names")
            equal(statuses(exporter, fakes), {"fake": 403}, "an allowed name, certified by another CA")
            context = ssl.create_default_context(cafile=os.path.join(folder, "ca.pem"))
            equal(exporter.get(context=context).status, 403, "without a certificate")
            # the list applies to connections that are open when it changes
            with contextlib.closing(http.client.HTTPSConnection(
                    exporter.address, exporter.port, timeout=TIMEOUT, context=allowed["dns"])) as c:
                c.request("GET", "/-/healthy")
                equal((r := c.getresponse()).status, 200, r.read())
                allow_names(path, [NAMES["ip4"][1], "other.example"])
                wait_until(lambda: statuses(exporter, others)["text"] == 200, "another list")
                c.request("GET", "/-/healthy")
                equal(c.getresponse().status, 403, "the open connection")
            equal(statuses(exporter, allowed), {**dict.fromkeys(allowed, 403), "ip4": 200}, "the former names")


@test
def what_is_not_supported_is_refused_by_name():
    need_built_with("YAML", "MICROHTTPD")
    texts = {
        "tls_server_config:\n  cipher_suites: [a]\n": "tls_server_config.cipher_suites: memstate does not support",
        "tls_server_config:\n  curve_preferences:\n  - a\n": "tls_server_config.curve_preferences: memstate does not",
        "tls_server_config:\n  cert_file: [a]\n": "tls_server_config.cert_file: memstate does not support this list",
        "basic_auth_users: [a]\n": "basic_auth_users: memstate does not support this list",
        "tls_server_config:\n  client_allowed_sans: [a]\n": "client_allowed_sans: requires the client_auth_type",
        "tls_server_config:\n  client_allowed_sans: []\n": "client_allowed_sans: requires the client_auth_type",
        MUTUAL + "client_allowed_sans: []}": "client_allowed_sans: with an empty list, no client would be allowed",
        MUTUAL + "client_allowed_sans: a}": "client_allowed_sans: not a list",
        MUTUAL + "client_allowed_sans: [a, '']}": "client_allowed_sans: a name is empty",
        MUTUAL + f"client_allowed_sans: [{'a' * 2049}]" + "}": "client_allowed_sans: a name is empty or too long",
        MUTUAL + "client_allowed_sans: [a, [b]]}": "unexpected list",
        MUTUAL + "client_allowed_sans: [{a: b}]}": "unexpected map",
        MUTUAL + "client_allowed_sans: [&a b]}": "unexpected value",
        MUTUAL + "client_allowed_sans: *a}": "client_allowed_sans: aliases are not supported",
        MUTUAL + f"client_allowed_sans: [{'a,' * 300}]" + "}": "too many values",
        MUTUAL + "client_allowed_sans: [a], client_allowed_sans: [b]}": "repeated",
        "tls_server_config:\n  prefer_server_cipher_suites: true\n": "tls_server_config.prefer_server_cipher_suites",
        "tls_server_config:\n  client_auth_type: RequireAnyClientCert\n": "tls_server_config.client_auth_type",
        "tls_server_config:\n  max_version: TLS11\n": "tls_server_config.max_version",
        "tls_server_config:\n  max_version: TLS13\n": "no certificate",
        "tls_server_config: {cert: a, key: b, max_version: TLS12, min_version: TLS13}": "below min_version",
        "tls_server_config: {cert: a, cert_file: /etc/passwd}": "contains this and names a file",
        "tls_server_config: {cert: a, key: b}": "not valid",
        "tls_server_config: {cert: '', key: ''}": "not valid",
        "tls_server_config: {cert: a}": "require each other",
        "tls_server_config: {client_ca: a}": "a client CA requires",
        "http_server_config:\n  http2: true\n": "HTTP/2",
        "rate_limit:\n  burst: -1\n": "rate_limit.burst: not a number",
        "rate_limit:\n  interval: often\n": "rate_limit.interval: not a duration",
        "rate_limit:\n  interval: 1s\n": "rate_limit: with a burst of 0",
        "rate_limit:\n  per_address: 1\n": "rate_limit.per_address: memstate does not support",
        "basic_auth_users:\n  a: plain\n": "bcrypt",
        "tls_server_config:\n  cert_file: nothing\n": "No such file",
        "tls_server_config:\n  cert_file: /etc/passwd\n": "require each other",
        "http_server_config:\n  headers:\n    Set-Cookie: a\n": "Set-Cookie",
        "a: b\na: c\n": "does not support",
        "tls_server_config:\n  min_version: TLS12\n  min_version: TLS13\n": "repeated",
        "- a\n": "unexpected list",
        "&a b": "unexpected",
        "\0": "",
        "a: {b: {c: {d: e}}}": "map",
    }
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "web.yml")
        for text, why in texts.items():
            write(path, text)
            done = memstate("exporter", "--web.listen-address", "127.0.0.1:0", "--web.config.file", path)
            equal(done.status, 1, text)
            check(why in done.err.decode(), f"{text!r}: {done.err}")


if __name__ == "__main__":
    run()
