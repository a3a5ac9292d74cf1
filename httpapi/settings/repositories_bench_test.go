package settings_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store"
)

// BenchmarkRepositories makes the list of 10,000 repositories, as each browser that shows
// it does every five seconds.
func BenchmarkRepositories(b *testing.B) {
	w, root := newAdminWorld(b)
	for i := range 10_000 {
		name := fmt.Sprintf("git.example.org/team-%d/repository-%d", i%100, i)
		w.repos.all = append(w.repos.all, &store.Repository{
			ID: uint32(i + 1), Name: name, Source: "https://" + name, Mirror: true, Generation: 1, Documents: i,
			Branches: []store.Branch{{Name: "main", Commit: strings.Repeat("ab", 20)}}, LastFetched: time.Unix(1_700_000_000, 0),
		})
	}
	w.repos.syncing = []manage.Syncing{{Name: w.repos.all[3].Name, Phase: "index", Done: 3, Total: 9}}
	for _, query := range []string{"", "?page=100", "?q=repository-77", "?state=failed"} {
		b.Run("query="+query, func(b *testing.B) {
			for b.Loop() {
				if a := root.get("/site-admin/repositories" + query); a.status != 200 {
					b.Fatal(a.status)
				}
			}
		})
	}
}
