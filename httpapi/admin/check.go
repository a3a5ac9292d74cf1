package admin

import (
	"context"
	"strconv"

	"github.com/trawlsearch/trawl/store/check"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/redact"
)

// Checker verifies what a server has open.
type Checker interface {
	// Check calls report and each from one goroutine.
	Check(ctx context.Context, quick, repair bool, report func(ingest.Progress), each func(check.Finding) error) error
}

// Finding is one thing that is wrong with a data directory; what the fields
// hold is told at check.Finding.
type Finding struct {
	Where        string   `json:"where"`
	Shard        uint32   `json:"shard,omitempty"`
	Repositories []string `json:"repositories,omitempty"`
	Problem      string   `json:"problem"`
	Repair       string   `json:"repair"`
}

// NewFinding returns a finding as it is sent.
func NewFinding(f check.Finding) Finding {
	return Finding{Where: f.Where, Shard: f.Shard, Repositories: f.Repositories, Problem: redact.Text(f.Problem), Repair: string(f.Repair)}
}

func (h *Handlers) check(c *call, _ None, send func(Line) error) (Result, error) {
	parameter := func(name string) bool {
		yes, err := strconv.ParseBool(c.r.URL.Query().Get(name))
		return err == nil && yes
	}
	return Result{}, h.Checker().Check(c.r.Context(), parameter("quick"), parameter("repair"), reportTo(send), func(f check.Finding) error {
		finding := NewFinding(f)
		return send(Line{Finding: &finding})
	})
}
