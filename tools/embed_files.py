#!/usr/bin/env python3
"""Turns a folder of files into C that holds them, for src/adapters/http/static.h.

usage: embed_files.py FOLDER NAME OUTPUT_FOLDER [SPARE_FOLDER]     the spare one is taken while FOLDER has no index.html

Writes NAME.h (extern const struct ax_http_files NAME), NAME.c, NAME.bin (the bytes, which NAME.c takes in whole) and
NAME.d (a depfile). The same input gives the same output.
"""

import gzip
import hashlib
import os
import re
import sys

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
PACKED = {".ico", ".png", ".woff2"}
HASHED = re.compile(r"^/assets/.*[-.][A-Za-z0-9_-]{8,}\.[a-z0-9]+$")
ALIGN = 16


def list_files(folder):
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in names:
            path = os.path.join(parent, name)
            yield "/" + os.path.relpath(path, folder).replace(os.sep, "/"), path


def c_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Blob:
    def __init__(self):
        self.bytes = bytearray()

    def add(self, data):
        offset = len(self.bytes)
        self.bytes += data
        self.bytes += b"\0" * (-len(self.bytes) % ALIGN)
        return offset


def row(blob, name, url, data):
    extension = os.path.splitext(url)[1]
    kind = TYPES.get(extension)
    if kind is None:
        sys.exit(f"embed_files: {url}: no Content-Type is known for '{extension}'; add it to TYPES")
    etag = '"' + hashlib.sha256(data).hexdigest()[:20] + '"'
    packed = b"" if extension in PACKED else gzip.compress(data, 9, mtime=0)
    if len(packed) >= len(data) * 0.95:
        packed = b""
    raw = f"{name}_bytes + {blob.add(data)}, {len(data)}"
    gz = f"{name}_bytes + {blob.add(packed)}, {len(packed)}" if packed else "NULL, 0"
    immutable = "true" if HASHED.match(url) else "false"
    return f"\t{{ {c_string(url)}, {c_string(kind)}, {c_string(etag)}, {raw}, {gz}, {immutable} }},\n"


def main():
    folder, name, output, *spare = sys.argv[1:]
    watched = set()
    if spare and not os.path.exists(os.path.join(folder, "index.html")):
        watched = {os.path.dirname(folder)}  # changes when FOLDER comes into being
        folder = spare[0]
    files = sorted(list_files(folder), key=lambda f: f[0].encode())
    blob = Blob()
    rows = []
    for url, path in files:
        with open(path, "rb") as f:
            rows.append(row(blob, name, url, f.read()))
    base = os.path.join(os.path.abspath(output), name)
    source = f"""#include "{name}.h"

__asm__(".section .rodata\\n"
	".balign {ALIGN}\\n"
	".hidden {name}_bytes\\n"
	".global {name}_bytes\\n"
	"{name}_bytes:\\n"
	".incbin \\"{base}.bin\\"\\n"
	".byte 0\\n"
	".previous\\n");

extern const unsigned char {name}_bytes[];

static const struct ax_http_file files[] = {{
{"".join(rows)}}};

const struct ax_http_files {name} = {{ files, {len(rows)} }};
"""
    header = f"""#pragma once
#include "adapters/http/static.h"

extern const struct ax_http_files {name};
"""
    inputs = sorted(watched | {os.path.dirname(path) for _, path in files} | {path for _, path in files})
    depfile = f"{os.path.join(output, name)}.c: " + " ".join(p.replace(" ", "\\ ") for p in inputs) + "\n"
    for suffix, data in ((".bin", bytes(blob.bytes)), (".h", header), (".c", source), (".d", depfile)):
        data = data if isinstance(data, bytes) else data.encode()
        if suffix != ".d" and os.path.exists(base + suffix):
            with open(base + suffix, "rb") as f:
                if f.read() == data:
                    continue  # as it was: nothing has to be built anew
        with open(base + suffix, "wb") as f:
            f.write(data)


if __name__ == "__main__":
    main()
