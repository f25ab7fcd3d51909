internal import Database
package import Sessions

/// What is kept of the history; whatever exceeds any of it goes, oldest first.
package struct RetentionPolicy: Sendable, Equatable {
  package var messages: Int
  /// Bytes of the pages in use.
  package var bytes: UInt64
  package var ageMilliseconds: UInt64

  package init(
    messages: Int = ArchiveLimits.messages, bytes: UInt64 = ArchiveLimits.bytes,
    ageMilliseconds: UInt64 = ArchiveLimits.ageMilliseconds
  ) {
    self.messages = messages
    self.bytes = bytes
    self.ageMilliseconds = ageMilliseconds
  }
}

/// What one group of a trim removed, by reason.
package struct ArchiveTrim: Sendable, Equatable {
  package var byAge = 0
  package var byNumber = 0
  package var bySize = 0
  /// Nothing more exceeds the policy.
  package var isDone = false

  package var removed: Int { byAge + byNumber + bySize }
}

extension MessageArchive {
  /// Removes the oldest messages, at most `ArchiveLimits.trimStep`; the owner calls again until it is done. Contacts and
  /// cards stay, and so does a message of our own that waits or that nobody has taken over yet, for as long as any kind
  /// of packet lives.
  ///
  /// - Parameter now: milliseconds since 1970.
  package func trim(
    _ policy: RetentionPolicy, now: UInt64
  ) async throws(SessionStoreError) -> ArchiveTrim {
    noteWrites(now: now)
    return try written { () throws(DatabaseError) in
      try account.write(to: database)
      let unsent: [DatabaseValue] = [.bits(now - min(now, ArchiveLimits.unsentMilliseconds))]
      var trim = ArchiveTrim()
      let oldest = now - min(now, policy.ageMilliseconds)
      trim.byAge = try remove("stored < ?2 ORDER BY stored, number", unsent + [.bits(min(oldest, UInt64(Int64.max)))])
      guard trim.removed == 0 else { return trim }
      let last = try highestNumber()
      let beyond = last - Int64(clamping: max(0, policy.messages))
      trim.byNumber = beyond > 0 ? try remove("number <= ?2 ORDER BY number", unsent + [.integer(beyond)]) : 0
      guard trim.removed == 0 else { return trim }
      if try database.bytesInUse() > policy.bytes {
        trim.bySize = try remove("number <= ?2 ORDER BY number", unsent + [.integer(last)])
      }
      trim.isDone = trim.removed == 0
      return trim
    }
  }

  /// - Parameter which: a condition and an order, constants of the program; `?1` is the time since which what is unsent
  ///   stays.
  private func remove(_ which: String, _ values: [DatabaseValue]) throws(DatabaseError) -> Int {
    try database.execute(
      """
      DELETE FROM messages WHERE number IN (
        SELECT number FROM messages
        WHERE (state NOT IN ('waiting', 'accepted') OR stored < ?1) AND \(which) LIMIT \(ArchiveLimits.trimStep))
      """, values)
    return database.changedRows
  }

  /// What was written, of the day of `now` (milliseconds since 1970); for `status`. The archive has no clock: what it
  /// wrote belongs to the day in which it is asked next, by this or by `trim`, which also keeps it.
  package func writes(now: UInt64) -> WriteAccount {
    noteWrites(now: now)
    return account
  }

  private func noteWrites(now: UInt64) { account.note(logged: database.bytesLogged, now: now) }
}
