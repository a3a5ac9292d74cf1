package stream

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestDecodeParams(t *testing.T) {
	// with returns the defaults for the query x, changed by f.
	with := func(f func(*Params)) Params {
		p := Params{Query: "x", Version: "V3", Display: -1, MaxLineBytes: -1, ContextLines: 1}
		f(&p)
		return p
	}
	same := func(*Params) {}
	tests := []struct {
		url  string
		want Params
	}{
		// defaults, also for empty values and unknown parameters
		{"?q=x", with(same)},
		{"?q=x&v=&t=&display=&max-line-len=&cm=&cl=&sm=&feat=", with(same)},
		{"?q=x&patternType=regexp&dk=1&vc=2&zoekt-search-opts=%7B&trace=maybe", with(same)},

		// q
		{"?q=a+b%26c", with(func(p *Params) { p.Query = "a b&c" })},
		{"?q=x&q=y", with(same)},

		// v and t are checked later
		{"?q=x&v=V1", with(func(p *Params) { p.Version = "V1" })},
		{"?q=x&t=regex", with(func(p *Params) { p.PatternType = "regex" })},

		// display
		{"?q=x&display=0", with(func(p *Params) { p.Display = 0 })},
		{"?q=x&display=%2B1500", with(func(p *Params) { p.Display = 1500 })},
		{"?q=x&display=-7", with(func(p *Params) { p.Display = -7 })},

		// max-line-len
		{"?q=x&max-line-len=200", with(func(p *Params) { p.MaxLineBytes = 200 })},

		// cut
		{"?q=x&cut=match", with(func(p *Params) { p.AroundMatches = true })},
		{"?q=x&cut=end", with(same)},

		// cm
		{"?q=x&cm=t", with(func(p *Params) { p.Chunks = true })},
		{"?q=x&cm=1", with(func(p *Params) { p.Chunks = true })},
		{"?q=x&cm=True", with(func(p *Params) { p.Chunks = true })},
		{"?q=x&cm=F", with(same)},

		// cl
		{"?q=x&cl=0", with(func(p *Params) { p.ContextLines = 0 })},
		{"?q=x&cl=5", with(func(p *Params) { p.ContextLines = 5 })},
		{"?q=x&cl=4294967295", with(func(p *Params) { p.ContextLines = maxContextLines })},

		// sm
		{"?q=x&sm=1", with(same)},

		// feat
		{"?q=x&feat=search-debug", with(func(p *Params) { p.Debug = true })},
		{"?q=x&feat=a,search-debug+b", with(func(p *Params) { p.Debug = true })},
		{"?q=x&feat=a&feat=search-debug", with(func(p *Params) { p.Debug = true })},
		{"?q=x&feat=~search-debug", with(same)},
		{"?q=x&feat=search-debug,-search-debug", with(same)},
	}
	for _, tt := range tests {
		got, err := DecodeParams(httptest.NewRequest(http.MethodGet, "/search/stream"+tt.url, nil))
		if err != nil || got != tt.want {
			t.Errorf("%s\ngot  %+v, %v\nwant %+v", tt.url, got, err, tt.want)
		}
	}
}

func TestDecodeParamsErrors(t *testing.T) {
	tests := []struct{ url, want string }{
		// one parameter each
		{"", "no query found"},
		{"?q=", "no query found"},
		{"?q=x&display=ten", `display must be an integer, got "ten": strconv.Atoi: parsing "ten": invalid syntax`},
		{"?q=x&display=+1", `display must be an integer, got " 1": strconv.Atoi: parsing " 1": invalid syntax`},
		{"?q=x&display=1e3", `display must be an integer, got "1e3": strconv.Atoi: parsing "1e3": invalid syntax`},
		{"?q=x&display=99999999999999999999", `display must be an integer, got "99999999999999999999": strconv.Atoi: parsing "99999999999999999999": value out of range`},
		{"?q=x&max-line-len=a%22b", `max-line-len must be an integer, got "a\"b": strconv.Atoi: parsing "a\"b": invalid syntax`},
		{"?q=x&max-line-len=z&display=7", `max-line-len must be an integer, got "z": strconv.Atoi: parsing "z": invalid syntax`},
		{"?q=x&cm=yes", `chunk matches must be parseable as a boolean, got "yes": strconv.ParseBool: parsing "yes": invalid syntax`},
		{"?q=x&cl=true", `context lines must be parseable as a boolean, got "true": strconv.ParseUint: parsing "true": invalid syntax`},
		{"?q=x&cl=-1", `context lines must be parseable as a boolean, got "-1": strconv.ParseUint: parsing "-1": invalid syntax`},
		{"?q=x&cl=4294967296", `context lines must be parseable as a boolean, got "4294967296": strconv.ParseUint: parsing "4294967296": value out of range`},
		{"?q=x&sm=smart", `search mode must be integer, got "smart": strconv.Atoi: parsing "smart": invalid syntax`},

		// the first failing check decides
		{"?display=a&max-line-len=b&cm=c&cl=d&sm=e", "no query found"},
		{"?q=x&sm=e&cl=d&cm=c&max-line-len=b&display=a", `display must be an integer, got "a": strconv.Atoi: parsing "a": invalid syntax`},
		{"?q=x&sm=e&cl=d&cm=c&max-line-len=b", `max-line-len must be an integer, got "b": strconv.Atoi: parsing "b": invalid syntax`},
		{"?q=x&sm=e&cl=d&cm=c", `chunk matches must be parseable as a boolean, got "c": strconv.ParseBool: parsing "c": invalid syntax`},
		{"?q=x&sm=e&cl=d", `context lines must be parseable as a boolean, got "d": strconv.ParseUint: parsing "d": invalid syntax`},
	}
	for _, tt := range tests {
		_, err := DecodeParams(httptest.NewRequest(http.MethodGet, "/search/stream"+tt.url, nil))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s\ngot  %v\nwant %s", tt.url, err, tt.want)
		}
	}
}

func TestDecodeParamsFeatureHeader(t *testing.T) {
	for _, tt := range []struct {
		header, url string
		want        bool
	}{
		{"search-debug", "?q=x", true},
		{"a, search-debug", "?q=x", true},
		{"search-debug", "?q=x&feat=-search-debug", false},
		{"-search-debug", "?q=x&feat=search-debug", true},
	} {
		r := httptest.NewRequest(http.MethodGet, "/search/stream"+tt.url, nil)
		r.Header.Set("X-Sourcegraph-Override-Feature", tt.header)
		if got, err := DecodeParams(r); err != nil || got.Debug != tt.want {
			t.Errorf("header %q, %s: debug = %v, %v; want %v", tt.header, tt.url, got.Debug, err, tt.want)
		}
	}
}
