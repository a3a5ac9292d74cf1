package monitors

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi/notify"
	"github.com/trawlsearch/trawl/store/saved"
)

// busy is the error of a receiver that takes messages from a time on.
type busy struct{ until time.Time }

func (busy) Error() string      { return "it answered 429" }
func (b busy) Until() time.Time { return b.until }

// TestDeliveries: what a receiver does not take is delivered later under the same id, for a
// day, and what it refuses for good is not.
func TestDeliveries(t *testing.T) {
	w := newWorld(t)
	id := w.watch(w.ann, "glaze", saved.Target{Kind: "email"})
	r := w.runner()
	w.look(r)
	last := func(kind string) saved.Delivery {
		t.Helper()
		all, err := w.book.Firings.All(id)
		if err != nil || len(all) == 0 {
			t.Fatalf("firings: %v, %v", all, err)
		}
		return all[0].Deliveries[slices.IndexFunc(all[0].Deliveries, func(d saved.Delivery) bool { return d.Kind == kind })]
	}

	w.answer(errors.New("it answered 500"))
	w.push("open", "b.txt", "glaze one\n")
	w.look(r)
	if d := last("email"); d.State != saved.DeliveryWaits || d.Tries != 1 || d.Failure != "it answered 500" || !d.Next.After(w.clock.Now()) {
		t.Errorf("after a failure: %+v", d)
	}
	w.answer(nil)
	w.look(r)
	w.heard("before it is due")
	w.clock.Add(2 * time.Minute)
	w.look(w.runner())
	got := w.received()
	kinds := []string{}
	for _, s := range got {
		kinds = append(kinds, string(s.kind)+" "+s.to)
	}
	slices.Sort(kinds)
	if want := []string{"email ann@example.org", "webhook https://example.com/hook"}; !slices.Equal(kinds, want) {
		t.Errorf("delivered to %q, want %q", kinds, want)
	}
	if len(got) == 2 && (got[0].ID != got[1].ID || got[0].ID == "") {
		t.Errorf("ids: %q and %q", got[0].ID, got[1].ID)
	}

	// what a receiver says of when it takes messages goes for the next ones, too
	until := w.clock.Now().Add(3 * time.Hour)
	w.answer(busy{until})
	w.push("open", "a.txt", "glaze zero\n")
	w.look(r)
	if d := last("webhook"); d.State != saved.DeliveryWaits || d.Tries != 1 || d.Next.After(w.clock.Now().Add(time.Hour)) || d.Next.Before(w.clock.Now().Add(50*time.Minute)) {
		t.Errorf("after a failure that says until when: %+v", d)
	}
	w.answer(nil)
	w.push("open", "c.txt", "glaze three\n")
	w.clock.Add(2 * time.Hour)
	w.look(r)
	w.heard("before the receiver takes messages")
	w.clock.Add(time.Hour + time.Second)
	w.look(r)
	w.clock.Add(2 * time.Minute) // what waits besides is tried after a minute at most
	w.look(r)
	if got := w.received(); len(got) != 4 {
		t.Errorf("of 2 messages in 2 ways, %d were delivered", len(got))
	}

	w.answer(fmt.Errorf("it answered 404: %w", notify.ErrPermanent))
	w.push("open", "b.txt", "glaze one\nglaze two\n")
	w.look(r)
	if d := last("webhook"); d.State != saved.DeliveryEnded || d.Tries != 1 {
		t.Errorf("refused for good: %+v", d)
	}

	w.answer(errors.New("away"))
	w.push("open", "b.txt", "glaze one\nglaze two\nglaze three\n")
	w.look(r)
	tries := 0
	for ; last("webhook").State == saved.DeliveryWaits && tries < 100; tries++ {
		w.clock.Add(time.Hour)
		w.look(r)
	}
	if d := last("webhook"); d.State != saved.DeliveryEnded || tries < 23 || tries > 26 {
		t.Errorf("given up after %d hours: %+v", tries, d)
	}
	w.answer(nil)
	w.look(r)
	w.heard("nothing after that")
}

// TestMessageOfALook: people get one message for all repositories of a look, the same again
// where it failed; programs get one for each. What a user sees no more is left out.
func TestMessageOfALook(t *testing.T) {
	w := newWorld(t)
	w.push("other", "a.txt", "slip\n")
	id := w.watch(w.ann, "glaze", saved.Target{Kind: "email"})
	r := w.runner()
	w.look(r)
	push := func(path string) {
		for _, name := range []string{"open", "other", "secret"} {
			w.push(name, path, "glaze "+path+"\n")
		}
		w.lookOnly(r)
	}
	tell := func(when string, want ...string) (mail []sent) {
		t.Helper()
		_, err := r.tellDue(t.Context())
		w.Must(err)
		var got []string
		for _, s := range w.received() {
			got = append(got, fmt.Sprintf("%s %q of %d in %d: %d of %d", s.kind, s.Repository, s.Count, s.Repositories, len(s.Matches), s.Count))
			if s.kind == notify.Email {
				mail = append(mail, s)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", when, got, want)
		}
		return mail
	}
	each := func(names ...string) (out []string) {
		for _, name := range names {
			out = append(out, fmt.Sprintf(`webhook "lab/%s" of 1 in 1: 1 of 1`, name))
		}
		return out
	}

	push("b.txt")
	r.setLooking(id, true)
	tell("before the look has ended")
	r.setLooking(id, false)
	tell("after it", append([]string{`email "" of 3 in 3: 3 of 3`}, each("open", "other", "secret")...)...)

	push("c.txt")
	r.setLooking(id, true)
	w.clock.Add(gatherFor)
	tell("a look without an end", append([]string{`email "" of 3 in 3: 3 of 3`}, each("open", "other", "secret")...)...)
	r.setLooking(id, false)

	w.answer(errors.New("it answered 500"))
	push("d.txt")
	var log strings.Builder
	r.Log = zerolog.New(&log)
	tell("refused")
	if n := strings.Count(log.String(), "deliver what a monitor found"); n != 2 {
		t.Errorf("one mail and one webhook that failed are %d lines of the log:\n%s", n, log.String())
	}
	r.Log = zerolog.Nop()
	w.answer(nil)
	w.push("other", "e.txt", "glaze e.txt\n")
	w.lookOnly(r)
	w.clock.Add(2 * time.Minute)
	mails := tell("again, beside something new", append([]string{`email "" of 3 in 3: 3 of 3`, `email "lab/other" of 1 in 1: 1 of 1`}, each("open", "other", "other", "secret")...)...)
	if len(mails) == 2 && mails[0].ID == mails[1].ID {
		t.Errorf("two messages have the id %q", mails[0].ID)
	}

	push("f.txt")
	w.Readers("lab/secret", "user:bob")
	tell("what ann may not see any more", append([]string{`email "" of 2 in 2: 2 of 2`}, each("open", "other")...)...)
	all, err := w.book.Firings.All(id)
	w.Must(err)
	f := all[slices.IndexFunc(all, func(f *saved.Firing) bool { return f.Name == "lab/secret" })]
	if f.Delivery("email").State != saved.DeliveryEnded || f.Delivery("email").Failure != "the repository is not there any more" {
		t.Errorf("what was not told is %+v", f)
	}
}
