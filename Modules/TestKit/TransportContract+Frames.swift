internal import Streams
internal import Transports

/// What links carry.
extension TransportContract {
  static let frameClauses = [
    Clause(name: "framesArriveWholeInOrderAndOnce") { harness in
      let nodes = try makeNodes(harness, "ada", "bob")
      try await running(harness, nodes) {
        let pair = try await link(nodes[0], nodes[1])
        for (from, to) in [(pair.central, pair.peripheral), (pair.peripheral, pair.central)] {
          let sizes = [1, 2, 3, 63, 64, from.frameSize - 1, from.frameSize]
          for batch in 0..<40 {
            let frames = (0..<50).map { frame(batch * 50 + $0, byteCount: sizes[$0 % sizes.count]) }
            for frame in frames { try await send(frame, on: from) }
            for frame in frames {
              let heard = try await nextFrame(to)
              try require(heard == frame, "of \(frame.count) bytes came \(heard.count), or another frame")
            }
          }
          try require(to.droppedFrames == 0, "a reader that keeps up lost \(to.droppedFrames) frames")
        }
      }
    },
    Clause(name: "aFrameLongerThanTheLinkIsRefused") { harness in
      let nodes = try makeNodes(harness, "ada", "bob")
      try await running(harness, nodes) {
        let pair = try await link(nodes[0], nodes[1])
        for link in [pair.central, pair.peripheral] {
          let size = link.frameSize
          try require(link.send(frame(1, byteCount: size + 1)) == .tooLong, "\(size + 1) bytes were taken")
          try require(link.send(frame(1, byteCount: size + 5_000)) == .tooLong, "\(size + 5_000) bytes were taken")
        }
        let longest = frame(9, byteCount: pair.central.frameSize)
        try await send(longest, on: pair.central)
        try require(try await nextFrame(pair.peripheral) == longest, "the link did not go on")
      }
    },
    Clause(name: "anEmptyFrameHarmsNothing") { harness in
      let nodes = try makeNodes(harness, "ada", "bob")
      try await running(harness, nodes) {
        let pair = try await link(nodes[0], nodes[1])
        _ = pair.central.send([])
        try await send([5], on: pair.central)
        var heard = try await nextFrame(pair.peripheral)
        if heard.isEmpty { heard = try await nextFrame(pair.peripheral) }
        try require(heard == [5], "the frame after an empty one was \(heard)")
      }
    },
    Clause(name: "whatASlowReaderMissesIsCounted") { harness in
      let nodes = try makeNodes(harness, "ada", "bob")
      try await running(harness, nodes) {
        let pair = try await link(nodes[0], nodes[1])
        var sent = 0
        while sent < 4_000, pair.central.send(frame(sent, byteCount: 60)) == .sent { sent += 1 }
        try require(sent >= 64, "a link took only \(sent) frames ahead of its reader")
        pair.central.close()
        let numbers = try await awaitEnd(pair.peripheral, .closedByPeer).map(number)
        try require(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "frames came out of order or twice")
        let dropped = Int(pair.peripheral.droppedFrames)
        try require(numbers.count + dropped == sent, "\(sent) sent, \(numbers.count) came, \(dropped) counted as lost")
      }
    },
    Clause(name: "aFullLinkTellsWhenThereIsRoom") { harness in
      guard harness.canFill else { return }
      let nodes = try makeNodes(harness, "ada", "bob")
      try await running(harness, nodes) {
        let pair = try await link(nodes[0], nodes[1])
        var sent = 0
        var answer = LinkSend.sent
        while sent < 1_000_000 {
          answer = pair.central.send(frame(sent, byteCount: 60))
          guard answer == .sent else { break }
          sent += 1
        }
        try require(answer == .full, "\(sent) frames were taken and then it said \(answer)")
        let taken = sent
        for number in 0..<taken {
          let heard = try await nextFrame(pair.peripheral)
          try require(Self.number(of: heard) == number, "frame \(Self.number(of: heard)) came in place of \(number)")
        }
        try await awaitWritable(pair.central)
        try await send(frame(taken, byteCount: 60), on: pair.central)
        try require(number(of: try await nextFrame(pair.peripheral)) == taken, "the frame that was refused came too")
      }
    },
    Clause(name: "aChangedFrameSizeIsTold") { harness in
      let nodes = try makeNodes(harness, "ada", "bob")
      try await running(harness, nodes) {
        let pair = try await link(nodes[0], nodes[1])
        for size in [100, 64, 200, 180] {
          try harness.setFrameSize(size, between: "ada", "bob")
          for link in [pair.central, pair.peripheral] {
            try await awaitFrameSize(size, link)
            try require(link.frameSize == size, "told \(size), has \(link.frameSize)")
            try require(link.send(frame(1, byteCount: size + 1)) == .tooLong, "\(size + 1) bytes were taken")
          }
          try await send(frame(size, byteCount: size), on: pair.central)
          try require(try await nextFrame(pair.peripheral).count == size, "a frame of the new size did not come")
        }
      }
    },
    Clause(name: "linksOfThreeNodesAreNotMixed") { harness in
      let nodes = try makeNodes(harness, "ada", "bob", "eve")
      try await running(harness, nodes) {
        let one = try await link(nodes[0], nodes[1])
        let other = try await link(nodes[2], nodes[1])
        for round in 0..<50 {
          try await send(frame(round, byteCount: 10), on: one.central)
          try await send(frame(1_000 + round, byteCount: 11), on: other.central)
          try await send(frame(2_000 + round, byteCount: 12), on: one.peripheral)
          try await send(frame(3_000 + round, byteCount: 13), on: other.peripheral)
        }
        for round in 0..<50 {
          try require(number(of: try await nextFrame(one.peripheral)) == round, "bob heard another than ada")
          try require(number(of: try await nextFrame(other.peripheral)) == 1_000 + round, "bob heard another than eve")
          try require(number(of: try await nextFrame(one.central)) == 2_000 + round, "ada heard what was not for her")
          try require(number(of: try await nextFrame(other.central)) == 3_000 + round, "eve heard what was not for her")
        }
      }
    },
  ]
}
