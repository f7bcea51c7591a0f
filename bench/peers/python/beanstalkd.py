"""beanstalkd: puts with a delay, and a consumer that gives back with a delay what recurs. Delays are whole seconds."""

import time

from common import CHUNK, PERIOD_S, Log, connect, now_ms, run

MAY_TAKE_S = 60  # before beanstalkd gives the job to another one
AT_ONCE = 200  # jobs that the consumer takes at most before it answers for them


class Queue:
    def __init__(self):
        self.conn = connect()
        self.stream = self.conn.makefile("rb", 1 << 20)

    def send(self, *requests):
        self.conn.sendall(b"".join(requests))

    def put_all(self, jobs):
        """`jobs`: (delay in seconds, body)."""
        self.send(*(b"put 100 %d %d %d\r\n%s\r\n" % (delay, MAY_TAKE_S, len(body), body) for delay, body in jobs))
        for _ in jobs:
            answer = self.stream.readline()
            if not answer.startswith(b"INSERTED"):
                raise SystemExit(f"beanstalkd said {answer!r}")

    def reserve(self, n):
        """Up to n jobs, (id, body): waits a second for the first one, not for others."""
        self.send(b"reserve-with-timeout 1\r\n")
        jobs = self.reserved(1)
        if jobs and n > 1:
            self.send(b"reserve-with-timeout 0\r\n" * (n - 1))
            jobs += self.reserved(n - 1)
        return jobs

    def reserved(self, answers):
        jobs = []
        for _ in range(answers):
            line = self.stream.readline().split()
            if line[0] == b"RESERVED":
                jobs.append((line[1], self.stream.read(int(line[2]) + 2)[:-2]))
        return jobs


def seconds_until(due_ms):
    """Rounded down: beanstalkd counts from the put, and all of them shall be ready at that instant."""
    return max(0, (due_ms - now_ms()) // 1000)


def enqueue(n, due_ms):
    queue = Queue()
    begun = time.monotonic()
    for first in range(0, n, CHUNK):
        queue.put_all([(seconds_until(due_ms), b"%d %d" % (i, due_ms)) for i in range(first, min(n, first + CHUNK))])
    return time.monotonic() - begun


def schedule(n, start_ms, spread_ms):
    """All with one delay, but put as far apart as they shall become ready."""
    queue, begun, delay = Queue(), time.monotonic(), seconds_until(start_ms)
    for i in range(n):
        time.sleep(max(0, begun + i * spread_ms / n / 1000 - time.monotonic()))
        queue.put_all([(delay, b"%d" % i)])


def hold_until_due(jobs):
    """One-shots may be ready within the second before."""
    for _, body in jobs[:1]:
        _, *due = body.split()
        if due:
            time.sleep(max(0, int(due[0]) - now_ms()) / 1000)


def work(path):
    log, queue, ask = Log(path), Queue(), 1
    due = {}  # of what recurs: when it is ready again
    while True:
        jobs = queue.reserve(ask)
        ask = min(AT_ONCE, len(jobs) + 1)  # an answer that there is no more costs beanstalkd half a millisecond
        hold_until_due(jobs)
        begun, answers = now_ms(), []
        for job, body in jobs:
            name, *once = body.decode().split()
            if once:
                log.add(name, int(once[0]), begun)
                answers.append(b"delete %s\r\n" % job)
            else:
                if name in due:
                    log.add(name, due[name], begun)
                answers.append(b"release %s 100 %d\r\n" % (job, PERIOD_S))
        queue.send(*answers)
        for _ in answers:
            queue.stream.readline()
        again = now_ms() + PERIOD_S * 1000
        due.update((body.decode(), again) for _, body in jobs if b" " not in body)


if __name__ == "__main__":
    run(schedule, enqueue, work)
