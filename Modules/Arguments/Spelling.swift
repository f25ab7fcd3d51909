/// Finds the word that was probably meant.
package enum Spelling {
  /// The candidate with the fewest edits, when there are at most `ArgumentsLimits.editsOfTypo` and fewer than the word
  /// has letters; the first of several that are as near.
  package static func closest(to word: String, among candidates: some Sequence<String>) -> String? {
    var best: (candidate: String, distance: Int)?
    for candidate in candidates {
      let distance = distance(word, candidate)
      if distance <= ArgumentsLimits.editsOfTypo, distance < word.count, distance < best?.distance ?? .max {
        best = (candidate, distance)
      }
    }
    return best?.candidate
  }

  /// Damerau–Levenshtein distance with adjacent transpositions: insertions, deletions, substitutions and swaps of
  /// neighbours that turn one word into the other. Words whose lengths differ by more than the limit are not measured.
  static func distance(_ left: String, _ right: String) -> Int {
    let (left, right) = (Array(left), Array(right))
    if abs(left.count - right.count) > ArgumentsLimits.editsOfTypo { return abs(left.count - right.count) }
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for i in left.indices {
      var row = [i + 1]
      for j in right.indices {
        let substitution = last[j] + (left[i] == right[j] ? 0 : 1)
        var cost = min(substitution, last[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] { cost = min(cost, beforeLast[j - 1] + 1) }
        row.append(cost)
      }
      beforeLast = last
      last = row
    }
    return last[right.count]
  }
}
