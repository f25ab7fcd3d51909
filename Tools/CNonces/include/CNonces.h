#pragma once
#include <stddef.h>
#include <stdint.h>

/// Records with which key and nonce libcrypto is told to seal, on threads that asked for it. Linking this target is
/// enough: the program's own definition of `EVP_EncryptInit_ex` takes the place of libcrypto's, notes what passes, and
/// calls it. For tests only; no program that is shipped links it.

/// A key of 32 bytes and a nonce of 12.
typedef struct {
  uint8_t key[32];
  uint8_t nonce[12];
} cnonces_pair;

/// Begins a new record of what this thread seals.
void cnonces_start(void);

/// Ends the record of this thread and gives its length.
size_t cnonces_stop(void);

/// The pair at `index` of the record that was ended.
cnonces_pair cnonces_pair_at(size_t index);
