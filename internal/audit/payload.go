package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Payload stands for bytes that a log does not hold: their size, and a hash by which equal ones are found.
type Payload struct {
	Bytes int64  `json:"bytes"`
	Hash  string `json:"hash"`
	Text  string `json:"text,omitempty"` // redacted, and only with payloads: redacted
}

// Payload is what a log says of the arguments or the result of a call. The hash is keyed: a bare one of
// {"amount":100} is found by trying.
func (l *Log) Payload(raw []byte) Payload {
	p := Payload{Bytes: int64(len(raw)), Hash: Digest(l.key, raw)}
	if l.config.Payloads == PayloadsRedacted {
		// What is left of a secret that the bound here cuts is behind what is stored.
		p.Text = string(l.redact(raw[:min(len(raw), 4*maxStored)]))
	}
	return p
}

// Plain is a payload that anybody who has the bytes may find: a program, a policy.
func Plain(raw []byte) Payload {
	return Payload{Bytes: int64(len(raw)), Hash: plain(raw)}
}

func plain(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Digest is the hash of a payload under a log's key.
func Digest(key, raw []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write(raw)
	return "hmac-sha256:" + hex.EncodeToString(mac.Sum(nil))
}

func (p Payload) bounded() Payload {
	p.Hash, p.Text = name(p.Hash), cut(p.Text, maxStored)
	return p
}
