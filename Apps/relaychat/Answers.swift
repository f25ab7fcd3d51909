import Arguments
import ControlAPI
import ControlClient
import Programs

/// Runs a call and turns its error into a sentence.
func asking<Answer>(
  _ call: () async throws(ControlClientError) -> Answer
) async throws(ProgramFailure) -> Answer {
  do { return try await call() } catch { throw ProgramFailure(error) }
}

extension ProgramContext {
  var wantsJSON: Bool {
    get throws(ProgramFailure) { try reading { (settings) throws(SettingError) in try settings.flag("json") } }
  }

  func reading<Value>(_ read: (Settings) throws(SettingError) -> Value) throws(ProgramFailure) -> Value {
    do { return try read(settings) } catch { throw ProgramFailure(error.description, exitCode: error.exitCode) }
  }
}

/// One JSON object as one line of results.
func writeJSON(_ value: some Encodable) throws(ProgramFailure) {
  guard let line = ControlJSON.line(value) else { throw ProgramFailure("The answer does not fit a line.") }
  guard Output.bytes(line) else { throw ProgramFailure("The results cannot be written.") }
}
