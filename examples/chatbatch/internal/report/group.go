package report

import (
	"time"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/job"
)

const (
	// shortest keeps a rate from being made of a handful of requests.
	shortest = time.Second
	// mostPoints is what a chart of this width shows without a blur.
	mostPoints = 120
)

// regroup joins points until each is long enough to have a rate and there are not too many to see.
func regroup(points []job.Point) []job.Point {
	if len(points) == 0 {
		return nil
	}
	each := max(1, int(shortest/points[0].Length), (len(points)+mostPoints-1)/mostPoints)
	var all []job.Point
	for i := 0; i < len(points); i += each {
		p := points[i]
		for _, q := range points[i+1 : min(i+each, len(points))] {
			p = p.Join(q)
		}
		all = append(all, p)
	}
	return all
}
