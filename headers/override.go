package headers

import (
	"net/http"
	"slices"
	"time"
)

// ResetsIn is a hook for throttle.WithReport, for servers whose resets cannot be told by their value: it reads the quotas again,
// and takes a reset that is a bare number for a length in this unit. Prisjakt, for one, documents milliseconds, where 600000 is
// ten minutes and would be read as a week of seconds. Moments, durations, dates and Retry-After are unaffected. Without hosts
// it applies to every answer, else to those of the hosts named (without port). A unit that is not positive is a second.
func ResetsIn(unit time.Duration, hosts ...string) func(r *Report, resp *http.Response, peek func() []byte) {
	if unit <= 0 {
		unit = time.Second
	}
	hosts = slices.Clone(hosts)
	return func(r *Report, resp *http.Response, _ func() []byte) {
		if len(hosts) > 0 && (resp.Request == nil || !slices.Contains(hosts, resp.Request.URL.Hostname())) {
			return
		}
		rd := reading{h: resp.Header, now: time.Now(), unit: unit}
		rd.report.Quotas = r.Quotas[:0]
		rd.read()
		r.Quotas = rd.report.Quotas
	}
}
