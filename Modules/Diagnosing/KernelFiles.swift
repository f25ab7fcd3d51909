internal import Glibc

/// Reads what the kernel tells everybody in `/sys` and `/proc`. Needs no rights and changes nothing.
package struct KernelFiles: Sendable {
  /// What stands before every path; empty for this machine, another folder in tests and for images of a system.
  package let root: String

  package init(root: String = "") { self.root = root.hasSuffix("/") ? String(root.dropLast()) : root }

  package var kernel: DiagnosisFacts.Kernel {
    let names = self.names("/sys/class/bluetooth")
    // Links stand there too, as hci0:64.
    let controllers = (names ?? []).filter { $0.hasPrefix("hci") && !$0.contains(":") }
    return DiagnosisFacts.Kernel(hasBluetooth: names != nil, controllers: controllers)
  }

  /// The switches of Bluetooth radios.
  package var switches: [DiagnosisFacts.RadioSwitch] {
    (names("/sys/class/rfkill") ?? []).compactMap { name in
      let folder = "/sys/class/rfkill/\(name)"
      guard word("\(folder)/type") == "bluetooth" else { return nil }
      return DiagnosisFacts.RadioSwitch(
        name: word("\(folder)/name") ?? name, isSoft: word("\(folder)/soft") == "1",
        isHard: word("\(folder)/hard") == "1")
    }
  }

  /// The name of a process.
  package func process(_ number: Int) -> String? { word("/proc/\(number)/comm") }

  /// Nil when there is no such folder.
  private func names(_ path: String) -> [String]? {
    guard let directory = unsafe opendir(root + path) else { return nil }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while names.count < DiagnosingLimits.namesOfFolder, let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  /// The first line of a small file.
  private func word(_ path: String) -> String? {
    let descriptor = unsafe open(root + path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: DiagnosingLimits.bytesOfFile)
    let size = unsafe read(descriptor, &bytes, bytes.count)
    guard size > 0 else { return nil }
    return String(decoding: bytes[..<size].prefix { $0 != 0x0A }, as: UTF8.self)
  }
}
