"""A load as a company has it: tasks of all kinds in three groups, a third of them failing now and then.

The bulk are functions of tests/chaos/load_plugin.c and calls of bench/http_stub.c, so that the machine's time goes into
AX and not into what it starts."""

from ax_world import TAG, ApiError

EVERY_SECOND = "@every 1s"
NEVER = "0 0 29 2 *"
PROBE = "probe"  # their lateness is measured: nothing holds them back but the system itself


def work(ms=0, fail_percent=0):
    return {"executor_key": "load.work", "biz_param": {"ms": ms, "fail_percent": fail_percent}}


class Load:
    def __init__(self, cluster, rate=50):
        """`rate`: fires of schedules in a second; retries, chains and shards come on top."""
        self.cluster, self.rate = cluster, rate
        self.tasks = {}  # name → task

    def some(self, percent):
        return range(max(1, round(self.rate * percent / 100)))

    def kinds(self):
        """(name, what) of every task that waits for no other one."""
        retried = {"retry_count": 1, "retry_backoff": "fixed", "retry_delay_seconds": 1}
        url = f"http://127.0.0.1:{self.cluster.stub_port}/"
        argv = {"executor_key": "exec"}
        env = {TAG: self.cluster.tag}
        for n in self.some(30):
            misfire = "fire_all" if n % 2 else "fire_once"
            yield f"{PROBE}-{n}", work(5) | {"cron_expr": EVERY_SECOND, "misfire": misfire, "overlap": "allow", "overlap_max": 100}
        for n in self.some(30):
            yield f"fails-{n}", work(5, 50) | retried | {"cron_expr": EVERY_SECOND, "overlap": "allow", "overlap_max": 20}
        for n in self.some(15):
            yield f"call-{n}", {"executor_key": "http", "biz_param": {"url": url}, "cron_expr": EVERY_SECOND}
        for n in self.some(10):
            yield f"cron-{n}", work() | {"cron_expr": "* * * * * *", "overlap": "skip"}
        for n in self.some(5):
            yield f"serial-{n}", work(900 + 100 * (n % 4)) | {"cron_expr": EVERY_SECOND}
        for n in self.some(8):
            yield f"first-{n}", work(5, 10) | {"cron_expr": "* * * * * *", "misfire": "fire_all", "overlap": "allow", "overlap_max": 100}
        for n in self.some(4):
            yield f"long-{n}", work(2500) | {"cron_expr": "@every 2s", "overlap": "allow", "overlap_max": 3}
        for n in range(3):
            yield f"process-{n}", argv | {"biz_param": {"argv": ["/usr/bin/true"], "env": env}, "cron_expr": "@every 2s"}
            yield f"sleeps-{n}", argv | {"biz_param": {"argv": ["/usr/bin/sleep", "2"], "env": env}, "cron_expr": "@after 1s"}
        yield "shards", work(20, 10) | {"cron_expr": "@every 2s", "shard_count": 3}
        yield "broadcast", work(20) | {"cron_expr": "@every 3s", "spread": "broadcast"}

    def make(self, kinds):
        """A task for each, the groups in turns."""
        common = {"retry_count": 0, "lost_limit": 20}
        tasks = [{**common, "group_key": self.cluster.groups[n % len(self.cluster.groups)], "task_name": name, **what}
                 for n, (name, what) in enumerate(kinds)]
        for at in range(0, len(tasks), 500):
            made = self.cluster.ask("POST", "/tasks/batch", {"tasks": tasks[at:at + 500]})["items"]
            self.tasks.update((task["task_name"], task) for task in made)

    def chains(self):
        """Every `first` task has one that follows it, two by two they have one that waits for both."""
        firsts = [self.tasks[f"first-{n}"]["id"] for n in self.some(8)]
        for n, first in enumerate(firsts):
            yield f"second-{n}", work(5) | {"upstreams": [first]}
        for n, pair in enumerate(zip(firsts[::2], firsts[1::2])):
            yield f"join-{n}", work(5) | {"upstreams": list(pair), "join": "all", "join_deadline_seconds": 60}

    def start(self):
        self.make(self.kinds())
        self.make(self.chains())
        return self

    def probe_ids(self):
        return [int(task["id"]) for name, task in self.tasks.items() if name.startswith(PROBE)]

    def stop(self):
        """No task fires any more. Not by pauses: those would hold what waits for a worker."""
        for task in self.tasks.values():
            if task["cron_expr"]:
                self.stop_task(f"/tasks/{task['id']}", task["version"])

    def stop_task(self, path, version):
        try:
            self.cluster.ask("PATCH", path, {"version": version, "cron_expr": NEVER})
        except ApiError as e:
            if e.status != 409 or self.cluster.ask("GET", path)["cron_expr"] != NEVER:  # else it was done before, and not answered
                raise
