package throttletest

import (
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
)

var _ http.Handler = (*Upstream)(nil)

// ServeHTTP is the upstream on a real connection. The one-way delays of Latency are waited for here too.
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	k, err := u.open(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	lost := pause(ctx, k.out)
	v := u.arrive(k)
	defer u.finish(v, k)
	if lost != nil || pause(ctx, v.service) != nil {
		return
	}
	a := u.answer(k, v, u.clock())
	if a.flow.instant() { // else it stays until the last byte is written, which the client may delay
		u.finish(v, k)
	}
	if pause(ctx, k.back) == nil {
		a.send(w, r, v.fault)
	}
}

// send writes the answer, or breaks it off as the fault says.
func (a answer) send(w http.ResponseWriter, r *http.Request, f *Fault) {
	switch {
	case f != nil && f.Reset:
		reset(w)
		return
	case f != nil && f.Upgrade != "":
		echo(w, f.Upgrade)
		return
	}
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	if a.bodiless(r.Method) {
		return
	}
	if a.stream {
		_ = http.NewResponseController(w).Flush() // else net/http would count a short one and tell its length
	}
	if errors.Is(a.pour(w, r), errTorn) {
		abort()
	}
}

// pour sends the body, piece by piece where it takes time.
func (a answer) pour(w http.ResponseWriter, r *http.Request) error {
	flush := http.NewResponseController(w).Flush
	for {
		p, err := a.flow.next()
		if errors.Is(err, errTorn) {
			_ = flush() // what was sent before the break must arrive
			return err
		}
		if err != nil {
			return err
		}
		if p.gap > 0 {
			if _ = flush(); pause(r.Context(), p.gap) != nil {
				return r.Context().Err()
			}
		}
		if _, err := w.Write(p.data); err != nil {
			return err
		}
	}
}

// abort ends the connection, or the stream of HTTP/2, without a proper end. It is net/http's own way to do it.
func abort() { panic(http.ErrAbortHandler) }

// reset breaks the connection with a TCP reset, or as hard as the connection allows.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		abort()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // unsent data is thrown away and the peer sees a reset
	}
	conn.Close()
}

// echo switches protocols and sends back what it reads, until the client closes.
func echo(w http.ResponseWriter, protocol string) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		abort()
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+protocol+"\r\n\r\n")
	_, _ = io.Copy(conn, buffered)
}
