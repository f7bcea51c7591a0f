"""A release of a source tree, as benchmarks need it."""

import subprocess

from axbench.place import Build

PROGRAMS = ("src/server/ax-server", "src/worker/ax-worker", "src/worker/ax-exec", "src/check/ax-check", "bench/bench_cron",
            "bench/bench_failures", "bench/bench_shards", "bench/bench_store", "bench/http_stub", "bench/libax_bench_noop.so")


def build_release(source, folder):
    """Only what ax_bench runs; the folder is kept for the next time."""
    if not (folder / "build.ninja").exists():
        options = ["--buildtype=release"]
        if "'console'" in (source / "meson_options.txt").read_text():
            options.append("-Dconsole=disabled")
        subprocess.run(["meson", "setup", folder, source, *options], check=True, stdout=subprocess.DEVNULL)
    known = subprocess.run(["ninja", "-C", folder, "-t", "targets", "all"], check=True, capture_output=True, text=True).stdout
    wanted = [p for p in PROGRAMS if f"\n{p}: " in known]  # a revision from before has fewer
    subprocess.run(["ninja", "-C", folder, "--quiet", *wanted], check=True, stdout=subprocess.DEVNULL)
    return Build(folder)
