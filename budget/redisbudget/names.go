package redisbudget

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
)

// names are the keys in Redis of one key of ours. What the caller's key is made of cannot collide with them, break out of the
// hash tag or be read from them: it is there as a hash alone. The tag keeps both on one node of a cluster.
type names struct {
	state     string // and the channel on which holds are told
	processes string
}

// hashBytes of SHA-256 are enough that no two keys ever meet: 128 bits.
const hashBytes = 16

func namesOf(prefix, key string) names {
	sum := sha256.Sum256([]byte(key))
	tag := prefix + "{" + hex.EncodeToString(sum[:hashBytes]) + "}"
	return names{state: tag + ":s", processes: tag + ":p"}
}

// token is a random word: the name of a process, or of an epoch.
func token() string { return rand.Text() }
