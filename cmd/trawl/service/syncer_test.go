package service_test

import (
	"errors"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/service"
)

// TestSlowFailuresRest: a source that takes minutes to fail takes a twentieth of
// the time of rounds, one that fails at once or succeeds is tried in each.
func TestSlowFailuresRest(t *testing.T) {
	ended := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	silent := errors.New("the remote has been silent")
	for _, c := range []struct {
		took time.Duration
		err  error
		rest time.Duration
	}{
		{3 * time.Minute, silent, time.Hour},
		{30 * time.Second, silent, 10 * time.Minute},
		{29 * time.Second, silent, 0},
		{time.Hour, nil, 0},
	} {
		until, ok := service.RestAfter(c.took, ended, c.err)
		if ok != (c.rest > 0) || ok && until.Sub(ended) != c.rest {
			t.Errorf("after %v and %v: it rests until %v, %t; want for %v", c.took, c.err, until, ok, c.rest)
		}
	}
}
