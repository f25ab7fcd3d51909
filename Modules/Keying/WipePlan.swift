/// In which order things go when everything is to go. A value: it is told what is there, and says what is next.
///
/// The mark is durable before anything is touched, so that from then on there is only one way. The keys go first, and
/// durably: whatever is sealed cannot be read from that moment, whenever the rest goes. The mark goes last.
package struct WipePlan: Equatable, Sendable {
  package enum Step: Equatable, Sendable {
    case writeMark
    /// Zeros over the content where possible, then the name.
    case erase(String)
    /// As `erase`, of a file that may be another's or not be there.
    case eraseNamed(String)
    case remove(String)
    case removeTree(String)
    case syncDirectory(String)
    /// Looks at the directory again.
    case list
    /// Something is there again and again.
    case giveUp(String)
    case done
  }

  private enum Phase: Equatable { case mark, keys, data, check, unmark, done }

  package let directory: String
  package let named: [String]
  private var phase: Phase
  private var rounds = 0

  /// - Parameters:
  ///   - named: paths that the mark holds.
  ///   - isMarked: whether the mark is there already.
  package init(directory: String, named: [String], isMarked: Bool) {
    self.directory = directory
    self.named = named
    phase = isMarked ? .keys : .mark
  }

  /// The next steps, to be done in this order; `names` is what the directory holds now.
  package mutating func next(seeing names: [String]) -> [Step] {
    switch phase {
    case .mark:
      phase = .keys
      return [.writeMark, .list]
    case .keys:
      phase = .data
      let own = paths(names, of: [.keys]).map { Step.erase($0) }
      let others = named.map { Step.eraseNamed($0) }
      var folders: [String] = []
      for folder in [directory] + named.map({ DurableFile.directory(of: $0) }) where !folders.contains(folder) {
        folders.append(folder)
      }
      return own + others + folders.map { .syncDirectory($0) } + [.list]
    case .data:
      phase = .check
      let trees = names.contains(StateInventory.quarantine) ? [path(StateInventory.quarantine)] : []
      // What earlier builds kept in the archive was not sealed.
      return paths(names, of: [.plain, .archive]).map { .erase($0) }
        + paths(names, of: [.sealed]).filter { !trees.contains($0) }.map { .remove($0) }
        + trees.map { .removeTree($0) } + [.syncDirectory(directory), .list]
    case .check:
      let inventory = StateInventory(names: names)
      guard inventory.state.isEmpty, !inventory.hasSlotFile, !inventory.hasBackup else {
        // Something came back in between: it goes too, but not for ever.
        rounds += 1
        guard rounds < KeyingLimits.wipeRounds else { return [.giveUp(directory)] }
        phase = .keys
        return next(seeing: names)
      }
      phase = .unmark
      return next(seeing: names)
    case .unmark:
      phase = .done
      let passing = paths(names, of: [.passing])
      return passing.map { .remove($0) } + [.remove(path(StateInventory.mark)), .syncDirectory(directory), .list]
    case .done: return [.done]
    }
  }

  private func path(_ name: String) -> String { directory + "/" + name }

  private func paths(_ names: [String], of kinds: [StateInventory.Kind]) -> [String] {
    // The slot file before its backup, and both before the rest.
    names.sorted().filter { name in StateInventory.kind(of: name).map { kinds.contains($0) } ?? false }.map(path)
  }
}
