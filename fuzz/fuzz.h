#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

/* The entry point that libFuzzer, or replay.c in ordinary builds, calls with every input. Broken invariants end the
 * process. */

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
