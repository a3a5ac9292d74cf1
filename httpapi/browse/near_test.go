package browse_test

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var nearLink = regexp.MustCompile(`<li><a href="([^"]*)">`)

// A page that there is not leads to what is near it, and to nothing hidden.
func TestNear(t *testing.T) {
	w := newWorld(t)
	const kiln = "/under/search?q=repo%3A%5Elab%2Fkiln%24+file%3A%28%5E%7C%2F%29"
	for path, want := range map[string][]string{
		"/lab/kiln/-/blob/docs/nothing.md":   {"/under/lab/kiln/-/tree/docs", kiln + "nothing%5C.md%24+type%3Apath"},
		"/lab/kiln/-/tree/docs/a/b/main.go":  {"/under/lab/kiln/-/tree/docs", kiln + "main%5C.go%24+type%3Apath"},
		"/lab/kiln/-/blob/a/b/c/d/e/f/x y":   {"/under/lab/kiln", kiln + "x%5Cx20y%24+type%3Apath"},
		"/lab/kiln/-/blob/link/etc":          {"/under/lab/kiln", kiln + "etc%24+type%3Apath"},
		"/lab/kiln/-/blob/Mian.go":           {"/under/lab/kiln/-/blob/main.go", "/under/lab/kiln", kiln + "Mian%5C.go%24+type%3Apath"},
		"/lab/kiln@v1.0/-/tree/docz":         {"/under/lab/kiln@v1.0/-/tree/docs", "/under/lab/kiln@v1.0", kiln + "docz%24+type%3Apath"},
		"/lab/kiln/-/tree/docs/a&c":          {"/under/lab/kiln/-/tree/docs/a&b", "/under/lab/kiln/-/tree/docs", kiln + "a%26c%24+type%3Apath"},
		"/lab/kiln/-/tree/docs/%C3%A9":       {"/under/lab/kiln/-/tree/docs", kiln + "%C3%A9%24+type%3Apath"},
		"/lab/kiln/-/blob/nothing":           {"/under/lab/kiln", kiln + "nothing%24+type%3Apath"},
		"/lab/kiln/-/blob/%3Cscript%3E":      {"/under/lab/kiln", kiln + "%3Cscript%3E%24+type%3Apath"},
		"/lab/kiln/-/blob/a%0Ab":             {"/under/lab/kiln"},
		"/lab/kiln@v1.0/-/blob/docs/nothing": {"/under/lab/kiln@v1.0/-/tree/docs", kiln + "nothing%24+type%3Apath"},
		"/lab/kiln@nothing":                  {"/under/lab/kiln", "/under/lab/kiln/-/branches?q=nothing"},
		"/lab/kiln@nothing/-/blob/main.go":   {"/under/lab/kiln", "/under/lab/kiln/-/branches?q=nothing"},
		"/lab/kiln/-/raw/docs/nothing.md":    {"/under/lab/kiln/-/tree/docs", kiln + "nothing%5C.md%24+type%3Apath"},
		"/lab/kiln@nothing/-/raw/main.go":    {"/under/lab/kiln", "/under/lab/kiln/-/branches?q=nothing"},
		"/lab/secret/-/raw/plan.txt":         {"/under/-/repositories?q=secret"},
		"/lab/klin":                          {"/under/-/repositories?q=klin"},
		"/lab/secret":                        {"/under/-/repositories?q=secret"},
		"/lab/secret/-/blob/plan.txt":        {"/under/-/repositories?q=secret"},
		"/lab/empty/-/blob/x":                {"/under/lab/empty"},
		"/lab/kiln/-/commit/--all":           {"/under/lab/kiln", "/under/lab/kiln/-/commits"},
		"/lab/kiln/-/commit/zzz":             {"/under/lab/kiln", "/under/lab/kiln/-/commits"},
		"/lab/kiln/-/compare/main...nothing": {"/under/lab/kiln", "/under/lab/kiln/-/branches"},
		"/lab/kiln/-/compare/main":           {"/under/lab/kiln", "/under/lab/kiln/-/branches"},
		"/lab/kiln/-/nothing":                {"/under/lab/kiln", "/under/lab/kiln/-/commits", "/under/lab/kiln/-/branches"},
		"/lab/kiln@v1.0/-/nothing/x":         {"/under/lab/kiln", "/under/lab/kiln/-/commits", "/under/lab/kiln/-/branches"},
		"/lab/secret/-/commit/zzz":           {"/under/-/repositories?q=secret"},
		"/lab/secret/-/compare/main...x":     {"/under/-/repositories?q=secret"},
		"/lab/secret/-/nothing":              nil,
		"/lab/none/-/nothing":                nil,
		"/lab/-/nothing":                     nil,
		"/-/nothing":                         nil,
	} {
		got := w.get(path, "Accept", "text/html")
		var links []string
		for _, m := range nearLink.FindAllStringSubmatch(got.body, -1) {
			links = append(links, html.UnescapeString(m[1]))
		}
		if got.status != 404 || !slices.Equal(links, want) {
			t.Errorf("%s: got %d with %q, want %q", path, got.status, links, want)
		}
		if strings.Contains(got.body, "<script>") {
			t.Errorf("%s: a path is part of the page: %s", path, got.body)
		}
	}
	// What those see that may, and no more than that there is no such page for others.
	if got := w.get("/lab/secret/-/nothing", append(w.As("ann"), "Accept", "text/html")...); got.status != 404 || !strings.Contains(got.body, `<li><a href="/under/lab/secret">`) {
		t.Errorf("ann gets %d: %s", got.status, got.body)
	}
	hidden, none := w.get("/lab/secret/-/nothing", "Accept", "text/html"), w.get("/lab/nosuch/-/nothing", "Accept", "text/html")
	if said := text(hidden.body); said != text(none.body) || !strings.Contains(said, "Page not found") {
		t.Errorf("a hidden repository is told from none: %q and %q", said, text(none.body))
	}
	// Each leads to something.
	for _, path := range []string{"/lab/kiln/-/commits", "/lab/kiln/-/branches", "/lab/kiln/-/tree/docs", "/lab/kiln/-/branches?q=nothing"} {
		if got := w.get(path, "Accept", "text/html"); got.status != 200 {
			t.Errorf("%s: got %d", path, got.status)
		}
	}
}
