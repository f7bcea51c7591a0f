"""A wire into a network namespace of its own, on which packets are lost, late, and hence out of order: all that the kernel's own TCP
hides from a proxy (proxy.py).

    with Wire() as wire:
        Popen([*wire.within, PROGRAM])  # it has no way out but the wire, and finds the ports of 127.0.0.1 of this side at its other end
        dial(wire.far)                  # what listens over there on all addresses
        wire.hurt(lost=0.05, ms=200, jitter_ms=100)
        wire.drop("in")                 # no packet comes in, and nobody is told
        wire.heal()                     # as before; what is late now comes late

Two devices of the kind TUN, and a thread that carries packets from one to the other. The namespace has no name: it ends with the last
process in it and with this one, and so do the devices, however that is."""

import contextlib
import ctypes
import fcntl
import functools
import heapq
import itertools
import os
import random
import select
import struct
import subprocess
import threading
import time
from pathlib import Path
from typing import NamedTuple

WAYS = ("in", "out")  # into the namespace, out of it

CLONE_NEWNET = 0x40000000  # <linux/sched.h>
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000  # <linux/if_tun.h>
PACKET_MAX = 65536
LOOK_S = 0.2  # so often it looks whether it shall end

libc = ctypes.CDLL(None, use_errno=True)


class Weather(NamedTuple):
    lost: float = 0.0  # the share of packets that never arrive
    ms: float = 0.0  # how much later the others do,
    jitter_ms: float = 0.0  # and by how much more or less


def change_namespace(call, *args):
    """Of this thread, and of what it starts."""
    if call(*args) != 0:
        raise OSError(ctypes.get_errno(), "no network namespace")


def open_device():
    """A new device in the namespace of this thread, for packets without any frame: (descriptor, name)."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    name = fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"ax%d", IFF_TUN | IFF_NO_PI))[:16].rstrip(b"\0").decode()
    return device, name


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"ip {' '.join(words)}: {done.stderr}")


def bring_up(name, own, other):
    Path(f"/proc/sys/net/ipv4/conf/{name}/route_localnet").write_text("1")  # 127.0.0.1 may be at the other end
    ip("address", "add", own, "peer", other, "dev", name)
    ip("link", "set", name, "up")


class Wire:
    def __init__(self, beside=None):
        """`beside`: a wire to the same namespace, which has its addresses from that one and these from this one."""
        self.beside = beside
        first = random.randrange(1 << 15) * 4  # drawn, so that two rigs on one machine do not meet
        net = f"198.{18 + (first >> 16)}.{first >> 8 & 255}."  # of those set apart for tests of networks
        self.near, self.far = (f"{net}{(first & 255) + n}" for n in (1, 2))
        self.weather = dict.fromkeys(WAYS, Weather())
        self.held, self.turn = [], itertools.count()
        self.lost, self.overtaken = 0, 0
        self.newest = dict.fromkeys(WAYS, -1)
        self.devices, self.namespace, self.broken = {}, None, None
        self.ready, self.stopped = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    # ---- what tests say

    def hurt(self, way=None, **weather):
        """`lost` and `overtaken` count the packets from now on."""
        self.lost = self.overtaken = 0
        for each in WAYS:
            if way in (None, each):
                self.weather[each] = Weather(**weather)

    def drop(self, way=None):
        self.hurt(way, lost=1)

    def heal(self):
        self.weather = dict.fromkeys(WAYS, Weather())

    @property
    def within(self):
        """What a command begins with to be executed over there."""
        return ["nsenter", f"--net=/proc/{os.getpid()}/fd/{self.namespace}", "--"]

    # ---- its life

    def __enter__(self):
        try:
            self.devices["out"], name = open_device()
            bring_up(name, self.near, self.far)
            self.thread.start()
            self.ready.wait()
            if self.broken:
                raise self.broken
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stopped.set()
        if self.thread.ident:
            self.thread.join()
        for descriptor in [*self.devices.values(), self.namespace]:
            if descriptor is not None:
                os.close(descriptor)

    def run(self):
        try:
            self.open_far_side()
        except OSError as e:
            self.broken = e
        finally:
            self.ready.set()
        if not self.broken:
            self.carry()

    def open_far_side(self):
        """The thread stays over there, alone of its process. Its loopback stays down, so that 127.0.0.1 is at the near side."""
        if self.beside:
            change_namespace(libc.setns, self.beside.namespace, CLONE_NEWNET)
        else:
            change_namespace(libc.unshare, CLONE_NEWNET)
        self.namespace = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        self.devices["in"], name = open_device()
        bring_up(name, self.far, self.near)
        if not self.beside:
            ip("route", "add", "default", "dev", name)

    # ---- packets

    def carry(self):
        arrivals = select.poll()
        for device in self.devices.values():
            arrivals.register(device, select.POLLIN)
        while not self.stopped.is_set():
            wait_s = min(LOOK_S, self.held[0][0] - time.monotonic()) if self.held else LOOK_S
            arrivals.poll(max(0, wait_s) * 1000)
            self.take("in", self.devices["out"])
            self.take("out", self.devices["in"])
            self.give()

    def take(self, way, device):
        """All that has come and goes that way."""
        with contextlib.suppress(BlockingIOError):
            while True:
                packet, weather = os.read(device, PACKET_MAX), self.weather[way]
                if random.random() < weather.lost:
                    self.lost += 1
                    continue
                late_s = (weather.ms + random.uniform(-1, 1) * weather.jitter_ms) / 1000
                heapq.heappush(self.held, (time.monotonic() + late_s, next(self.turn), way, packet))

    def give(self):
        """All that is due. What its reader has no room for is lost, as anywhere."""
        while self.held and self.held[0][0] <= time.monotonic():
            _, turn, way, packet = heapq.heappop(self.held)
            self.overtaken += turn < self.newest[way]
            self.newest[way] = max(turn, self.newest[way])
            with contextlib.suppress(OSError):
                os.write(self.devices[way], packet)


@functools.cache
def can_be_made():
    """Whether this machine lets us have one."""
    try:
        with Wire():
            return True
    except OSError:
        return False
