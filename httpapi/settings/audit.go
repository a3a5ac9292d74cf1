package settings

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store/identity"
)

const auditPath = "/site-admin/audit"

// audit is the section about what was changed and by whom, for site admins.
func (a *Area) audit() Section {
	return Section{SiteAdmin, web.Link{Title: "Audit log", Path: auditPath}, []httpapi.Route{
		{Method: "GET", Path: auditPath, Handler: a.serveAudit, Access: auth.ForSiteAdmins},
	}}
}

// auditData is what the page of the audit log shows, newest first.
type auditData struct {
	Entries []identity.Entry
	// Older is where the log goes on, "" at its end.
	Older string
}

func (a *Area) serveAudit(w http.ResponseWriter, r *http.Request) error {
	before, _ := strconv.ParseUint(r.URL.Query().Get("before"), 10, 64) // 0 is now
	entries, err := a.registry().Audit(identity.AuditFilter{Before: before, Limit: 2*perPage + 1})
	if err != nil {
		return err
	}
	d := auditData{Entries: entries}
	if len(entries) > 2*perPage {
		d.Entries = entries[:2*perPage]
		d.Older = fmt.Sprintf("%s?before=%d", a.Server.Path(auditPath), d.Entries[2*perPage-1].ID)
	}
	return a.serve(w, r, web.View{Page: "audit.html", Here: auditPath, Data: d})
}
