package repolist

import (
	"fmt"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store"
)

func TestFilter(t *testing.T) {
	all := []*store.Repository{
		{Name: "lab/Kiln", Description: "Fires clay"}, {Name: "lab/glaze", Topics: []string{"kiln"}}, {Name: "other", Description: "About the kilns of the lab"},
	}
	for text, want := range map[string]string{
		"": "[lab/Kiln lab/glaze other]", "kiln": "[lab/Kiln lab/glaze other]", "LAB kiln": "[lab/Kiln lab/glaze other]", "fires": "[lab/Kiln]",
		"about": "[other]", "kiln nowhere": "[]", `"><script>`: "[]",
	} {
		got := []string{}
		for _, r := range all {
			if newFilter(text).matches(r) {
				got = append(got, r.Name)
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%q: %v, want %s", text, got, want)
		}
	}
}

func TestOrder(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 5, n, 0, 0, 0, 0, time.UTC) }
	for name, want := range map[string]string{
		"": "[b a c]", "stars": "[b a c]", "name": "[a b c]", "changed": "[a c b]", "lag": "[c a b]", "odd name": "[b a c]",
	} {
		all := []*store.Repository{
			{Name: "b", Stars: 3, LastIndexed: day(1), LastFetched: day(9)},
			{Name: "a", Stars: 2, LastIndexed: day(1), History: store.History{Newest: day(7).Unix()}, LastFetched: day(8)},
			{Name: "c", LastIndexed: day(6), Created: day(2)},
		}
		orderNamed(name).sort(all)
		got := []string{}
		for _, r := range all {
			got = append(got, r.Name)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%q: %v, want %s", name, got, want)
		}
	}
}
