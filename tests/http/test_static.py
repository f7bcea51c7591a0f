"""Files embedded by tools/embed_files.py."""

import filecmp
import gzip
import pathlib
import subprocess
import sys

import pytest
from conftest import get

FILES = pathlib.Path(__file__).parent / "files"
SCRIPT = "/assets/app-1a2b3c4d.js"


def test_files(server):
    answer = server.get("/index.html")
    assert answer.body == (FILES / "index.html").read_bytes()
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["x-content-type-options"] == "nosniff"
    answer = server.get(SCRIPT)
    assert answer.body == (FILES / SCRIPT[1:]).read_bytes()
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["vary"] == "Accept-Encoding" and "content-encoding" not in answer.headers


@pytest.mark.parametrize("accept, packed", [
    ("gzip", True), ("br, gzip, deflate", True), ("GZIP;q=0.5", True), ("gzip;q=0", False), ("gzip; q=0.000", False),
    ("gzip;q=0.001", True), ("br", False), ("xgzip", False), ("", False)])
def test_gzip(server, accept, packed):
    answer = server.get(SCRIPT, f"Accept-Encoding: {accept}")
    assert (answer.headers.get("content-encoding") == "gzip") == packed
    body = gzip.decompress(answer.body) if packed else answer.body
    assert body == (FILES / SCRIPT[1:]).read_bytes()
    assert "content-encoding" not in server.get("/robots.txt", "Accept-Encoding: gzip").headers, "too small to pay"


def test_etag(server):
    client = server.client()
    etag = client.ask(get(SCRIPT)).headers["etag"]
    for match in (etag, f'"x", {etag}', f"W/{etag}", "*"):
        answer = client.ask(get(SCRIPT, f"If-None-Match: {match}"))
        assert answer.status == 304 and answer.headers["etag"] == etag
    assert client.ask(get(SCRIPT, 'If-None-Match: "other"')).status == 200


@pytest.mark.parametrize("path, status", [
    ("/", 200), ("/tasks/42", 200), ("/runs", 200), ("/missing.js", 404), ("/tasks/42/x.png", 404), ("/api/v1/none", 404),
    ("/api", 404), ("/worker/v1/none", 404), ("/apiary", 200), ("/index.html/", 200)])
def test_pages_of_the_browser(server, path, status):
    answer = server.get(path)
    assert answer.status == status
    if status == 200:
        assert answer.body == (FILES / "index.html").read_bytes()


def test_other_methods_get_no_files(server):
    assert server.ask(get("/index.html").replace("GET", "DELETE")).status == 404


def test_embedding_is_repeatable(tmp_path):
    tool = pathlib.Path(__file__).parents[2] / "tools/embed_files.py"
    for _ in range(2):
        subprocess.run([sys.executable, tool, FILES, "f", tmp_path], check=True)
        if not (tmp_path / "kept.c").exists():
            for suffix in ("c", "h", "bin"):
                (tmp_path / f"f.{suffix}").rename(tmp_path / f"kept.{suffix}")
    for suffix in ("c", "h", "bin"):
        assert filecmp.cmp(tmp_path / f"f.{suffix}", tmp_path / f"kept.{suffix}", shallow=False)
