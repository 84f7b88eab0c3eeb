package throttletest

import (
	"math"
	"math/rand/v2"
	"time"
)

// Dist is a distribution of durations. The zero Dist is always zero.
type Dist struct {
	shape       shape
	base, scale time.Duration
	sigma       float64
}

type shape uint8

const (
	constant shape = iota
	uniform
	exponential
	logNormal
)

// Constant is always d.
func Constant(d time.Duration) Dist { return Dist{base: d} }

// Uniform lies evenly between low and high.
func Uniform(low, high time.Duration) Dist { return Dist{shape: uniform, base: low, scale: high - low} }

// Exponential has that mean and no upper end: 1 in 100 draws is above 4.6 times the mean. It is the usual shape of queues in a network.
func Exponential(mean time.Duration) Dist { return Dist{shape: exponential, scale: mean} }

// LogNormal has that mean and a long right tail, the usual shape of service times; sigma is the standard deviation of its
// logarithm (0.5: the 99th percentile is 2.8 times the mean).
func LogNormal(mean time.Duration, sigma float64) Dist {
	return Dist{shape: logNormal, scale: mean, sigma: sigma}
}

// Mean is the expected value.
func (d Dist) Mean() time.Duration {
	if d.shape == uniform {
		return d.base + d.scale/2
	}
	return d.base + d.scale
}

func (d Dist) draw(r *rand.Rand) time.Duration {
	switch d.shape {
	case uniform:
		return d.base + time.Duration(r.Float64()*float64(d.scale))
	case exponential:
		return time.Duration(r.ExpFloat64() * float64(d.scale))
	case logNormal:
		return time.Duration(drawLogNormal(r, float64(d.scale), d.sigma))
	default:
		return d.base
	}
}

// drawLogNormal draws from the log-normal distribution with that mean: exp(mu + sigma z) with mu = ln mean - sigma²/2.
func drawLogNormal(r *rand.Rand, mean, sigma float64) float64 {
	return mean * math.Exp(sigma*r.NormFloat64()-sigma*sigma/2)
}

func (d Dist) check(what string) error {
	if d.base < 0 || d.scale < 0 || d.sigma < 0 || math.IsNaN(d.sigma) || d.sigma > 5 {
		return errorf("%s: durations must not be negative (and low not above high), sigma must lie in 0..5", what)
	}
	return nil
}
