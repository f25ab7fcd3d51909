/// Bounds that every transport keeps.
public enum TransportsLimits {
  /// Smallest frame a link may offer, in bytes: below it a sealed fragment has no room for data.
  public static let smallestFrame = 64
  /// Largest frame, in bytes: the 512 bytes of an attribute value less what ATT and our tag take.
  public static let largestFrame = 509
  /// Inputs that wait on one link: half a second of a fast radio, so that a short stall of the node drops nothing.
  public static let inputsPerLink = 256
  /// Of those, places that only news take (room again, another frame size), so that frames cannot crowd them out.
  public static let newsPerLink = 8
  /// Sightings that wait, one per address: a crowd in one room.
  public static let waitingSightings = 256
  /// What a transport may keep over restarts: a few numbers for each adapter that it has ever seen.
  public static let bytesOfKey = 64
  public static let bytesOfMemory = 256
  public static let keys = 64
  /// Counters of one transport that are shown, in the order of their names.
  public static let counters = 64
  /// Links that wait to be taken over.
  public static let waitingInbound = 16
}
