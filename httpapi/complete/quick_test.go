package complete

import (
	"testing"

	"github.com/trawlsearch/trawl/query"
)

func TestQuick(t *testing.T) {
	for text, want := range map[string]bool{
		"slip":                        true,
		"in slip":                     true,
		"in it":                       false,
		"日本語":                         true,
		"日本":                          false,
		"repo:kiln lang:go slip":      true,
		"repo:kiln":                   false,
		"slip or glaze":               true,
		"slip or it":                  false,
		"not slip":                    false,
		"not slip glaze":              true,
		"/sl.p/":                      false,
		"/slip.*glaze/":               true,
		"/(slip|glaze)+/":             true,
		"/(slip|gl.*)/":               false,
		"/(slip)*/":                   false,
		"/(slip){0,2}/":               false,
		"/(slip){2}/":                 true,
		`/\bslip/`:                    true,
		"type:symbol slip":            true,
		"type:path slip":              true,
		"type:commit slip":            false,
		"type:file type:diff slip":    false,
		"(type:commit slip) or glaze": false,
		"slip count:all":              false,
		"slip count:10000":            true,
		"slip count:10001":            false,
		"slip index:no":               false,
		"slip index:only":             true,
		"repo:kiln@v1 slip":           false,
		"repo:kiln rev:v1 slip":       false,
		"repo:has.path(go.mod) slip":  false,
		"file:has.owner(ann) slip":    false,
		"fork:maybe slip":             false,
		"slip timeout:1s":             true,
		"content:\"in it\"":           true,
		"slip patterntype:regexp":     true,
		"[a-z]+ patterntype:regexp":   false,
		"":                            false,
	} {
		if got := read(text, query.Keyword).Quick; got != want {
			t.Errorf("%q is quick: %t, want %t", text, got, want)
		}
	}
}
