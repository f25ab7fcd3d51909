/// What `store.status`, `store.migrate` and `store.rollback` answer: where settings and keys lie, and how far they are on
/// their way from the plain store of earlier builds to the sealed one.
public struct StoreRecord: Codable, Sendable, Equatable {
  public enum Phase: String, Codable, Sendable, CaseIterable {
    case plain, doubleWrite, verify, copyAll, sealed
  }

  /// What keeps a thief of the disk from reading it.
  public enum Protection: String, Codable, Sendable, CaseIterable {
    case credential, passphrase
    /// A key file outside the state directory; as safe as that place is.
    case keyFile
    /// Whoever has the disk reads everything.
    case none
  }

  /// How often the sealed path failed in one way, and when; milliseconds since 1970.
  public struct Trouble: Codable, Sendable, Equatable {
    public enum Kind: String, Codable, Sendable, CaseIterable { case keyFetch, open, seal, write, mismatch }

    public var kind: Kind
    public var count: UInt64
    public var firstMilliseconds: UInt64
    public var lastMilliseconds: UInt64

    public init(kind: Kind, count: UInt64, firstMilliseconds: UInt64, lastMilliseconds: UInt64) {
      self.kind = kind
      self.count = count
      self.firstMilliseconds = firstMilliseconds
      self.lastMilliseconds = lastMilliseconds
    }
  }

  /// What holds the next step up.
  public struct Missing: Codable, Sendable, Equatable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
      /// The sealed store is not open.
      case sealedStore
      /// Names that differ between the stores, to be settled by `store.verify`.
      case mismatches
      /// Names that the sealed store does not have right.
      case names
      /// Names that find no room in the sealed store.
      case room
      /// Time without trouble, in milliseconds.
      case milliseconds
      /// Restarts without trouble.
      case restarts
      /// It begins with `store.migrate`.
      case word
    }

    public var kind: Kind
    public var count: UInt64?

    public init(kind: Kind, count: UInt64? = nil) {
      self.kind = kind
      self.count = count
    }
  }

  /// Messages and contacts.
  public struct History: Codable, Sendable, Equatable {
    public enum Phase: String, Codable, Sendable, CaseIterable {
      case plain, sealing, sealed, unsealing
    }

    /// Messages that cannot be read because pages of the file are damaged.
    public struct Damage: Codable, Sendable, Equatable {
      /// At most so many.
      public var messages: UInt64
      /// The numbers of the first and the last.
      public var first: Int64
      public var last: Int64

      public init(messages: UInt64, first: Int64, last: Int64) {
        self.messages = messages
        self.first = first
        self.last = last
      }
    }

    public var phase: Phase
    /// The number of the last message dealt with while it is sealed, and the highest there is.
    public var done: Int64
    public var total: Int64
    /// Bytes that the disk took for it, by day, and whether that is more than a memory card bears for ten years.
    public var bytesWrittenToday: UInt64
    public var bytesWrittenYesterday: UInt64
    public var isOverBudget: Bool
    /// What a day may take before it is too much.
    public var bytesPerDay: UInt64?
    /// As far as it was come upon since the daemon started, which reads all messages once. Left out when there is none.
    public var damage: Damage?
    /// How often a message did not open, or was plain where all are sealed; left out when none was.
    public var unopened: UInt64?

    public init(
      phase: Phase, done: Int64, total: Int64, bytesWrittenToday: UInt64, bytesWrittenYesterday: UInt64,
      isOverBudget: Bool, bytesPerDay: UInt64? = nil, damage: Damage? = nil, unopened: UInt64? = nil
    ) {
      self.phase = phase
      self.done = done
      self.total = total
      self.bytesWrittenToday = bytesWrittenToday
      self.bytesWrittenYesterday = bytesWrittenYesterday
      self.isOverBudget = isOverBudget
      self.bytesPerDay = bytesPerDay
      self.damage = damage
      self.unopened = unopened
    }
  }

  public var phase: Phase
  public var protection: Protection
  public var plainValues: Int?
  public var sealedValues: Int?
  public var markedNames: Int
  public var openMismatches: Int
  public var troubles: [Trouble]
  public var missing: [Missing]
  public var canRollBack: Bool
  /// Why the deleted plain store is not wholly gone; a code of errno.
  public var leftover: Int32?
  public var history: History?
  /// Files of the state directory that whoever has the disk reads, by name; empty once everything is sealed.
  public var lyingOpen: [String]?

  public init(
    phase: Phase, protection: Protection, plainValues: Int?, sealedValues: Int?, markedNames: Int, openMismatches: Int,
    troubles: [Trouble], missing: [Missing], canRollBack: Bool, leftover: Int32? = nil, history: History? = nil,
    lyingOpen: [String]? = nil
  ) {
    self.phase = phase
    self.protection = protection
    self.plainValues = plainValues
    self.sealedValues = sealedValues
    self.markedNames = markedNames
    self.openMismatches = openMismatches
    self.troubles = troubles
    self.missing = missing
    self.canRollBack = canRollBack
    self.leftover = leftover
    self.history = history
    self.lyingOpen = lyingOpen
  }
}

/// What `store.verify` answers.
public struct StoreReport: Codable, Sendable, Equatable {
  public var compared: Int
  public var copied: Int
  /// Names that differed before and have the plain value in both stores now.
  public var settled: Int
  /// Names found to differ now; they are read from the plain store until another `store.verify` settles them.
  public var mismatches: Int
  /// Where the sealed store alone counts, there is nothing to compare: so many values were opened instead, each of which
  /// is as it was sealed. Left out while there is a plain store.
  public var opened: Int?

  public init(compared: Int, copied: Int, settled: Int, mismatches: Int, opened: Int? = nil) {
    self.compared = compared
    self.copied = copied
    self.settled = settled
    self.mismatches = mismatches
    self.opened = opened
  }
}

/// How far a run over the names of a store is.
public struct StoreProgress: Codable, Sendable, Equatable {
  public enum Work: String, Codable, Sendable, CaseIterable {
    /// What was wrong before is brought up to date.
    case settling
    case copying, comparing
  }

  public var work: Work
  /// Of `total` names.
  public var done: Int
  public var total: Int

  public init(work: Work, done: Int, total: Int) {
    self.work = work
    self.done = done
    self.total = total
  }
}

/// What `store.progress` answers; empty while nothing runs.
public struct StoreProgressAnswer: Codable, Sendable, Equatable {
  public var running: StoreProgress?

  public init(running: StoreProgress?) { self.running = running }
}
