#!/usr/bin/env python3
"""Writes the SQL migrations into a C file: embed_migrations.py OUT.c NAME NNNN_name.sql…

The files must be numbered 1, 2, 3, … without gaps. Each is kept with the SHA-256 of its bytes, in the array NAME. A file that
begins with "-- oldest: N" only expands the schema: programs that know the migrations up to N go on with it.
"""
import hashlib
import os
import re
import sys

out, array, files = sys.argv[1], sys.argv[2], sorted(sys.argv[3:], key=os.path.basename)
texts, rows = [], []
for i, path in enumerate(files, start=1):
    number, name = os.path.splitext(os.path.basename(path))[0].split("_", 1)
    if int(number) != i:
        sys.exit(f"{path}: migration {i} is expected here")
    with open(path, "rb") as f:
        sql = f.read()
    expands = re.match(rb"-- oldest: ([1-9]\d*)\n", sql)
    oldest = int(expands[1]) if expands else i
    if oldest > i:
        sys.exit(f"{path}: there is no migration {oldest} yet")
    body = ",".join(str(b) if b < 128 else f"(char){b}" for b in sql)
    texts.append(f"static const char sql_{i}[] = {{{body},0}};")
    rows.append(f'\t{{ {i}, {oldest}, "{name}", "{hashlib.sha256(sql).hexdigest()}", sql_{i} }},')

with open(out, "w") as f:
    f.write('#include "adapters/sql/migration.h"\n\n')
    f.write(f"extern const struct ax_migration {array}[];\nextern const int {array}_n;\n")
    f.write("\n".join(texts))
    f.write("\n\nconst struct ax_migration " + array + "[] = {\n" + "\n".join(rows) + "\n};\n")
    f.write(f"const int {array}_n = {len(rows)};\n")
