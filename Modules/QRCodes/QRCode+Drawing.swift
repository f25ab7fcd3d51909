extension QRCode {
  /// Characters across a drawing.
  package var columns: Int { size + 2 * QRCodesLimits.quietZone }

  /// The code with its quiet zone for a terminal, two modules one above the other in each character.
  ///
  /// Coloured, both colours are set (16 and 231 of the 256, black and white in every scheme), so that it looks the same
  /// on a dark and on a light terminal. Without colours the blocks are the light modules, which is right on a dark
  /// terminal; on a light one it is a negative, and most readers take that too.
  package func lines(isColoured: Bool) -> [String] {
    let zone = QRCodesLimits.quietZone
    return stride(from: -zone, to: size + zone, by: 2).map { row in
      let characters = (-zone..<size + zone).map { column in
        Self.character(
          isDark(row: row, column: column) == isColoured,
          // Below an odd number of rows there is nothing, which must not look dark.
          (isDark(row: row + 1, column: column) == isColoured) && (isColoured || row + 1 < size + zone))
      }
      let text = String(characters)
      return isColoured ? "\u{1B}[38;5;16;48;5;231m\(text)\u{1B}[0m" : text
    }
  }

  /// `upper` and `lower` say which halves are painted in the colour of the text.
  private static func character(_ upper: Bool, _ lower: Bool) -> Character {
    switch (upper, lower) {
    case (true, true): "█"
    case (true, false): "▀"
    case (false, true): "▄"
    case (false, false): " "
    }
  }
}
