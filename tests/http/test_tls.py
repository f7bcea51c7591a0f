"""TLS and client certificates; everything else works as without."""

import contextlib
import signal
import ssl
import subprocess

import pytest
from conftest import PROGRAM, get, post


def openssl(*args):
    subprocess.run(["openssl", *args], check=True, capture_output=True)


def make_cert(folder, name, subject, san=None, issuer=None):
    key, cert = folder / f"{name}.key", folder / f"{name}.pem"
    extra = ["-addext", f"subjectAltName={san}"] if san else []
    if issuer:
        extra += ["-CA", folder / f"{issuer}.pem", "-CAkey", folder / f"{issuer}.key",
                  "-addext", "basicConstraints=critical,CA:FALSE"]
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-keyout", key, "-out", cert, "-subj", subject, *extra)


@pytest.fixture(scope="module")
def certs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certs")
    make_cert(folder, "server", "/CN=localhost", "DNS:localhost,IP:127.0.0.1")
    make_cert(folder, "server2", "/CN=localhost", "DNS:localhost,IP:127.0.0.1")
    make_cert(folder, "ca", "/CN=Workers")
    make_cert(folder, "worker", "/O=AX/CN=w1", "DNS:w1,URI:ax://worker/w1", "ca")
    make_cert(folder, "plain", "/CN=w2", None, "ca")
    make_cert(folder, "stranger", "/CN=w1", "URI:ax://worker/w1")
    return folder


def tls_config(certs, **more):
    return {"tls_cert_file": certs / "server.pem", "tls_key_file": certs / "server.key", **more}


def wrap(certs, cert=None, server="server", version=None):
    context = ssl.create_default_context(cafile=certs / f"{server}.pem")
    if cert:
        context.load_cert_chain(certs / f"{cert}.pem", certs / f"{cert}.key")
    if version:
        context.minimum_version = context.maximum_version = version
    context.set_alpn_protocols(["h2", "http/1.1"])
    return lambda s: context.wrap_socket(s, server_hostname="localhost")


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_requests(start, certs, version):
    server = start(**tls_config(certs))
    client = server.client(wrap=wrap(certs, version=version))
    assert client.socket.selected_alpn_protocol() == "http/1.1"
    assert b"\ntls 1\n" in client.ask(get("/echo")).body
    body = bytes(range(256)) * 4000
    assert client.ask(post("/echo", body)).body.endswith(body)
    assert client.ask(get("/stream?n=10&size=20000")).body == b"s" * 200_000
    assert len(client.ask(get("/big?size=5000000")).body) == 5_000_000
    client.send(get("/late?ms=5&tag=a") + get("/late?ms=1&tag=b"))
    assert client.answer().body + client.answer().body == b"ab"
    assert client.ask(get("/small", "Connection: close")).status == 200
    assert client.is_closed()  # with close_notify: the wrapped socket raises without


def test_hostile_request(start, certs):
    client = start(**tls_config(certs)).client(wrap=wrap(certs))
    assert client.ask("GET / HTTP/1.1\r\n\r\n").status == 400 and client.is_closed()


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion")
def test_old_versions_are_refused(start, certs):
    server = start(**tls_config(certs))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    with pytest.raises(ssl.SSLError):
        server.client(wrap=context.wrap_socket)


def test_plain_text_at_the_tls_port(start, certs):
    server = start(**tls_config(certs))
    client = server.client().send(get("/small"))
    assert b"HTTP/1.1" not in client.rest()
    assert server.client(wrap=wrap(certs)).ask(get("/small")).status == 200


def test_handshake_has_a_time_limit(start, certs):
    server = start(**tls_config(certs), headers_ms=300)
    assert server.client().is_closed()


def test_client_certificate(start, certs):
    server = start(**tls_config(certs, tls_client_ca_file=certs / "ca.pem"))
    said = server.client(wrap=wrap(certs, "worker")).ask(get("/echo")).body
    assert b"\nsubject CN=w1,O=AX\n" in said and b"\nuri ax://worker/w1\n" in said
    said = server.client(wrap=wrap(certs, "plain")).ask(get("/echo")).body
    assert b"\nsubject CN=w2\n" in said and b"\nuri " not in said
    said = server.client(wrap=wrap(certs)).ask(get("/echo")).body
    assert b"subject" not in said and b"uri" not in said


@pytest.mark.parametrize("cert", ["stranger", None])
def test_certificate_that_does_not_do(start, certs, cert):
    config = tls_config(certs, tls_client_ca_file=certs / "ca.pem")
    if cert is None:
        config["tls_client_required"] = 1
    server = start(**config)
    with pytest.raises((ssl.SSLError, ConnectionResetError, AssertionError)):
        server.client(wrap=wrap(certs, cert)).ask(get("/echo"))
    assert server.client(wrap=wrap(certs, "worker")).ask(get("/echo")).status == 200


def test_parked_client_leaves(start, certs):
    server = start(**tls_config(certs))
    clients = [server.client(wrap=wrap(certs)).send(get("/park")) for _ in range(20)]
    asker = server.client(wrap=wrap(certs))
    server.ask = lambda data: asker.ask(data)
    server.wait(lambda s: s["parked"] == 20)
    for client in clients[1:10]:
        client.close()
    with contextlib.suppress(OSError):  # says goodbye in TLS only; the server just hangs up
        clients[0].socket.unwrap()
    assert server.wait(lambda s: s["gone"] == 10) < 1
    server.signal(signal.SIGTERM)
    for client in clients[10:]:
        assert client.answer().body == b"draining" and client.is_closed()


def test_reload(start, certs, tmp_path):
    for name in ("key", "pem"):
        (tmp_path / f"s.{name}").write_bytes((certs / f"server.{name}").read_bytes())
    server = start(tls_cert_file=tmp_path / "s.pem", tls_key_file=tmp_path / "s.key")
    old = server.client(wrap=wrap(certs))
    assert old.ask(get("/small")).status == 200
    (tmp_path / "s.pem").write_text("no certificate")
    server.signal(signal.SIGHUP)
    assert "s.pem cannot be used" in server.process.stdout.readline()
    assert server.client(wrap=wrap(certs)).ask(get("/small")).status == 200, "the old one stays"
    for name in ("key", "pem"):
        (tmp_path / f"s.{name}").write_bytes((certs / f"server2.{name}").read_bytes())
    server.signal(signal.SIGHUP)
    assert server.process.stdout.readline() == "reload ok\n"
    assert server.client(wrap=wrap(certs, server="server2")).ask(get("/small")).status == 200
    assert old.ask(get("/small")).status == 200, "open connections go on"


def run(**config):
    return subprocess.run([PROGRAM] + [f"{n}={v}" for n, v in config.items()], capture_output=True, text=True, timeout=10)


def test_start_with_bad_files(certs, tmp_path):
    (tmp_path / "bad.pem").write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    good = tls_config(certs)
    for field, value in (("tls_cert_file", tmp_path / "none.pem"), ("tls_cert_file", tmp_path / "bad.pem"),
                         ("tls_key_file", certs / "server2.key"), ("tls_client_ca_file", tmp_path / "bad.pem")):
        result = run(**{**good, field: value})
        assert result.returncode == 1 and result.stdout.startswith(f"error {field}: {value} cannot be used")
    for config, field in (({"tls_cert_file": certs / "server.pem"}, "tls_cert_file"),
                          ({"tls_client_ca_file": certs / "ca.pem"}, "tls_client_ca_file"),
                          ({**good, "tls_client_required": 1}, "tls_client_required")):
        result = run(**config)
        assert result.returncode == 1 and result.stdout.startswith(f"error {field}: ")


def test_start_with_bad_address(start):
    result = run(address="localhost")
    assert result.returncode == 1 and "error listen: localhost" in result.stdout
    result = run(address="192.0.2.1")
    assert result.returncode == 1 and "cannot listen on 192.0.2.1" in result.stdout
