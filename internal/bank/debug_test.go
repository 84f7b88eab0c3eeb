package bank

import (
	"fmt"
	"strings"
	"time"
)

func (b *Bank) describe() string {
	var s strings.Builder
	if b.obeyed != nil {
		fmt.Fprintf(&s, "obey %s right %d wrong %d | ", brief(b.obeyed), b.obeyed.right, b.obeyed.wrong)
	}
	for _, l := range b.laws {
		if l.alive() && l.state().Window < time.Hour {
			fmt.Fprintf(&s, "%s ", brief(l))
		}
	}
	fmt.Fprintf(&s, "| streak %d doubt %v since %d/%d guard %v", b.outage.streak, b.outage.doubt, b.since, b.tape.judged, b.guard())
	return s.String()
}

func brief(b *belief) string {
	st := b.state()
	names := []string{"none", "fly", "clock", "log", "harsh", "leak", "share"}
	if l, ok := b.law.(*leak); ok {
		lo, hi := l.living()
		if l.dead {
			return "leak(dead)"
		}
		return fmt.Sprintf("leak[%.3f..%.3f]x%.1f", lo.rate, hi.rate, st.Limit)
	}
	return fmt.Sprintf("%s%v:%v", names[st.Kind], st.Window.Seconds(), st.Limit)
}
