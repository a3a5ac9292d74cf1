package browse

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
)

func TestColours(t *testing.T) {
	for _, c := range []struct {
		name, asked string
		status      int
		want        string
	}{
		{"lines", `{"snippets":[{"path":"a.go","lines":["func é() { // é","\treturn \"x\" /* a","b */ }"]}]}`, 200,
			`{"snippets":[[[[0,4,"k"],[11,15,"c"]],[[1,7,"k"],[8,11,"s"],[12,16,"c"]],[[0,4,"c"]]]]}`},
		{"by language", `{"snippets":[{"path":"x","language":"Python","lines":["def f(): pass"]},{"path":"a.unknown","lines":["x","y"]},{"path":"b.go","lines":[]}]}`, 200,
			`{"snippets":[[[[0,3,"k"],[4,5,"f"],[9,13,"k"]]],[[],[]],[]]}`},
		{"lines in a line", `{"snippets":[{"path":"a.go","lines":["func a\nfunc b"]}]}`, 200, `{"snippets":[[[[0,4,"k"]]]]}`},
		{"a long line", `{"snippets":[{"path":"a.go","lines":["` + strings.Repeat("x", 5000) + `","func"]}]}`, 200, `{"snippets":[[[],[]]]}`},
		{"nothing", `{}`, 200, `{"snippets":[]}`},
		{"no JSON", `x`, 400, ""},
		{"too many", `{"snippets":[` + strings.Repeat(`{},`, 50) + `{}]}`, 400, ""},
		{"too long", `{"snippets":[{"path":"` + strings.Repeat("x", 256<<10) + `"}]}`, 400, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &Endpoint{PaintWithin: time.Minute}
			rec := httptest.NewRecorder()
			err := e.serveColours(rec, httptest.NewRequest("POST", coloursPath, strings.NewReader(c.asked)))
			var refused *httpapi.Error
			if errors.As(err, &refused); err != nil != (c.status != http.StatusOK) || refused != nil && refused.Status != c.status {
				t.Fatalf("got %v, want status %d", err, c.status)
			}
			if got := strings.TrimSpace(rec.Body.String()); c.status == http.StatusOK && got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Time that one snippet takes is not there for the others, and every line has its
// place in the answer.
func TestColoursEnd(t *testing.T) {
	p := newPainter(time.Nanosecond)
	got := p.snippets(context.Background(), []snippet{{Path: "a.go", Lines: []string{"func", "func"}}, {Path: "b.go", Lines: []string{"func"}}})
	if text, err := json.Marshal(got); err != nil || string(text) != "[[[],[]],[[]]]" {
		t.Errorf("got %s, %v", text, err)
	}
}
