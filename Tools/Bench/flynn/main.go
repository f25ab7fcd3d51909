// Command flynn makes Noise XX handshakes with flynn/noise, both sides in one process, and prints how many nanoseconds
// one takes. Its argument is how many to make; as many again come first, unmeasured.
package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/flynn/noise"
)

var suite = noise.NewCipherSuite(noise.DH25519, noise.CipherChaChaPoly, noise.HashSHA256)

func side(isInitiator bool, key noise.DHKey) *noise.HandshakeState {
	state, err := noise.NewHandshakeState(noise.Config{
		CipherSuite: suite, Random: rand.Reader, Pattern: noise.HandshakeXX, Initiator: isInitiator,
		Prologue: []byte{1}, StaticKeypair: key,
	})
	check(err)
	return state
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "flynn:", err)
		os.Exit(1)
	}
}

// pass sends one message and returns whether it was the last.
func pass(from, to *noise.HandshakeState) bool {
	message, ours, _, err := from.WriteMessage(nil, nil)
	check(err)
	_, theirs, _, err := to.ReadMessage(nil, message)
	check(err)
	return ours != nil && theirs != nil
}

func main() {
	count, err := strconv.Atoi(os.Args[1])
	check(err)
	one, err := suite.GenerateKeypair(rand.Reader)
	check(err)
	other, err := suite.GenerateKeypair(rand.Reader)
	check(err)
	handshake := func() {
		initiator, responder := side(true, one), side(false, other)
		pass(initiator, responder)
		pass(responder, initiator)
		if !pass(initiator, responder) {
			check(fmt.Errorf("a handshake did not end"))
		}
	}
	for i := 0; i < count; i++ {
		handshake()
	}
	start := time.Now()
	for i := 0; i < count; i++ {
		handshake()
	}
	fmt.Println(time.Since(start).Nanoseconds() / int64(count))
}
