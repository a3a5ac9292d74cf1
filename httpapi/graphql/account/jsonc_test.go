package account

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/httpapi/jsonc"
)

// settingsEditOf puts text, which is JSON with comments, at a path.
func settingsEditOf(text string, path ...string) settingsEdit {
	yes := true
	e := settingsEdit{Value: wire.AnyJSON{Value: text}}
	e.ValueIsJSONCEncodedString.Value = &yes
	for _, p := range path {
		var segment keySegment
		segment.Property.Value = &p
		e.KeyPath = append(e.KeyPath, segment)
	}
	return e
}

// TestSettingsBombs: what would take a gigabyte of stack, which ends the process,
// or hours is refused.
func TestSettingsBombs(t *testing.T) {
	deep := strings.Repeat("[", 2_000_000)
	var long []string
	for range 100_000 {
		long = append(long, "a")
	}
	for name, edit := range map[string]settingsEdit{
		"a value that is nested deeply":    settingsEditOf(deep, "a"),
		"settings that are nested deeply":  settingsEditOf(strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000)),
		"a value nested deeply, and whole": settingsEditOf(deep+strings.Repeat("]", len(deep)), "a"),
		"a path of 100,000 keys":           settingsEditOf("1", long...),
	} {
		edited, err := edit.apply("{}")
		if err == nil {
			_, err = checkSettings(edited)
		}
		var refused *wire.Refusal
		if !errors.As(err, &refused) {
			t.Errorf("%s: got %v, want a refusal", name, err)
		}
	}
}

// TestSettingsThatNobodyCanRead: what cannot be merged with other settings is
// refused, since nobody below would get theirs.
func TestSettingsThatNobodyCanRead(t *testing.T) {
	for contents, want := range map[string]bool{`{"a": 1e308}`: true, `{"a": 1e999}`: false, `{"a": 1} {}`: false, `[1]`: false, `null`: false} {
		if _, err := checkSettings(contents); (err == nil) != want {
			t.Errorf("%s: got %v, want taken %t", contents, err, want)
		}
	}
}

// FuzzSettingsEdit: whatever is edited, nothing panics, what comes out are
// settings, and they have the value where it was put.
func FuzzSettingsEdit(f *testing.F) {
	for _, seed := range [][3]string{
		{"", "a", "1"}, {"{}", "a/b", "null"}, {"{\"a\": {\"b\": 1, /* x */ }, // y\n}", "a", `{"c":[1,]}`}, {`{"a":1}`, "a", "2"}, {"[]", "0", "1"}, {`{"a":1,"a":2}`, "a", "3"},
		{"{", "", "}"}, {`{"~": 1}`, "~0", `"~1"`}, {`{"a":[1]}`, "a/0", "2"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, contents, key, value string) {
		edited, err := settingsEditOf(value, key).apply(contents)
		if err != nil {
			var refused *wire.Refusal
			if !errors.As(err, &refused) {
				t.Errorf("%q with %q at %q: %v, want a refusal", contents, value, key, err)
			}
			return
		}
		if _, err := checkSettings(edited); err != nil {
			return // a list, or too long
		}
		root, err := jsonc.Parse(edited)
		if err != nil {
			t.Fatalf("%q with %q at %q is %q: %v", contents, value, key, edited, err)
		}
		var want any
		if err := jsonc.Unmarshal(value, &want); err != nil {
			t.Fatalf("value %q was taken: %v", value, err)
		}
		if strings.ToValidUTF8(key, "\ufffd") != key {
			return // it is another key in JSON
		}
		// Of a key that is there twice the first is changed.
		there := root.Find("/" + pointerEscape.Replace(key))
		if there == nil {
			if want != nil {
				t.Errorf("%q with %q at %q is %q: nothing is there", contents, value, key, edited)
			}
			return
		}
		var got any
		if err := jsonc.Unmarshal(there.String(), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q with %q at %q is %q: got %v, %v, want %v", contents, value, key, edited, got, err, want)
		}
	})
}
