#pragma once
#include <stddef.h>
#include <stdint.h>

typedef int (*fuzz_test)(const uint8_t *data, size_t size);

/// Fuzzes with libFuzzer and its own arguments. Built with FUZZ=coverage it runs the test once on every file of the
/// directories that are given, and that is all.
int fuzz_run(int argc, char **argv, fuzz_test test);

/// Writes a file; 0 when it could.
int fuzz_write(const char *path, const uint8_t *data, size_t size);

/// The part of the target that FUZZ_PART asks for; null for all of it.
const char *fuzz_part(void);

/// Prints `text` and aborts: what the fuzzer takes for a finding.
void fuzz_fail(const char *text) __attribute__((noreturn));
