"""The checker shares nothing with what it checks: neither code nor calendar."""

import re
import subprocess

from store import BUILD, ROOT

# The address of the database is read as the server reads it: an address says where to look, not what is right.
PLUMBING = {"base/arena.h", "base/attr.h", "base/buf.h", "base/err.h", "adapters/mariadb/url.h"}


def test_includes():
    files = sorted((ROOT / "src/check").glob("*.[ch]"))
    assert len(files) > 10
    for file in files:
        for name in re.findall(r'^#include "([^"]+)"', file.read_text(), re.M):
            assert name.startswith("check/") or name in PLUMBING, f"{file.name} includes {name}"


def test_symbols():
    """What the library takes from AX are memory, buffers and errors; libc's time zones it does not use."""
    listed = subprocess.run(["nm", BUILD / "src/check/libaxcheck.a"], capture_output=True, text=True, check=True).stdout
    defined = set(re.findall(r" [TRDB] (\w+)", listed))
    wanted = set(re.findall(r" U (\w+)", listed)) - defined
    foreign = {name for name in wanted if name.startswith("ax_")}
    assert foreign <= {"ax_alloc", "ax_alloc_array", "ax_strdup", "ax_strndup", "ax_sprintf", "ax_arena_reset",
                       "ax_arena_done", "ax_malloc", "ax_realloc", "ax_buf_init", "ax_buf_done", "ax_buf_adds",
                       "ax_buf_addc", "ax_buf_printf", "ax_fail", "ax_die"}
    assert not wanted & {"mktime", "timegm", "gmtime", "gmtime_r", "localtime", "localtime_r", "tzset", "strptime"}
