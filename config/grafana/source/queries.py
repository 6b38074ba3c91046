# SPDX-License-Identifier: Apache-2.0
"""PromQL that is right for classic and for native histograms: each query asks for both, and the one
that is not scraped is empty. https://prometheus.io/docs/prometheus/latest/querying/functions/"""

asks_native = True  # False: of a store that refuses a query with functions of native histograms
BLOCKED = "offcpud_blocked_seconds"
RUNQUEUE = "offcpud_runqueue_wait_seconds"
WAIT = "offcpud_wait_seconds"
HOST = 'job=~"$job", instance=~"$instance"'
# What removed cgroups had counted moves below (removed) at once: old time, in no rate.
PRESENT = 'cgroup!~".*[(]removed[)]"'
SUBJECT = f'{HOST}, slice=~"$slice", unit=~"$unit", {PRESENT}'
LOST = 'cause!="takers_full"'  # that one loses no time
REASON = 'reason=~"$reason"'
FOR = 'for=~"$for"'
IDLE = 'for=~"work|timer"'
INTERVAL = "$__rate_interval"


def select(metric, *matchers):
    return f"{metric}{{{', '.join(matchers)}}}"


def aggregate(operator, labels, vector):
    by = f" by ({labels})" if labels else ""
    return f"{operator}{by} ({vector})"


def total(labels, vector):
    return aggregate("sum", labels, vector)


def rate(metric, *matchers):
    return f"rate({select(metric, *matchers)}[{INTERVAL}])"


def either(classic, native):
    return f"{classic}\nor\n{native}" if asks_native else classic


def quantile(q, labels, metric, *matchers):
    """Of all episodes that ended, by `labels`, in seconds."""
    with_le = f"le, {labels}" if labels else "le"
    return either(
        f"histogram_quantile({q}, {total(with_le, rate(metric + '_bucket', *matchers))})",
        f"histogram_quantile({q}, {total(labels, rate(metric, *matchers))})")


def threads(labels, metric, *matchers):
    """Seconds waited a second: how many threads waited on average."""
    return either(total(labels, rate(metric + "_sum", *matchers)),
                  f"histogram_sum({total(labels, rate(metric, *matchers))})")


def episodes(labels, metric, *matchers):
    """Waits that ended, a second."""
    return either(total(labels, rate(metric + "_count", *matchers)),
                  f"histogram_count({total(labels, rate(metric, *matchers))})")


def heatmap(metric, *matchers):
    """The classic query and the native one: a heatmap takes whichever has data."""
    queries = {"classic": total("le", f"increase({select(metric + '_bucket', *matchers)}[{INTERVAL}])"),
               "native": total("", f"increase({select(metric, *matchers)}[{INTERVAL}])")}
    return queries if asks_native else {"classic": queries["classic"]}


def waited_on(*matchers):
    """Threads that wait on average, by what for and on whom or what."""
    return rate("offcpud_waited_on_seconds_total", *matchers)


def pairs(vector):
    """The same as edges of a graph. `on` is a unit, or the cgroup's path where there is none; so is the
    source."""
    for label, of, pattern in (("target", "on", "(.*)"), ("source", "cgroup", "(.*)"),
                               ("source", "unit", "(.+)")):
        vector = f'label_replace({vector}, "{label}", "$1", "{of}", "{pattern}")'
    return total("id, source, target", f'label_join({vector}, "id", " > ", "source", "target")')


def highest(count, vector):
    return f"topk({count}, {vector})"
