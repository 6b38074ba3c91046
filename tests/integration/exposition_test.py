# SPDX-License-Identifier: Apache-2.0
"""Both formats of /metrics as a client sees them: negotiation, compression, and the same counts."""

import gzip
import math
import time
import urllib.request

import metric_families
import prometheus_text
from case import Case, main

PROTOBUF = ("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
            "encoding=delimited,text/plain;version=0.0.4;q=0.5")
HISTOGRAMS = ("offcpud_blocked_seconds", "offcpud_runqueue_wait_seconds",
              "offcpud_process_blocked_seconds", "offcpud_process_runqueue_wait_seconds")
LAST_PASS = "offcpud_last_pass_timestamp_seconds"


class Formats(Case):
    settings = {"min_pass_interval": "2s", "pass_interval": "1min"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        time.sleep(2.1)  # for a pass that has more to show than the first

    def fetch(self, method="GET", query="", **headers):
        url = f"http://127.0.0.1:{self.daemon.port}/metrics{query}"
        request = urllib.request.Request(url, method=method,
                                         headers={k.replace("_", "-"): v for k, v in headers.items()})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.headers, answer.read()

    def both(self):
        """Both formats of one pass."""
        for _ in range(10):
            text = prometheus_text.Reader().read(self.fetch()[1].decode())
            protobuf = metric_families.read(self.fetch(query="?histograms=both", Accept=PROTOBUF)[1])
            passes = (text[LAST_PASS].samples[(LAST_PASS, frozenset())],
                      protobuf[LAST_PASS].series[frozenset()])
            if abs(passes[0] - passes[1]) < 1e-6:
                return text, protobuf
        self.fail(f"no two scrapes show the same pass: {passes}")

    def test_both_formats_have_the_same_counts(self):
        """Every classic bucket of the text is a union of native buckets, and equals the classic one of
        the protobuf."""
        text, protobuf = self.both()
        compared, wrong = 0, []
        for name in HISTOGRAMS[:2]:
            self.expect_equal(f"series of {name}", len(text[name].histograms),
                              len(protobuf[name].series))
            for labels, classic in text[name].histograms.items():
                native = protobuf[name].series[labels]
                populations = native.populations()
                for bound, count in classic.buckets.items():
                    compared += 1
                    seen = native.count if bound == math.inf else metric_families.cumulative(
                        populations, bound)
                    again = native.count if bound == math.inf else dict(native.buckets)[bound]
                    if not count == seen == again:
                        wrong.append((labels, bound, count, seen, again))
                if not math.isclose(classic.sum, native.sum, rel_tol=1e-12) or not native.created:
                    wrong.append((labels, classic.sum, native.sum, native.created))
        self.say(not wrong, f"of {compared} buckets that differ", "none", wrong[:2] or "none")
        self.expect_at_least("buckets compared", 100, compared)

    def test_series_began_before_they_were_read_and_keep_their_beginning(self):
        families = [self.both()[1] for _ in range(2)]
        begins = [{(name, labels): one.created for name in f for labels, one in f[name].series.items()
                   if isinstance(one, metric_families.Histogram) and one.created} for f in families]
        self.expect_equal("series that began at another time", 0,
                          sum(1 for key, begin in begins[0].items() if begins[1].get(key, begin) != begin))
        now = families[0][LAST_PASS].series[frozenset()]
        self.expect_equal("series that began after the pass", 0,
                          sum(1 for begin in begins[0].values() if begin > now))
        native = sum(len(families[0][name].series) for name in HISTOGRAMS if name in families[0])
        self.expect_equal("series with a beginning (native histograms)", native, len(begins[0]))
        self.expect_at_least("native histograms", 1, native)

    def test_names_labels_and_order_stay(self):
        texts = [self.fetch()[1].decode().splitlines() for _ in range(2)]
        heads = [[line if line.startswith("#") else line.rpartition(" ")[0] for line in text]
                 for text in texts]
        common = set(heads[0]) & set(heads[1])
        first, second = ([h for h in head if h in common] for head in heads)
        moved = [pair for pair in zip(first, second) if pair[0] != pair[1]]
        self.say(not moved, f"of {len(first)} lines in two scrapes, in another place", "none",
                 moved[:1] or "none")

    def test_compression_and_head(self):
        plain_headers, plain = self.fetch()
        self.say(plain_headers["Content-Encoding"] is None, "coding by default", "none",
                 plain_headers["Content-Encoding"])
        headers, packed = self.fetch(Accept_Encoding="gzip;q=0.8, identity;q=0.1")
        self.say(headers["Content-Encoding"] == "gzip", "coding", "gzip", headers["Content-Encoding"])
        reader = prometheus_text.Reader()
        families = [set(reader.read(text.decode())) for text in (plain, gzip.decompress(packed))]
        self.say(families[0] == families[1], "families in only one of them", "none",
                 families[0] ^ families[1] or "none")
        for sent in ({}, {"Accept": PROTOBUF, "Accept_Encoding": "gzip"}):
            get, _ = self.fetch(**sent)
            head, body = self.fetch(method="HEAD", **sent)
            for name in ("Content-Type", "Content-Encoding", "Vary"):
                self.say(get[name] == head[name], f"{name} of HEAD", get[name], head[name])
            self.say(body == b"", "body of HEAD", "none", body[:20])

    def test_the_status_says_what_a_scrape_costs(self):
        _, text = self.fetch()
        status = self.daemon.get_json("/api/v1/status")
        cost = status["scrape"]["text"]
        self.expect_equal("bytes", len(text), cost["bytes"])
        samples = sum(1 for line in text.decode().splitlines() if not line.startswith("#"))
        self.expect_equal("samples", samples, cost["samples"])
        self.expect_at_least("bytes of protobuf, from the start", 1000,
                             status["scrape"]["protobuf"]["bytes"])
        said = [line for line in self.daemon.log() if "a scrape of" in line]
        self.expect_equal("lines in the log about it", 1, len(said))


if __name__ == "__main__":
    main()
