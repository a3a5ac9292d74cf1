package saved_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store/saved"
)

func TestSettings(t *testing.T) {
	fs := vfs.NewMem()
	st := open(t, fs)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	b := saved.Open(st, saved.Options{Now: func() time.Time { return now }})
	ann, clay := saved.Subject{Kind: saved.SubjectUser, ID: 2}, saved.Subject{Kind: saved.SubjectOrg, ID: 2}
	write := func(of saved.Subject, last uint32, text string) (*saved.Settings, error) {
		return b.Settings.Change(of, 7, last, func(string) (string, error) { return text, nil })
	}
	if s, err := b.Settings.Latest(ann); s != nil || err != nil {
		t.Errorf("none: got %+v, %v", s, err)
	}
	first, err := write(ann, 0, "{}")
	if err != nil {
		t.Fatal(err)
	}
	if first.ID != 1 || first.Author != 7 || !first.Created.Equal(now) || first.Subject != ann {
		t.Errorf("first: got %+v", first)
	}
	if s, err := b.Settings.Latest(clay); s != nil || err != nil {
		t.Errorf("those of another kind with the same number: got %+v, %v", s, err)
	}
	// versions
	for _, last := range []uint32{0, 2, 99} {
		if _, err := write(ann, last, "{1}"); !errors.Is(err, saved.ErrConflict) {
			t.Errorf("last %d: got %v, want ErrConflict", last, err)
		}
	}
	broken := errors.New("no")
	if _, err := b.Settings.Change(ann, 7, 1, func(string) (string, error) { return "", broken }); err != broken {
		t.Errorf("an error of the change: got %v", err)
	}
	last := first.ID
	for i := range 50 {
		s, err := b.Settings.Change(ann, 7, last, func(old string) (string, error) { return fmt.Sprint(old, i), nil })
		if err != nil {
			t.Fatal(err)
		}
		last = s.ID
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st = open(t, fs)
	defer st.Close()
	s, err := saved.Open(st, saved.Options{}).Settings.Latest(ann)
	if err != nil || s.ID != last || len(s.Contents) != len("{}")+10+2*40 {
		t.Errorf("after opening again: got %+v, %v; want version %d", s, err, last)
	}
}
