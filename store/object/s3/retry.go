package s3

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/minio/minio-go/v7"
)

// patience is how long a service is waited for.
type patience struct {
	// answer is how long it may take to begin its answer to a request that it has
	// whole, idle how long a connection may stand still.
	answer, idle time.Duration
	// tries is how often a request is made, pause how long the first pause is
	// between two that this package makes again.
	tries int
	pause time.Duration
}

// usualPatience gives up a service that never answers after some minutes.
func usualPatience() patience {
	return patience{15 * time.Second, 30 * time.Second, minio.MaxRetry, 200 * time.Millisecond}
}

// longestPause bounds the pauses between attempts.
const longestPause = 5 * time.Second

// insist calls f until it succeeds, or fails with an error that stays.
func (p patience) insist(ctx context.Context, passes func(error) bool, f func() error) error {
	pause := p.pause
	for try := 1; ; try++ {
		err := f()
		if err == nil || ctx.Err() != nil || try >= p.tries || !passes(err) {
			return err
		}
		wait := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-ctx.Done():
			wait.Stop()
			return err
		case <-wait.C:
		}
		pause = min(2*pause, longestPause)
	}
}
