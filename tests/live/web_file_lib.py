# SPDX-License-Identifier: GPL-2.0-or-later
"""Certificates, password hashes and web configuration files for tests of the exporter."""

import base64
import os
import shutil
import subprocess
import sys

from live import TIMEOUT, Skip


def openssl_in(folder, *args):
    subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True, timeout=TIMEOUT)


def certify(folder, name, ca, request):
    """Make a certificate of this name for a request, with the extensions in the file san."""
    openssl_in(folder, "x509", "-req", "-in", f"{request}.csr", "-CA", f"{ca}.pem", "-CAkey", f"{ca}.key",
               "-CAcreateserial", "-out", f"{name}.pem", "-days", "2", "-extfile", "san")


def certificates(folder):
    """Make a CA, and a server's and a client's certificate."""
    if not shutil.which("openssl"):
        raise Skip("openssl is not installed")

    def openssl(*args):
        openssl_in(folder, *args)
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2",
            "-subj", "/CN=ca")
    with open(os.path.join(folder, "san"), "w") as f:
        f.write("subjectAltName=IP:127.0.0.1\n")
    for name in ("server", "client"):
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr",
                "-subj", f"/CN={name}")
        certify(folder, name, "ca", name)


def bcrypt(password):
    script = "import crypt,sys; print(crypt.crypt(sys.argv[1], crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=16)))"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script, password],
                          capture_output=True, text=True)
    if not done.stdout.startswith("$2"):
        raise Skip("Python cannot make bcrypt hashes")
    return done.stdout.strip()


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def write(path, text):
    with open(path + ".new", "w") as f:
        f.write(text)
    os.rename(path + ".new", path)
