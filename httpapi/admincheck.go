package httpapi

import (
	"context"
	"net/http"
	"strconv"

	"github.com/trawlsearch/trawl/store/check"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/redact"
)

// AdminCheckPath is where a server is asked to verify its data directory. The
// parameters quick and repair say how.
const AdminCheckPath = "/.api/trawl/check"

// Checker verifies what a server has open.
type Checker interface {
	// Check calls report and each from one goroutine.
	Check(ctx context.Context, quick, repair bool, report func(ingest.Progress), each func(check.Finding) error) error
}

// AdminFinding is one thing that is wrong with a data directory; what the fields
// hold is told at check.Finding.
type AdminFinding struct {
	Where        string   `json:"where"`
	Shard        uint32   `json:"shard,omitempty"`
	Repositories []string `json:"repositories,omitempty"`
	Problem      string   `json:"problem"`
	Repair       string   `json:"repair"`
}

// NewAdminFinding returns a finding as it is sent.
func NewAdminFinding(f check.Finding) AdminFinding {
	return AdminFinding{Where: f.Where, Shard: f.Shard, Repositories: f.Repositories, Problem: redact.Text(f.Problem), Repair: string(f.Repair)}
}

// serveCheck answers with a line for each finding, lines about how far it is,
// and one for the end.
func (a *Admin) serveCheck(w http.ResponseWriter, r *http.Request) error {
	checker := a.Checker()
	if checker == nil {
		return errStillOpening
	}
	parameter := func(name string) bool {
		yes, err := strconv.ParseBool(r.URL.Query().Get(name))
		return err == nil && yes
	}
	lines := newAdminLines(w)
	err := checker.Check(r.Context(), parameter("quick"), parameter("repair"), func(p ingest.Progress) {
		_ = lines.send(AdminLine{Progress: &AdminProgress{p.Phase, redact.Text(p.Note), p.Done, p.Total, p.Bytes}})
	}, func(f check.Finding) error {
		finding := NewAdminFinding(f)
		return lines.send(AdminLine{Finding: &finding})
	})
	return lines.finish(&AdminResult{}, err)
}
