package wire

import (
	"encoding/base64"
	"testing"
	"unicode/utf8"

	"github.com/graph-gophers/graphql-go"
)

// FuzzID: ids and cursors that were made are read as what they were made of, and
// what clients make up is refused or has the form of one.
func FuzzID(f *testing.F) {
	f.Add("UmVwb3NpdG9yeTox", "github.com/a/b", uint32(7))
	f.Add("YXQ6", "", uint32(0))
	f.Add("=", "at:\xff", uint32(1<<31))
	f.Fuzz(func(t *testing.T, text, key string, n uint32) {
		if _, err := NumberOf(graphql.ID(text), KindRepository); err == nil && KindOf(graphql.ID(text)) != KindRepository {
			t.Errorf("%q is taken for the id of a repository", text)
		}
		if got, err := readCursor(text); err == nil {
			if raw, err := base64.StdEncoding.DecodeString(text); err != nil || string(raw) != cursorPrefix+got {
				t.Errorf("cursor %q is read as %q", text, got)
			}
		}
		if got, err := readCursor(Cursor(key)); err != nil || got != key {
			t.Errorf("the cursor of %q is read as %q, %v", key, got, err)
		}
		if got, err := NumberOf(NewID(KindUser, n), KindUser); err != nil || got != n {
			t.Errorf("the id of user %d is read as %d, %v", n, got, err)
		}
		var got string
		if err := ReadID(NewID(KindCommit, key), KindCommit, &got); utf8.ValidString(key) && (err != nil || got != key) {
			t.Errorf("the id of %q is read as %q, %v", key, got, err)
		}
	})
}
