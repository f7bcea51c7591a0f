"""Requests that two programs in a row could read differently, and others that nobody sends by accident.

Each is refused with the status beside it, and the connection is closed without reading what follows as a request.
"""

import json

import pytest

HEAD = "POST /echo HTTP/1.1\r\nHost: test\r\n"
GET = "GET /echo HTTP/1.1\r\nHost: test\r\n"
CHUNKED = HEAD + "Transfer-Encoding: chunked\r\n\r\n"
END = "0\r\n\r\n"

REFUSED = {
    # framing
    "length and coding": (400, HEAD + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    "coding and length": (400, HEAD + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"),
    "two lengths that differ": (400, HEAD + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
    "two lengths that agree": (400, HEAD + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"),
    "length list": (400, HEAD + "Content-Length: 3, 3\r\n\r\nabc"),
    "blank before the colon": (400, HEAD + "Content-Length : 3\r\n\r\nabc"),
    "tab before the colon": (400, HEAD + "Content-Length\t: 3\r\n\r\nabc"),
    "length with plus": (400, HEAD + "Content-Length: +3\r\n\r\nabc"),
    "length with minus": (400, HEAD + "Content-Length: -3\r\n\r\nabc"),
    "length in hex": (400, HEAD + "Content-Length: 0x3\r\n\r\nabc"),
    "length empty": (400, HEAD + "Content-Length:\r\n\r\n"),
    "length with two numbers": (400, HEAD + "Content-Length: 3 3\r\n\r\nabc"),
    "length beyond 64 bits": (400, HEAD + "Content-Length: 18446744073709551617\r\n\r\n"),
    "gzip, chunked": (501, HEAD + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    "chunked, gzip": (400, HEAD + "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n"),
    "identity": (501, HEAD + "Transfer-Encoding: identity\r\n\r\n"),
    "unknown coding": (501, HEAD + "Transfer-Encoding: xchunked\r\n\r\n"),
    "coding with a vertical tab": (400, HEAD + "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n"),
    "coding twice": (400, HEAD + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    "coding in 1.0": (400, "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    # chunks
    "chunk size 0x3": (400, CHUNKED + "0x3\r\nabc\r\n" + END),
    "chunk size with plus": (400, CHUNKED + "+3\r\nabc\r\n" + END),
    "chunk size with minus": (400, CHUNKED + "-1\r\n"),
    "chunk size with blank": (400, CHUNKED + "3 \r\nabc\r\n" + END),
    "chunk size empty": (400, CHUNKED + "\r\nabc\r\n" + END),
    "chunk size overflow": (400, CHUNKED + "fffffffffffffffff\r\n"),
    "chunk size huge": (413, CHUNKED + "ffffffffffffffff\r\n"),
    "chunk with bare LF": (400, CHUNKED + "3\nabc\r\n" + END),
    "chunk that goes on": (400, CHUNKED + "3\r\nabcd\r\n" + END),
    "chunk ended by LF": (400, CHUNKED + "3\r\nabc\n" + END),
    "chunk extension of 65 bytes": (400, CHUNKED + "3;" + "x" * 65 + "\r\nabc\r\n" + END),
    "chunk extension in pieces": (400, CHUNKED + "3;" + "x" * 33 + "=" + "y" * 33 + "\r\nabc\r\n" + END),
    "chunk extension with LF": (400, CHUNKED + "3;x\nabc\r\n" + END),
    "trailer folded": (400, CHUNKED + "0\r\nA: b\r\n c\r\n\r\n"),
    "trailer with bare LF": (400, CHUNKED + "0\r\nA: b\n\r\n"),
    "trailer without colon": (400, CHUNKED + "0\r\nA\r\n\r\n"),
    "trailer about the length": (400, CHUNKED + "0\r\nContent-Length: 3\r\n\r\nabc"),
    "trailer about the coding": (400, CHUNKED + "0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"),
    "trailers too large": (431, CHUNKED + "0\r\n" + ("A: " + "b" * 4000 + "\r\n") * 5 + "\r\n"),
    # hosts
    "two hosts": (400, "GET /echo HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
    "no host": (400, "GET /echo HTTP/1.1\r\n\r\n"),
    "empty host": (400, "GET /echo HTTP/1.1\r\nHost:\r\n\r\n"),
    "host with user": (400, "GET /echo HTTP/1.1\r\nHost: a@b\r\n\r\n"),
    "host with path": (400, "GET /echo HTTP/1.1\r\nHost: a/b\r\n\r\n"),
    "host list": (400, "GET /echo HTTP/1.1\r\nHost: a, b\r\n\r\n"),
    "target of another host": (400, "GET http://evil/echo HTTP/1.1\r\nHost: test\r\n\r\n"),
    "target with user": (400, "GET http://test@evil/echo HTTP/1.1\r\nHost: test\r\n\r\n"),
    "target of a longer host": (400, "GET http://test.evil/echo HTTP/1.1\r\nHost: test\r\n\r\n"),
    "target of another scheme": (400, "GET ftp://test/echo HTTP/1.1\r\nHost: test\r\n\r\n"),
    "target without slash": (400, "GET echo HTTP/1.1\r\nHost: test\r\n\r\n"),
    "asterisk for GET": (400, "GET * HTTP/1.1\r\nHost: test\r\n\r\n"),
    # bytes
    "NUL in a value": (400, GET + "A: b\0c\r\n\r\n"),
    "NUL in a name": (400, GET + "A\0: b\r\n\r\n"),
    "control character in a value": (400, GET + "A: b\x01c\r\n\r\n"),
    "DEL in a value": (400, GET + "A: b\x7fc\r\n\r\n"),
    "value that is not UTF-8": (400, (GET + "A: ").encode() + b"\xff\r\n\r\n"),
    "bare LF after a header": (400, GET + "A: b\nC: d\r\n\r\n"),
    "bare LF after the request line": (400, "GET /echo HTTP/1.1\nHost: test\r\n\r\n"),
    "bare LF at the end": (400, GET + "\n"),
    "bare CR in a value": (400, GET + "A: b\rc\r\n\r\n"),
    "CR CR LF": (400, GET + "A: b\r\r\n\r\n"),
    "folded header": (400, GET + "A: b\r\n c\r\n\r\n"),
    "folded with tab": (400, GET + "A: b\r\n\tc\r\n\r\n"),
    "blank before the first header": (400, "GET /echo HTTP/1.1\r\n Host: test\r\nHost: test\r\n\r\n"),
    "header without colon": (400, GET + "A\r\n\r\n"),
    "header without name": (400, GET + ": b\r\n\r\n"),
    "header name with blank": (400, GET + "A b: c\r\n\r\n"),
    "header name with slash": (400, GET + "A/b: c\r\n\r\n"),
    # request line
    "two blanks": (400, "GET  /echo HTTP/1.1\r\nHost: test\r\n\r\n"),
    "two blanks before the version": (400, "GET /echo  HTTP/1.1\r\nHost: test\r\n\r\n"),
    "blank at the start": (400, " GET /echo HTTP/1.1\r\nHost: test\r\n\r\n"),
    "blank at the end": (400, "GET /echo HTTP/1.1 \r\nHost: test\r\n\r\n"),
    "tab for a blank": (400, "GET\t/echo HTTP/1.1\r\nHost: test\r\n\r\n"),
    "HTTP/0.9": (400, "GET /echo\r\n\r\n"),
    "version 2.0": (505, "GET /echo HTTP/2.0\r\nHost: test\r\n\r\n"),
    "version 1.2": (505, "GET /echo HTTP/1.2\r\nHost: test\r\n\r\n"),
    "version 1.10": (400, "GET /echo HTTP/1.10\r\nHost: test\r\n\r\n"),
    "version in small letters": (400, "GET /echo http/1.1\r\nHost: test\r\n\r\n"),
    "HTTP/2 preface": (505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "CONNECT": (501, "CONNECT test:80 HTTP/1.1\r\nHost: test:80\r\n\r\n"),
    "TRACE": (501, "TRACE /echo HTTP/1.1\r\nHost: test\r\n\r\n"),
    "unknown method": (501, "BREW /echo HTTP/1.1\r\nHost: test\r\n\r\n"),
    "method in small letters": (501, "get /echo HTTP/1.1\r\nHost: test\r\n\r\n"),
    "method with odd characters": (400, "G(T /echo HTTP/1.1\r\nHost: test\r\n\r\n"),
    "TLS hello": (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
    "empty lines without end": (400, "\r\n\r\n\r\n" + GET + "\r\n"),
    "expectation": (417, HEAD + "Content-Length: 3\r\nExpect: a miracle\r\n\r\n"),
    # targets
    "%00": (400, "GET /echo%00x HTTP/1.1\r\nHost: test\r\n\r\n"),
    "%2f": (400, "GET /echo%2fx HTTP/1.1\r\nHost: test\r\n\r\n"),
    "%2F": (400, "GET /echo%2Fx HTTP/1.1\r\nHost: test\r\n\r\n"),
    "dot segment": (400, "GET /echo/../stats HTTP/1.1\r\nHost: test\r\n\r\n"),
    "encoded dot segment": (400, "GET /echo/%2e%2E/stats HTTP/1.1\r\nHost: test\r\n\r\n"),
    "single dot": (400, "GET /./echo HTTP/1.1\r\nHost: test\r\n\r\n"),
    "dots at the end": (400, "GET /echo/.. HTTP/1.1\r\nHost: test\r\n\r\n"),
    "broken escape": (400, "GET /echo%2 HTTP/1.1\r\nHost: test\r\n\r\n"),
    "escape that is no hex": (400, "GET /echo%zz HTTP/1.1\r\nHost: test\r\n\r\n"),
    "encoded control character": (400, "GET /echo%0a HTTP/1.1\r\nHost: test\r\n\r\n"),
    "path that is not UTF-8": (400, "GET /echo%ff HTTP/1.1\r\nHost: test\r\n\r\n"),
    "overlong UTF-8": (400, "GET /echo%c0%af HTTP/1.1\r\nHost: test\r\n\r\n"),
    "raw high byte": (400, b"GET /echo\xc3\xa4 HTTP/1.1\r\nHost: test\r\n\r\n"),
    "fragment": (400, "GET /echo#x HTTP/1.1\r\nHost: test\r\n\r\n"),
    "NUL in the query": (400, "GET /echo?a=%00 HTTP/1.1\r\nHost: test\r\n\r\n"),
    "query that is not UTF-8": (400, "GET /echo?a=%fe HTTP/1.1\r\nHost: test\r\n\r\n"),
    "broken escape in the query": (400, "GET /echo?a=% HTTP/1.1\r\nHost: test\r\n\r\n"),
    # sizes
    "request line of 8,193 bytes": (414, "GET /" + "a" * (8193 - 14) + " HTTP/1.1\r\nHost: test\r\n\r\n"),
    "request line without end": (414, "GET /" + "a" * 70000),
    "query of 4,097 bytes": (414, "GET /echo?" + "a" * 4097 + " HTTP/1.1\r\nHost: test\r\n\r\n"),
    "header of 20 kB": (431, GET + "A: " + "b" * 20000 + "\r\n\r\n"),
    "header without end": (431, GET + "A: " + "b" * 70000),
    "headers of 17 kB": (431, GET + ("A: " + "b" * 1000 + "\r\n") * 17 + "\r\n"),
    "101 headers": (431, GET + "A: b\r\n" * 100 + "\r\n"),
    "body announced too large": (413, HEAD + "Content-Length: 1048577\r\n\r\n"),
    "chunks too large": (413, CHUNKED + ("10000\r\n" + "x" * 65536 + "\r\n") * 17 + END),
}

SMUGGLED = "GET /odd HTTP/1.1\r\nHost: test\r\n\r\n"


@pytest.mark.parametrize("case", REFUSED)
def test_refused(server, case):
    status, request = REFUSED[case]
    request = request if isinstance(request, bytes) else request.encode("latin-1")
    client = server.client()
    answer = client.send(request + SMUGGLED.encode()).answer()
    assert answer.status == status, answer
    assert answer.headers["connection"] == "close"
    assert answer.headers["content-type"] == "application/problem+json"
    problem = json.loads(answer.body)
    assert problem["status"] == status and problem["detail"].endswith(".")
    assert client.is_closed(), "what follows was read as a request"
    client.close()


@pytest.mark.parametrize("case", REFUSED)
def test_refused_a_byte_at_a_time(server, case):
    """The same verdict, however the bytes arrive."""
    status, request = REFUSED[case]
    request = request if isinstance(request, bytes) else request.encode("latin-1")
    if len(request) > 2000:
        return  # the sizes are tested above; a packet a byte would take long
    client = server.client()
    try:
        for i in range(len(request)):
            client.send(request[i:i + 1])
    except (BrokenPipeError, ConnectionResetError):
        pass  # refused before the last byte
    client.socket.settimeout(15)
    assert client.answer().status == status
    client.close()


def test_goes_on_after_refusals(server):
    assert server.get("/small").status == 200
    assert server.stats()["refused"] > 0
