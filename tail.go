package throttle

// tailBytes is how much of the end of a body a usage function sees: the usage stands last, in JSON and in event streams.
const tailBytes = 64 << 10

// tail remembers the last bytes written to it. The zero value is ready; it grows as needed and no further than twice tailBytes.
type tail struct{ buf []byte }

func (t *tail) write(p []byte) {
	if len(p) >= tailBytes {
		t.buf = append(t.buf[:0], p[len(p)-tailBytes:]...)
		return
	}
	if len(t.buf)+len(p) > 2*tailBytes { // rarely: so each byte is moved once at the most
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-tailBytes:]...)
	}
	t.buf = append(t.buf, p...)
}

func (t *tail) bytes() []byte { return t.buf[max(0, len(t.buf)-tailBytes):] }
