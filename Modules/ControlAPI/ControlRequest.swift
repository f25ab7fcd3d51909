/// What ties an answer to its request: a number or a short text that the client chose.
public enum RequestIdentifier: Hashable, Sendable, Codable {
  case number(Int64)
  case text(String)

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int64.self) {
      self = .number(number)
    } else {
      let text = try container.decode(String.self)
      guard text.utf8.count <= ControlAPILimits.bytesOfIdentifier else {
        throw ControlError(.tooLong, "id is too long", limit: ControlAPILimits.bytesOfIdentifier)
      }
      self = .text(text)
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .number(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    }
  }
}

/// Why a line is no request, with the request's identifier as far as it could be read: the answer carries it.
public struct ControlFault: Error, Sendable, Equatable {
  public let id: RequestIdentifier?
  public let error: ControlError
}

/// One request: `{"jsonrpc":"2.0","id":1,"method":"node.status","params":{}}`.
///
/// Strict: members and parameters that are not known are refused, and so are batches and requests without an `id`.
public struct ControlRequest: Sendable, Equatable {
  public let id: RequestIdentifier
  public let call: ControlCall

  public init(id: RequestIdentifier, call: ControlCall) {
    self.id = id
    self.call = call
  }

  /// One line with its line end.
  public func encode() throws(ControlError) -> [UInt8] {
    try ControlLine.encode(RequestForm(request: self), limit: ControlAPILimits.bytesOfRequest)
  }

  /// Total: any bytes give a request or a fault.
  public static func decode(_ line: [UInt8]) throws(ControlFault) -> ControlRequest {
    let form: RequestReading
    do {
      form = try ControlLine.decode(RequestReading.self, line, limit: ControlAPILimits.bytesOfRequest)
    } catch let error as ControlError {
      throw ControlFault(id: nil, error: error)
    } catch let error as DecodingError {
      if case .typeMismatch = error { throw ControlFault(id: nil, error: .notARequest("the line is no object")) }
      throw ControlFault(id: nil, error: ControlError(.parse, "the line is no JSON"))
    } catch {
      throw ControlFault(id: nil, error: ControlError(.parse, "the line is no JSON"))
    }
    switch form.call {
    case .success(let call):
      guard let id = form.id else { throw ControlFault(id: nil, error: .notARequest("id is missing")) }
      return ControlRequest(id: id, call: call)
    case .failure(let error): throw ControlFault(id: form.id, error: error)
    }
  }
}

extension ControlError {
  static func notARequest(_ message: String) -> ControlError { ControlError(.invalidRequest, message) }
}

private struct RequestForm: Encodable {
  let request: ControlRequest

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: MemberName.self)
    try container.encode("2.0", forKey: MemberName("jsonrpc"))
    try container.encode(request.id, forKey: MemberName("id"))
    try container.encode(request.call.method.rawValue, forKey: MemberName("method"))
    let name = MemberName("params")
    switch request.call {
    case .hello(let parameters): try container.encode(parameters, forKey: name)
    case .sendMessage(let parameters): try container.encode(parameters, forKey: name)
    case .messageStatus(let parameters): try container.encode(parameters, forKey: name)
    case .listMessages(let parameters): try container.encode(parameters, forKey: name)
    case .markRead(let parameters): try container.encode(parameters, forKey: name)
    case .ping(let parameters): try container.encode(parameters, forKey: name)
    case .subscribe(let parameters): try container.encode(parameters, forKey: name)
    case .acknowledge(let parameters): try container.encode(parameters, forKey: name)
    case .trustContact(let parameters): try container.encode(parameters, forKey: name)
    case .blockContact(let parameters), .unblockContact(let parameters), .fingerprint(let parameters):
      try container.encode(parameters, forKey: name)
    case .migrateStore(let parameters): try container.encode(parameters, forKey: name)
    case .searchMessages(let parameters): try container.encode(parameters, forKey: name)
    case .pageMessages(let parameters): try container.encode(parameters, forKey: name)
    case .status, .stop, .listPeers, .listLinks, .topology, .listContacts, .storeStatus, .storeProgress, .verifyStore,
      .rollBackStore:
      break
    }
  }
}

/// Reads as much as it can, so that a fault still knows the identifier.
private struct RequestReading: Decodable {
  private typealias Container = KeyedDecodingContainer<MemberName>

  let id: RequestIdentifier?
  let call: Result<ControlCall, ControlError>

  private static let members: Set<String> = ["jsonrpc", "id", "method", "params"]

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: MemberName.self)
    id = try? container.decode(RequestIdentifier.self, forKey: MemberName("id"))
    do throws(ControlError) {
      call = .success(try Self.readCall(container))
    } catch {
      call = .failure(error)
    }
  }

  private static func readCall(_ container: Container) throws(ControlError) -> ControlCall {
    guard (try? container.decode(String.self, forKey: MemberName("jsonrpc"))) == "2.0" else {
      throw .notARequest("jsonrpc must be \"2.0\"")
    }
    guard container.allKeys.allSatisfy({ members.contains($0.stringValue) }) else {
      throw .notARequest("there is a member that no request has")
    }
    guard (try? container.decode(RequestIdentifier.self, forKey: MemberName("id"))) != nil else {
      throw .notARequest("id must be a whole number or a short text")
    }
    guard let name = try? container.decode(String.self, forKey: MemberName("method")) else {
      throw .notARequest("method must be a text")
    }
    guard let method = ControlMethod(rawValue: name) else { throw ControlError(.unknownMethod, "no such method") }
    switch method {
    case .hello: return .hello(try read(container))
    case .status: return try none(.status, container)
    case .stop: return try none(.stop, container)
    case .listPeers: return try none(.listPeers, container)
    case .listLinks: return try none(.listLinks, container)
    case .topology: return try none(.topology, container)
    case .listContacts: return try none(.listContacts, container)
    case .trustContact: return .trustContact(try read(container))
    case .blockContact: return .blockContact(try read(container))
    case .unblockContact: return .unblockContact(try read(container))
    case .fingerprint: return .fingerprint(try read(container))
    case .sendMessage: return .sendMessage(try read(container))
    case .messageStatus: return .messageStatus(try read(container))
    case .listMessages: return .listMessages(try read(container))
    case .markRead: return .markRead(try read(container))
    case .ping: return .ping(try read(container))
    case .subscribe: return .subscribe(try read(container))
    case .acknowledge: return .acknowledge(try read(container))
    case .searchMessages: return .searchMessages(try read(container))
    case .pageMessages: return .pageMessages(try read(container))
    case .storeStatus: return try none(.storeStatus, container)
    case .storeProgress: return try none(.storeProgress, container)
    case .migrateStore: return .migrateStore(try read(container))
    case .verifyStore: return try none(.verifyStore, container)
    case .rollBackStore: return try none(.rollBackStore, container)
    }
  }

  private static func read<Parameters: ControlParameters>(_ container: Container) throws(ControlError) -> Parameters {
    let name = MemberName("params")
    try checkNames(container, Parameters.names)
    let parameters: Parameters
    do {
      parameters = try container.decode(Parameters.self, forKey: name)
    } catch {
      throw ControlError(.invalidParameters, Self.text(error))
    }
    try parameters.check()
    return parameters
  }

  private static func none(_ call: ControlCall, _ container: Container) throws(ControlError) -> ControlCall {
    if container.contains(MemberName("params")) { try checkNames(container, []) }
    return call
  }

  private static func checkNames(_ container: Container, _ names: Set<String>) throws(ControlError) {
    let name = MemberName("params")
    guard let parameters = try? container.nestedContainer(keyedBy: MemberName.self, forKey: name) else {
      throw ControlError(.invalidParameters, "params must be an object")
    }
    guard parameters.allKeys.allSatisfy({ names.contains($0.stringValue) }) else {
      throw ControlError(.invalidParameters, "there is a parameter that this method does not have")
    }
  }

  /// Names the parameter, which is one of ours, and never repeats what the client sent.
  private static func text(_ error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, _): "\(key.stringValue) is missing"
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
      DecodingError.dataCorrupted(let context):
      "\(context.codingPath.last { $0.intValue == nil }?.stringValue ?? "params") has the wrong type"
    default: "params cannot be understood"
    }
  }
}
