package oauth_test

import (
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/oauth"
)

func TestParseText(t *testing.T) {
	w := newWorld(t)
	id, err := w.Grants.NewID(7)
	w.must(err)
	if got, ok := oauth.ParseGrantID(id.String()); !ok || got != id || id.User() != 7 {
		t.Errorf("ParseGrantID(%s) = %s, %t; of user %d, want 7", id, got, ok, id.User())
	}
	kinds := []oauth.Kind{oauth.CodeText, oauth.AccessText, oauth.RefreshText}
	for _, kind := range kinds {
		text, k := w.key(kind, id)
		if k.Grant != id || (k.Family == oauth.Hash{}) != (kind != oauth.RefreshText) {
			t.Errorf("%s: key %+v", kind, k)
		}
		if again, ok := oauth.ParseKey(k.String()); !ok || again != k {
			t.Errorf("ParseKey(%s) = %v, %t", k, again, ok)
		}
		for _, bad := range []string{"", text + "A", text[:len(text)-1], text + "=", strings.ToUpper(text), " " + text, text + "\n", text[:len(text)-1] + "+"} {
			if _, ok := oauth.ParseText(kind, bad); ok {
				t.Errorf("%s: ParseText(%q) is ok", kind, bad)
			}
		}
		for _, other := range kinds {
			if _, ok := oauth.ParseText(other, text); ok != (other == kind) {
				t.Errorf("ParseText(%s, a text of the kind %s) is %t", other, kind, ok)
			}
		}
	}
	for _, bad := range []string{"", "x", strings.Repeat("0", 151), strings.Repeat("0", 153), strings.Repeat("g", 152)} {
		if _, ok := oauth.ParseKey(bad); ok {
			t.Errorf("ParseKey(%q) is ok", bad)
		}
	}
}

// Two texts never have the same key, and reading needs no luck.
func FuzzParseText(f *testing.F) {
	f.Add("sgo_at_AAAA")
	f.Add("sgo_rt_" + strings.Repeat("A", 80))
	f.Add("sgo_ac_" + strings.Repeat("A", 58) + "B")
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []oauth.Kind{oauth.CodeText, oauth.AccessText, oauth.RefreshText} {
			k, ok := oauth.ParseText(kind, text)
			if !ok {
				continue
			}
			if again, ok := oauth.ParseKey(k.String()); !ok || again != k {
				t.Errorf("%q: key %v is read as %v", text, k, again)
			}
			if other, ok := oauth.ParseText(kind, text[:len(text)-1]+"_"); ok && other == k && !strings.HasSuffix(text, "_") {
				t.Errorf("%q has the key of another text", text)
			}
		}
	})
}
