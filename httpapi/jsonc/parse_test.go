package jsonc_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/jsonc"
)

func TestUnmarshal(t *testing.T) {
	nested := func(n int, within string) string {
		return strings.Repeat(`{"a":[`, n/2) + within + strings.Repeat("]}", n/2)
	}
	for _, test := range []struct {
		name, text, want string // want "" is an error
	}{
		{"comments", "// a [\n{\"a\": /* { \" */ 1, \"b\": \"// [\", }\n// {\n", `{"a":1,"b":"// ["}`},
		{"a comment that ends the text", "{}\n// {", `{}`},
		{"a comment that nothing ends", "// {", ""},
		{"escapes", `{"a\"[[": "\\"}`, `{"a\"[[":"\\"}`},
		{"as deep as may be", nested(jsonc.MaxDepth, ""), nested(jsonc.MaxDepth, "")},
		{"brackets in texts and comments", `["` + strings.Repeat("[", 1<<20) + `" /*` + strings.Repeat("{", 1<<20) + "*/]//" + strings.Repeat("[", 1<<20) + "\n", `["` + strings.Repeat("[", 1<<20) + `"]`},
		{"side by side", "[" + strings.Repeat("[],", 1000) + "]", "[" + strings.Repeat("[],", 999) + "[]]"},

		{"too deep", nested(jsonc.MaxDepth, "[]"), ""},
		{"millions deep", strings.Repeat("[", 4<<20), ""},
		{"millions deep and back", strings.Repeat("[", 4<<20) + strings.Repeat("]", 4<<20), ""},
		{"millions deep behind a comment", "/*\"*/" + strings.Repeat(`{"":`, 4<<20), ""},
		{"comment without an end", "{} /*", ""},
		{"text without an end", `["\`, ""},
		{"nothing", "", ""},
		{"one slash", "/", ""},
	} {
		var got any
		err := jsonc.Unmarshal(test.text, &got)
		if test.want == "" {
			if err == nil || strings.Contains(err.Error(), "hujson") || len(err.Error()) > 200 {
				t.Errorf("%s: got %v, want an error in short words", test.name, err)
			}
			continue
		}
		again, merr := json.Marshal(got)
		if err != nil || merr != nil || string(again) != test.want {
			t.Errorf("%s: got %.100s, %v, want %.100s", test.name, again, err, test.want)
		}
	}
}

// FuzzParse: whatever the text is, nothing panics, plain JSON is read as
// encoding/json reads it, and what was parsed is written as it was.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "{}", `{"a": [1, "b", null, true, {"c": -1.5e3}]}`, "// a\n{\"a\": 1, /* b */}\n", `{"a`, `["\u00e9\ud800"]`, "[1,]", "{,}",
		"/*/", "//", "0//", "{} // a", "\xff", `{"a":1,"a":2}`, strings.Repeat("[", jsonc.MaxDepth+1), "[/*[*/]", "1E700",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got, want any
		err := jsonc.Unmarshal(text, &got)
		if werr := json.Unmarshal([]byte(text), &want); werr == nil && (err != nil || !reflect.DeepEqual(got, want)) && (err == nil || !strings.HasSuffix(err.Error(), "deep")) {
			t.Errorf("%q: got %v, %v, want %v as encoding/json has it", text, got, err, want)
		}
		v, perr := jsonc.Parse(text)
		if _, serr := jsonc.Standardize(text); (perr == nil) != (serr == nil) || perr != nil && err == nil {
			t.Errorf("%q: Parse says %v, Standardize %v, Unmarshal %v", text, perr, serr, err)
		}
		if perr == nil && v.String() != text {
			t.Errorf("%q: it is written as %q", text, v.String())
		}
	})
}

// An error names the place where a text ends too early, also with slashes on its last line.
func TestErrorsNameTheirPlace(t *testing.T) {
	var v any
	if err := jsonc.Unmarshal("{\"url\": \"http://git.example.org\"", &v); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("got %v, want an error in line 1", err)
	}
}

// A comment that ends the text is written as it was, also behind a change.
func TestLastCommentStays(t *testing.T) {
	v, err := jsonc.Parse("{\"a\": 1} // last")
	if err == nil {
		err = v.Patch([]byte(`[{"op": "replace", "path": "/a", "value": 2}]`))
	}
	if got := v.String(); err != nil || got != "{\"a\": 2} // last" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := jsonc.Parse(v.String()); err != nil {
		t.Errorf("what was written cannot be read: %v", err)
	}
}
