package identity_test

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// A damaged record of failures neither keeps the server from opening nor lets a
// client try more passwords: its user is locked for half an hour, others are
// not.
func TestDamagedLockoutLocks(t *testing.T) {
	for name, value := range map[string]string{
		"no JSON": "\x00", "null": "null", "another type": `{"count":"x"}`, "less than none": `{"count":-1}`,
		"longer than any": `{"count":0,"first":"2031-05-06T07:00:00Z","locked":"2931-05-06T07:08:09Z"}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, identity.Options{})
			ann := w.signed(t, "ann")
			w.signed(t, "bob")
			put := func(id []byte) {
				t.Helper()
				var c store.Records
				c.Put(store.RecordLockout, id, []byte(value))
				if err := w.st.CommitRecords(&c); err != nil {
					t.Fatal(err)
				}
			}
			put(binary.BigEndian.AppendUint32(nil, ann.ID))
			put([]byte{1})
			var told []error
			o := identity.Options{Damaged: func(err error) { told = append(told, err) }}
			w.crash(t, o)
			if len(told) != 2 || !errors.Is(told[0], store.ErrCorrupt) || !errors.Is(told[1], store.ErrCorrupt) {
				t.Errorf("told of %v, want two damaged records", told)
			}
			var locked *identity.LockedError
			if _, _, err := w.SignIn(t.Context(), from, "ann", right); !errors.As(err, &locked) {
				t.Errorf("sign in: got %v, want a LockedError", err)
			}
			w.signIn(t, "bob")

			// the sweep puts the lock in its place, so that it ends when it ends
			if err := w.Sweep(); err != nil {
				t.Fatal(err)
			}
			w.clock.Add(29 * time.Minute)
			told = nil
			w.crash(t, o)
			if _, _, err := w.SignIn(t.Context(), from, "ann", right); !errors.As(err, &locked) || len(told) > 0 {
				t.Errorf("sign in after 29 minutes and a crash: got %v, told %v; want a LockedError and nothing told", err, told)
			}
			w.clock.Add(2 * time.Minute)
			w.signIn(t, "ann")
		})
	}
}
