#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""VictoriaMetrics scrapes the exporter, and node_exporter reads its text file: both show the same
sums as smaps_rollup."""

import contextlib
import json
import os
import shutil
import ssl
import subprocess
import tempfile
import urllib.parse
import urllib.request

from exporter_lib import Exporter, add_up, free_port, parse, rss, sleepers
from live import TIMEOUT, Skip, check, equal, need_built_with, run, start_memstate, test, wait_until
from web_file_lib import bcrypt, certificates, write

RESIDENT = "memstate_group_resident_bytes"
SCRAPED = """scrape_configs:
- job_name: memstate
  scrape_interval: 1s
  honor_labels: true
  static_configs: [{targets: ['127.0.0.1:%d']}]
"""
WITH_TLS = """  scheme: https
  basic_auth: {username: joe, password: secret}
  tls_config: {ca_file: %s/ca.pem, cert_file: %s/client.pem, key_file: %s/client.key}
"""
WEB_FILE = """tls_server_config:
  cert_file: server.pem
  key_file: server.key
  client_ca_file: ca.pem
  client_auth_type: RequireAndVerifyClientCert
basic_auth_users:
  joe: %s
"""


def get(address, path, **parameters):
    url = f"http://{address}{path}?{urllib.parse.urlencode(parameters)}"
    with contextlib.suppress(OSError):
        with urllib.request.urlopen(url, timeout=TIMEOUT) as response:
            return response.read().decode()
    return None


@contextlib.contextmanager
def started(program, package, *args):
    """Start a server until the end of the block."""
    if not shutil.which(program):
        raise Skip(f"{program} is not installed (package {package})")
    process = subprocess.Popen([program, *args], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def victoria_metrics(folder, config):
    """Start VictoriaMetrics; return a function that queries the value of an expression."""
    address = f"127.0.0.1:{free_port()}"
    path = os.path.join(folder, "scrape.yml")
    write(path, config)

    def value(expression):
        answer = get(address, "/api/v1/query", query=expression, latency_offset="1ms", nocache="1")
        result = json.loads(answer)["data"]["result"] if answer else []
        return float(result[0]["value"][1]) if result else None
    with started("victoria-metrics", "victoria-metrics", f"-promscrape.config={path}", f"-httpListenAddr={address}",
                 f"-storageDataPath={folder}/data", "-memory.allowedBytes=64MB") as process:
        wait_until(lambda: get(address, "/health") or process.poll() is not None, "it serves or has ended")
        equal(process.poll(), None, "status of VictoriaMetrics")
        yield value


@test
def victoria_metrics_shows_the_same_sums():
    name = f"vm{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder, sleepers(folder, name, 3) as pids, \
         Exporter("--group-by", "comm", "--match", f"^{name}$", "-i", "500ms", "--max-cpu", "100%") as exporter:
        exporter.wait_ready()
        with victoria_metrics(folder, SCRAPED % exporter.port) as value:
            wait_until(lambda: (value("count_over_time(up[5m])") or 0) >= 3, "three scrapes")
            wait_until(lambda: value(f'sum({RESIDENT}{{group="{name}"}})') == rss(pids), "the same sum")
            equal(value(f'memstate_group_processes{{group="{name}"}}'), 3, "processes")
            equal(value("min_over_time(up[5m])"), 1, "every scrape succeeded")


@test
def victoria_metrics_scrapes_with_a_certificate_and_a_password():
    need_built_with("YAML")
    name = f"vmtls{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder, sleepers(folder, name, 2) as pids:
        certificates(folder)
        path = os.path.join(folder, "web.yml")
        write(path, WEB_FILE % bcrypt("secret"))
        with Exporter("--group-by", "comm", "--match", f"^{name}$", "-i", "500ms", "--max-cpu", "100%",
                      config=path) as exporter:
            context = ssl.create_default_context(cafile=f"{folder}/ca.pem")
            context.load_cert_chain(f"{folder}/client.pem", f"{folder}/client.key")
            exporter.wait_ready(context=context)
            config = SCRAPED % exporter.port + WITH_TLS % (folder, folder, folder)
            with victoria_metrics(folder, config) as value:
                wait_until(lambda: value("up") is not None, "VictoriaMetrics has scraped")
                wait_until(lambda: value(f'sum({RESIDENT}{{group="{name}"}})') == rss(pids), "the same sum")
                equal(value("min_over_time(up[5m])"), 1, "every scrape succeeded")


@test
def node_exporter_passes_the_text_file_on():
    name, address = f"node{os.getpid()}", f"127.0.0.1:{free_port()}"
    with tempfile.TemporaryDirectory() as folder, sleepers(folder, name, 2) as pids, \
         tempfile.TemporaryDirectory() as texts:
        path = os.path.join(texts, "memstate.prom")
        process = start_memstate("exporter", "--textfile", path, "--group-by", "comm", "--match", f"^{name}$",
                                 "-i", "200ms", "--max-cpu", "100%")
        try:
            with started("prometheus-node-exporter", "prometheus-node-exporter", "--collector.disable-defaults",
                         "--collector.textfile", f"--collector.textfile.directory={texts}",
                         f"--web.listen-address={address}"):
                def passed_on():
                    text = get(address, "/metrics")
                    return {at: value for at, value in parse(text).items()} if text else {}
                wait_until(lambda: add_up(passed_on(), RESIDENT, group=name) == rss(pids), "the same sum")
                samples = passed_on()
                equal(add_up(samples, "node_textfile_scrape_error"), 0, "errors of node_exporter")
                with open(path) as f:
                    own = {at for at, _ in parse(f.read())}
                missing = own - {at for at, _ in samples}
                check(not missing, f"families that node_exporter omits: {missing}")
        finally:
            process.terminate()
            process.communicate()


if __name__ == "__main__":
    run()
