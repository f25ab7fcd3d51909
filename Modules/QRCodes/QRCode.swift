internal import CQrencode
internal import Glibc

/// Why a text could not be made a code.
package enum QRCodeError: Error, Sendable, Equatable {
  /// It is empty, or holds a zero byte.
  case notText
  case tooLong(byteCount: Int, limit: Int)
  /// libqrencode failed: no memory.
  case library(code: Int32)
}

/// A text as a QR code (ISO/IEC 18004, model 2), the smallest that holds it: a square of dark and light modules.
///
/// Correction is of the lowest level: a screen has no smudges, and a small code fits a small terminal. libqrencode picks
/// the mode for each part of the text, so digits take a third of a byte less than letters.
package struct QRCode: Hashable, Sendable {
  /// Modules along one side, without the quiet zone: 21 to 177.
  package let size: Int
  private let dark: [Bool]

  package init(_ text: String) throws(QRCodeError) {
    let count = text.utf8.count
    guard count <= QRCodesLimits.textBytes else {
      throw .tooLong(byteCount: count, limit: QRCodesLimits.textBytes)
    }
    guard count > 0, !text.utf8.contains(0) else { throw .notText }
    guard let code = unsafe QRcode_encodeString(text, 0, QR_ECLEVEL_L, QR_MODE_8, 1) else {
      // Between the most bytes there can be and what these need: letters fill it earlier than digits.
      throw errno == ERANGE ? .tooLong(byteCount: count, limit: QRCodesLimits.textBytes) : .library(code: errno)
    }
    defer { unsafe QRcode_free(code) }
    let width = unsafe Int(code.pointee.width)
    let modules = unsafe UnsafeBufferPointer(start: code.pointee.data, count: width * width)
    size = width
    dark = unsafe modules.map { $0 & 1 == 1 }
  }

  /// Whether a module is dark. Everything around the code is light.
  package func isDark(row: Int, column: Int) -> Bool {
    guard (0..<size).contains(row), (0..<size).contains(column) else { return false }
    return dark[row * size + column]
  }
}
