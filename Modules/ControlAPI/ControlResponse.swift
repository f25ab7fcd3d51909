/// What the node answers, by method.
public enum ControlResult: Sendable, Equatable {
  case hello(HelloAnswer)
  case status(StatusAnswer)
  case peers([PeerRecord])
  case links([LinkRecord])
  case topology(TopologyAnswer)
  case sent(SendAnswer)
  case messageStatus(MessageStatusAnswer)
  case messages([MessageRecord])
  case ping(PingAnswer)
  case subscribed(SubscribeAnswer)
  case contacts([ContactRecord])
  case contact(ContactRecord)
  case page(MessagePage)
  case store(StoreRecord)
  case storeReport(StoreReport)
  case storeProgress(StoreProgressAnswer)
  /// Of methods that have nothing to say: `node.stop`, `events.acknowledge`.
  case done
}

/// Answers and notifications as lines. An answer that would be too long becomes an error answer.
public enum ControlResponse {
  public static func encode(_ result: ControlResult, to id: RequestIdentifier) -> [UInt8] {
    let form = ResponseForm(id: id, content: .result(result))
    do { return try ControlLine.encode(form, limit: ControlAPILimits.bytesOfAnswer) } catch {
      return encode(error, to: id)
    }
  }

  /// `id` is nil when the request's could not be read.
  public static func encode(_ error: ControlError, to id: RequestIdentifier?) -> [UInt8] {
    let form = ResponseForm(id: id, content: .error(error))
    if let line = try? ControlLine.encode(form, limit: ControlAPILimits.bytesOfAnswer) { return line }
    return Array(#"{"error":{"code":-32603,"message":"the answer is too long"},"id":null,"jsonrpc":"2.0"}"#.utf8) + [
      0x0A
    ]
  }

  /// `{"jsonrpc":"2.0","method":"event","params":{"kind":…}}`; nil when the event does not fit a line.
  public static func encode(_ event: ControlEvent) -> [UInt8]? {
    try? ControlLine.encode(EventForm(params: event), limit: ControlAPILimits.bytesOfAnswer)
  }
}

private struct EventForm: Encodable {
  let jsonrpc = "2.0"
  let method = "event"
  let params: ControlEvent
}

private struct ResponseForm: Encodable {
  enum Content {
    case result(ControlResult)
    case error(ControlError)
  }

  let id: RequestIdentifier?
  let content: Content

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: MemberName.self)
    try container.encode("2.0", forKey: MemberName("jsonrpc"))
    try container.encode(id, forKey: MemberName("id"))
    switch content {
    case .error(let error): try container.encode(error, forKey: MemberName("error"))
    case .result(let result): try encode(result, into: &container)
    }
  }

  private func encode(_ result: ControlResult, into container: inout KeyedEncodingContainer<MemberName>) throws {
    let name = MemberName("result")
    switch result {
    case .hello(let answer): try container.encode(answer, forKey: name)
    case .status(let answer): try container.encode(answer, forKey: name)
    case .peers(let peers): try container.encode(["peers": peers], forKey: name)
    case .links(let links): try container.encode(["links": links], forKey: name)
    case .topology(let answer): try container.encode(answer, forKey: name)
    case .sent(let answer): try container.encode(answer, forKey: name)
    case .messageStatus(let answer): try container.encode(answer, forKey: name)
    case .messages(let messages): try container.encode(["messages": messages], forKey: name)
    case .ping(let answer): try container.encode(answer, forKey: name)
    case .subscribed(let answer): try container.encode(answer, forKey: name)
    case .contacts(let contacts): try container.encode(["contacts": contacts], forKey: name)
    case .contact(let contact): try container.encode(contact, forKey: name)
    case .page(let page): try container.encode(page, forKey: name)
    case .store(let record): try container.encode(record, forKey: name)
    case .storeProgress(let progress): try container.encode(progress, forKey: name)
    case .storeReport(let report): try container.encode(report, forKey: name)
    case .done: try container.encode([String: String](), forKey: name)
    }
  }
}

/// A line from the node, as far as a client must look into it to know whom it is for.
public enum ControlNotice: Sendable, Equatable {
  /// `id` has been answered; `answer` reads the line.
  case answer(id: RequestIdentifier)
  /// `id` is nil when the node could not read the request's.
  case failure(id: RequestIdentifier?, ControlError)
  case event(ControlEvent)

  /// Total: any bytes give a notice or an error.
  public static func decode(_ line: [UInt8]) throws(ControlError) -> ControlNotice {
    do {
      return try ControlLine.decode(NoticeReading.self, line, limit: ControlAPILimits.bytesOfAnswer).notice
    } catch let error as ControlError {
      throw error
    } catch {
      throw ControlError(.parse, "the line is no answer of a node")
    }
  }

  /// The result in the line of an answer.
  public static func answer<Answer: Decodable>(_ type: Answer.Type, in line: [UInt8]) throws(ControlError) -> Answer {
    do {
      return try ControlLine.decode(ResultReading<Answer>.self, line, limit: ControlAPILimits.bytesOfAnswer).result
    } catch let error as ControlError {
      throw error
    } catch {
      throw ControlError(.parse, "the answer is not what the method gives")
    }
  }
}

private struct ResultReading<Answer: Decodable>: Decodable { let result: Answer }

private struct NoticeReading: Decodable {
  let notice: ControlNotice

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: MemberName.self)
    guard try container.decode(String.self, forKey: MemberName("jsonrpc")) == "2.0" else {
      throw ControlError(.parse, "the line is no JSON-RPC 2.0")
    }
    if container.contains(MemberName("method")) {
      guard try container.decode(String.self, forKey: MemberName("method")) == "event" else {
        throw ControlError(.unknownMethod, "no such notification")
      }
      notice = .event(try container.decode(ControlEvent.self, forKey: MemberName("params")))
    } else if container.contains(MemberName("error")) {
      let id = try container.decodeIfPresent(RequestIdentifier.self, forKey: MemberName("id"))
      notice = .failure(id: id, try container.decode(ControlError.self, forKey: MemberName("error")))
    } else {
      guard container.contains(MemberName("result")) else { throw ControlError(.parse, "the line answers nothing") }
      notice = .answer(id: try container.decode(RequestIdentifier.self, forKey: MemberName("id")))
    }
  }
}
