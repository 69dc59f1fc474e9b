# SPDX-License-Identifier: GPL-2.0-or-later
"""A real Prometheus that scrapes an exporter."""

import json
import os
import shutil
import subprocess
import urllib.parse
import urllib.request

from exporter_lib import free_port
from live import TIMEOUT, Skip


class Prometheus:
    """Prometheus on a free port, which scrapes the target and evaluates rules every second."""

    def __init__(self, folder, target, rules=()):
        if not shutil.which("prometheus"):
            raise Skip("prometheus is not installed")
        self.address = f"127.0.0.1:{free_port()}"
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w") as f:
            f.write("global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\n"
                    f"rule_files: [{', '.join(map(os.path.abspath, rules))}]\n"
                    "scrape_configs:\n- job_name: memstate\n  honor_labels: true\n"
                    f"  static_configs: [{{targets: ['{target}']}}]\n")
        with open(os.path.join(folder, "log"), "w") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                 f"--web.listen-address={self.address}"], stdout=log, stderr=log)

    def query(self, expression):
        url = f"http://{self.address}/api/v1/query?" + \
            urllib.parse.urlencode({"query": expression})
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT) as response:
                return json.load(response)["data"]["result"]
        except OSError:
            return []

    def value(self, expression):
        result = self.query(expression)
        return float(result[0]["value"][1]) if result else None

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.terminate()
        self.process.wait()
