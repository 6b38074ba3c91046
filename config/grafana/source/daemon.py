# SPDX-License-Identifier: Apache-2.0
"""The daemon itself: what it costs, what it loses, and whether its numbers are complete."""

import variables as v
from panels import logarithmic, row, stat, table, timeseries
from queries import HOST, INTERVAL, PRESENT, rate, select, total

PASS = "offcpud_pass_duration_seconds"


def dashboard():
    chosen = [v.datasource(), v.job(), v.instance(), v.scheme()]
    return v.dashboard(
        "offcpud-daemon", "offcpud / Daemon",
        "Cost, losses, passes, snapshots and series of the daemons themselves.", chosen,
        [*health(), *cost(), *losses(), *passes(), *series(), *stacks()])


def age(metric):
    return f"time() - {select(metric, HOST)}"


def worst(operator, vector):
    return f"{operator} by (instance) ({vector})"


def health():
    no_yes = [{"type": "value", "options": {"0": {"text": "no", "color": "red"},
                                            "1": {"text": "yes", "color": "green"}}}]
    return [
        row("Health"),
        stat("Scraped", "Whether the last scrape succeeded, of every daemon.", "bool_yes_no",
             f"min({select('up', HOST)})", width=3, mappings=no_yes),
        stat("Oldest pass", "Time since the last pass over the kernel maps.", "s",
             f"max({age('offcpud_last_pass_timestamp_seconds')})", width=3,
             limits=[(60, "orange"), (300, "red")]),
        stat("Oldest snapshot", "Time since the last snapshot of stacks.", "s",
             f"max({age('offcpud_last_snapshot_timestamp_seconds')})", width=3),
        stat("Shortest uptime", "Time since the daemon that started last did so.", "s",
             f"min({age('process_start_time_seconds')})", width=3),
        stat("Configuration in force", "Whether the last reload succeeded, everywhere.", "bool_yes_no",
             f"min({select('offcpud_config_last_reload_successful', HOST)})", width=3,
             mappings=no_yes),
        stat("Unaccounted time", "The largest share of a cgroup's time that is in no counter (or, below "
             "0, counted twice).", "percentunit",
             f"max(abs({select('offcpud_unaccounted_ratio', HOST)}))", width=3,
             limits=[(0.05, "orange")]),
        stat("Threads found asleep", "Threads whose first wait had no known beginning.", "short",
             total("", f"increase({select('offcpud_threads_left_censored_total', HOST)}[$__range])"),
             width=3),
        stat("Walks spread over", "Passes that one walk over all threads takes; more than 1: over "
             "walk_cpu_budget.", "short",
             f"max({select('offcpud_thread_walk_passes', HOST)})", width=3, limits=[(2, "orange")]),
        table("Builds", "A click shows the flame graph of the time shown.",
              [("Up", "short",
                f"max by (instance, version, revision, kernel) ({select('offcpud_build_info', HOST)})")],
              links=[("instance", [v.flame_link()])], width=12, height=7),
        table("Features", "What each kernel allowed: the number of hosts that have it.",
              [("Hosts with it", "short", total("feature", select("offcpud_feature_enabled", HOST)))],
              width=12, height=7),
    ]


def cost():
    return [
        row("Cost"),
        timeseries("Share of all CPU time", "What hooks and daemon take of the time of all CPUs, over a minute.",
                   "percentunit", [(select("offcpud_overhead_ratio", HOST), "{{instance}}")], width=8),
        timeseries("Time in hooks", "CPUs that the programs in the kernel take, within the threads that they "
                   "measure.", "percentunit",
                   [(total("program", rate("offcpud_bpf_run_seconds_total", HOST)), "{{program}}")], width=8),
        timeseries("Time of one execution", "Of a program in the kernel, on average.", "s",
                   [(total("program", rate("offcpud_bpf_run_seconds_total", HOST)) + "\n/ "
                     + total("program", rate("offcpud_bpf_runs_total", HOST)), "{{program}}")], width=8),
        timeseries("CPU of the daemon", "Of its own threads, in CPUs.", "percentunit",
                   [(total("instance", rate("process_cpu_seconds_total", HOST)), "{{instance}}")], width=8),
        timeseries("Memory", "Resident memory; the maps in the kernel are not in it.", "bytes",
                   [(select("process_resident_memory_bytes", HOST), "{{instance}}")], width=8),
        timeseries("Open files", "Descriptors, and how many there may be at the busiest.", "short",
                   [(select("process_open_fds", HOST), "{{instance}}"),
                    (f"min({select('process_max_fds', HOST)})", "limit")], width=8),
    ]


def losses():
    lost = total("instance, cause", rate("offcpud_lost_events_total", HOST))
    full = (select("offcpud_map_entries", HOST) + "\n/ "
            + select("offcpud_map_capacity", HOST))
    return [
        row("Losses"),
        timeseries("Events lost, by cause", "In good health all are 0.", "ops",
                   [(lost, "{{instance}} {{cause}}")]),
        timeseries("Fill of the kernel maps", "Entries by capacity; a full map loses events or sums them "
                   "under (other).", "percentunit",
                   [(f"max by (instance, map) ({full})", "{{instance}} {{map}}")]),
        timeseries("Unaccounted time", "Largest share of a cgroup's time that is in no counter.",
                   "percentunit",
                   [(worst("max", f"abs({select('offcpud_unaccounted_ratio', HOST, PRESENT)})"),
                     "{{instance}}")]),
        timeseries("Deviation of running time", "From what the scheduler counted; a few milliseconds for "
                   "each CPU and interval are none.", "percentunit",
                   [(f"abs({select('offcpud_running_deviation_ratio', HOST)})", "{{instance}}")]),
    ]


def passes():
    buckets = total("le, stage", rate(PASS + "_bucket", HOST))
    seconds = total("instance, stage", rate(PASS + "_sum", HOST))
    failed = total("instance, stage", rate("offcpud_pass_failures_total", HOST))
    return [
        row("Passes"),
        logarithmic("Duration of a pass, quantile 0.99, by stage", "Of all chosen hosts together.", "s",
                    [(f"histogram_quantile(0.99, {buckets})", "{{stage}}")], width=8),
        timeseries("Time in passes, by stage", "Seconds a second.", "percentunit",
                   [(seconds, "{{instance}} {{stage}}")], width=8),
        timeseries("Failed passes, by stage", "Each keeps the numbers of the last one.", "ops",
                   [(failed, "{{instance}} {{stage}}")], width=8),
    ]


def series():
    def grew(metric):
        return worst("sum", f"increase({select(metric, HOST)}[{INTERVAL}])")

    return [
        row("Series and scrapes"),
        timeseries("Histogram series", "Bounded by max_series.", "short",
                   [(select("offcpud_series", HOST), "{{instance}}")], width=6),
        timeseries("Series folded, processes refused", "Beyond max_series: series are summed under "
                   "(other), processes have none.", "short",
                   [(grew("offcpud_series_folded_total"), "{{instance}} folded"),
                    (grew("offcpud_processes_refused_total"), "{{instance}} refused")], width=6),
        timeseries("Samples of a scrape", "As Prometheus counts them.", "short",
                   [(select("scrape_samples_scraped", HOST), "{{instance}}")], width=6),
        timeseries("Duration of a scrape", "As Prometheus sees it, the pass that it waits for included.",
                   "s", [(select("scrape_duration_seconds", HOST), "{{instance}}")], width=6),
    ]


def stacks():
    incomplete = total("end", rate("offcpud_stack_samples_incomplete_total", HOST))
    failed = total("instance, cause", rate("offcpud_snapshot_failures_total", HOST))
    pushed = total("instance, result", rate("offcpud_push_snapshots_total", HOST))
    attempts = total("instance, cause", rate("offcpud_push_failures_total", HOST))
    return [
        row("Stacks and snapshots"),
        timeseries("Stacks taken", "Bounded by snapshots.stacks_per_second.", "ops",
                   [(total("instance", rate("offcpud_stack_samples_total", HOST)), "{{instance}}")],
                   width=8),
        timeseries("Stacks without their root", "By why the walk ended.", "ops",
                   [(incomplete, "{{end}}")], width=8),
        logarithmic("Sampling interval", "Blocks of this length and longer are all sampled.", "s",
                    [(select("offcpud_sampling_interval_seconds", HOST), "{{instance}}")], width=8),
        timeseries("Snapshots written", "One each snapshots.interval.", "ops",
                   [(total("instance", rate("offcpud_snapshots_written_total", HOST)), "{{instance}}")],
                   width=8),
        timeseries("Snapshots that failed, by cause", "A failed one is lost; the next is tried.", "ops",
                   [(failed, "{{instance}} {{cause}}")], width=8),
        timeseries("Size of all snapshots", "Bounded by snapshots.keep_bytes.", "bytes",
                   [(select("offcpud_snapshot_bytes", HOST), "{{instance}}")], width=8),
        timeseries("Snapshots pushed, by result", "Where push.url is set. Dropped: the queue was full; "
                   "rejected: the server will not take it.", "ops",
                   [(pushed, "{{instance}} {{result}}")], width=8),
        timeseries("Pushes that failed, by cause", "Attempts; all but refused are tried again.", "ops",
                   [(attempts, "{{instance}} {{cause}}")], width=8),
        timeseries("Size of what waits to be pushed", "Bounded by push.queue_bytes.", "bytes",
                   [(select("offcpud_push_queue_bytes", HOST), "{{instance}}")], width=8),
    ]
