#pragma once
#include <stdint.h>

/// Allocations that this program has made so far: calls of malloc, calloc, realloc and their aligned kin. Linking this
/// target is enough; the program's own definitions take the place of the C library's and count what passes.
uint64_t callocations_count(void);
