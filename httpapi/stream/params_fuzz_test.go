package stream

import (
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"
)

// FuzzDecodeParams: whatever the parameters are, nothing panics, numbers stay
// within their bounds, and what was decoded is decoded again from what it says.
func FuzzDecodeParams(f *testing.F) {
	for _, query := range []string{
		"q=x", "q=a+b%26c&v=V3&t=regexp&display=1500&max-line-len=-1&cm=t&cl=3&sm=1&feat=search-debug,-x", "q=x&cl=4294967295", "q=x&cl=4294967296",
		"q=x&display=9223372036854775808", "q=%ff%00&t=%ff", "q=x;display=1", "q=%zz", "q=x&feat=search-debug&feat=-search-debug", "display=a&q=x", "&&=&q=x&q=y", "q=x&cl=-1", "q=x&display=%2B1",
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest("GET", "/search/stream", nil)
		r.URL.RawQuery = query
		p, err := DecodeParams(r)
		if err != nil {
			if err.Error() == "" {
				t.Errorf("%q: refused without a word", query)
			}
			return
		}
		if p.Query == "" || p.Version == "" || p.ContextLines < 0 || p.ContextLines > maxContextLines {
			t.Errorf("%q: got %+v", query, p)
		}
		say := url.Values{"q": {p.Query}, "v": {p.Version}, "t": {p.PatternType}, "display": {strconv.Itoa(p.Display)}, "max-line-len": {strconv.Itoa(p.MaxLineBytes)},
			"cm": {strconv.FormatBool(p.Chunks)}, "cl": {strconv.Itoa(p.ContextLines)}}
		if p.Debug {
			say.Set("feat", "search-debug")
		}
		r.URL.RawQuery = say.Encode()
		if again, err := DecodeParams(r); err != nil || again != p {
			t.Errorf("%q: got %+v, and %+v, %v from what that says", query, p, again, err)
		}
	})
}
