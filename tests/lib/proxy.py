"""A TCP proxy that does to connections what networks and machines do: for workers, databases and whatever else dials.

    with Proxy(server.port) as p:
        dial(p.port)
        p.hang()        # nothing passes, nothing is closed: a stopped process, a network that is gone
        p.hang("down")  # requests arrive, answers do not
        p.slow(200)     # each byte takes so many ms longer, either way
        p.cut()         # all connections are reset, new ones too
        p.heal()        # as before; what was held back arrives now, late

HttpProxy can also repeat whole requests:  p.repeat = lambda path: 1.5   # seconds until the copy, or None."""

import asyncio
import threading
import time

WAYS = ("up", "down")  # to the target, back from it


class Proxy:
    def __init__(self, target, host="127.0.0.1", port=0):
        """`target`: a port of this machine, or (host, port)."""
        self.target = target if isinstance(target, tuple) else ("127.0.0.1", target)
        self.host, self.port = host, port
        self.delay = 0.0
        self.refuses = False
        self.accepted = 0
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    # ---- what tests say

    def hang(self, way=None):
        self.do(lambda: [self.gates[w].clear() for w in WAYS if way in (None, w)])

    def slow(self, ms):
        self.do(lambda: setattr(self, "delay", ms / 1000))

    def cut(self):
        self.do(lambda: (setattr(self, "refuses", True), self.reset_all()))

    def aim(self, target):
        """New connections go there: what answers under an address is another machine now."""
        self.do(lambda: setattr(self, "target", ("127.0.0.1", target)))

    def reset(self):
        """All connections are reset, new ones are taken."""
        self.do(self.reset_all)

    def heal(self):
        def all_well():
            self.refuses, self.delay = False, 0.0
            for gate in self.gates.values():
                gate.set()
        self.do(all_well)

    # ---- its life

    def __enter__(self):
        self.thread.start()
        asyncio.run_coroutine_threadsafe(self.open(), self.loop).result(10)
        return self

    def __exit__(self, *_):
        asyncio.run_coroutine_threadsafe(self.close(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.close()

    def do(self, what):
        """On the proxy's own thread; returns when it is done."""
        async def on_loop():
            return what()
        return asyncio.run_coroutine_threadsafe(on_loop(), self.loop).result(10)

    async def open(self):
        self.gates = {way: asyncio.Event() for way in WAYS}
        for gate in self.gates.values():
            gate.set()
        self.writers, self.tasks = set(), set()
        self.server = await asyncio.start_server(self.serve, self.host, self.port)
        self.port = self.server.sockets[0].getsockname()[1]

    async def close(self):
        self.server.close()
        self.reset_all()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def reset_all(self):
        for writer in self.writers:
            writer.transport.abort()

    def spawn(self, coroutine):
        task = self.loop.create_task(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    # ---- a connection

    async def serve(self, reader, writer):
        self.accepted += 1
        self.tasks.add(asyncio.current_task())
        asyncio.current_task().add_done_callback(self.tasks.discard)
        ends = {writer}
        self.writers |= ends
        try:
            if not self.refuses:
                await self.gates["up"].wait()
                far_reader, far_writer = await asyncio.open_connection(*self.target)
                ends.add(far_writer)
                self.writers |= ends
                await asyncio.gather(self.spawn(self.pump("up", reader, far_writer)),
                                     self.spawn(self.pump("down", far_reader, writer)))
        except OSError:
            pass  # one end is gone
        finally:
            self.writers -= ends
            for end in ends:
                end.transport.abort()

    async def pump(self, way, reader, writer):
        """Reads at once and writes when it may, so that a delay does not make the stream any narrower."""
        pieces = asyncio.Queue(10000)
        taker = self.spawn(self.take(way, reader, pieces))
        try:
            while True:
                due, data = await pieces.get()
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                await self.gates[way].wait()
                if not data:
                    break
                writer.write(data)
                await writer.drain()
            writer.write_eof()
        finally:
            taker.cancel()

    async def take(self, way, reader, pieces):
        passing = self.passing(way)
        try:
            while data := await reader.read(1 << 16):
                await pieces.put((time.monotonic() + self.delay, passing(data)))
        except OSError:
            pass
        await pieces.put((time.monotonic() + self.delay, b""))

    def passing(self, way):
        """What is done to the bytes of one connection: a function of each piece that answers what goes on."""
        return lambda data: data


class HttpProxy(Proxy):
    """Repeats requests (with Content-Length bodies) over connections of their own; the second answers are thrown away.
    The target is called by its own name."""

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.repeat = lambda path: None
        self.repeated = []  # paths of copies that were answered

    def passing(self, way):
        if way == "down":
            return super().passing(way)
        held = bytearray()
        ours, theirs = (f"Host: 127.0.0.1:{port}".encode() for port in (self.port, self.target[1]))

        def collect(data):
            data = data.replace(ours, theirs)
            held.extend(data)
            while (request := first_request(held)) is not None:
                del held[:len(request)]
                path = request.split(b" ", 2)[1].decode()
                after = self.repeat(path)
                if after is not None:
                    self.spawn(self.send_again(path, request, after))
            return data
        return collect

    async def send_again(self, path, request, after):
        await asyncio.sleep(after)
        try:
            reader, writer = await asyncio.open_connection(*self.target)
            writer.write(request)
            await reader.readuntil(b"\r\n\r\n")
            self.repeated.append(path)
            writer.transport.abort()
        except (OSError, asyncio.IncompleteReadError):
            pass


def first_request(held):
    """The bytes of the first whole request, or None."""
    end = held.find(b"\r\n\r\n")
    if end < 0:
        return None
    length = 0
    for line in bytes(held[:end]).split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
    whole = end + 4 + length
    return bytes(held[:whole]) if len(held) >= whole else None
