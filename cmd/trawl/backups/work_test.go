package backups

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store"
)

// open returns what makes the backups of a new data directory.
func open(t *testing.T, plan *config.Backup, log zerolog.Logger) *Runner {
	t.Helper()
	st, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(Options{
		Store: st, Plan: plan, Program: "trawl", Log: log, Mine: func() bool { return true }, Searching: func() int { return 0 },
		UntilStop: context.WithCancel, Busy: func() func() { return func() {} },
	})
}

// openWithPlan is open with a destination in the configuration file.
func openWithPlan(t *testing.T, to string) *Runner {
	t.Helper()
	return open(t, &config.Backup{To: to, Every: 24 * time.Hour}, zerolog.Nop())
}

// waitUntil asks until the status is as wanted.
func waitUntil(t *testing.T, r *Runner, what string, want func(manage.BackupStatus) bool) manage.BackupStatus {
	t.Helper()
	for {
		got := r.BackupStatus(t.Context())
		if want(got) {
			return got
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("never %s: %+v", what, got)
		case <-time.After(time.Millisecond):
		}
	}
}

// TestBackUpNow: a backup that is asked for is made beside the schedule, and one that
// is there is verified; both once at a time.
func TestBackUpNow(t *testing.T) {
	dest := filepath.Join(t.TempDir(), "backups")
	r := openWithPlan(t, dest)
	go r.keepListed(t.Context())
	if got := r.BackupStatus(t.Context()); got.Stored.Error != "" || got.Stored.Seen.IsZero() || len(got.Stored.All) > 0 || got.Running != nil || got.Plan.Destination != dest {
		t.Fatalf("before the first backup: %+v", got)
	}
	if err := r.BackUpNow(); err != nil {
		t.Fatal(err)
	}
	if err := r.BackUpNow(); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second one was begun: %v", err)
	}
	if got := r.BackupStatus(t.Context()).Running; got == nil || got.Destination != dest {
		t.Errorf("the backup that was asked for shows as %+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		r.keep(ctx)
	}()
	defer func() {
		cancel()
		<-kept
	}()
	waitUntil(t, r, "one backup", func(got manage.BackupStatus) bool { return got.Running == nil && len(got.Stored.All) == 1 })
	if err := r.BackUpNow(); err != nil {
		t.Fatal(err)
	}
	got := waitUntil(t, r, "two backups", func(got manage.BackupStatus) bool { return got.Running == nil && len(got.Stored.All) == 2 })
	newest := got.Stored.All[0]
	if newest.ID != got.Record.Last.Backup || newest.Files == 0 || !newest.Readable || newest.Mirrors || newest.Encrypted {
		t.Errorf("the newest is %+v, and the record %+v", newest, got.Record.Last)
	}

	for _, name := range []string{"<script>alert(1)", "20310203T040506.000Z-<b>", "20310203T040506.000Z-..", "20310203T040506.000Z-hostile"} {
		if err := os.WriteFile(filepath.Join(dest, "manifests", name), []byte("<script>alert(1)</script>"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got = r.BackupStatus(t.Context())
	if len(got.Stored.All) != 3 || got.Stored.All[0].ID != "hostile" || got.Stored.All[0].Err == nil || got.Stored.Error != "" {
		t.Errorf("beside hostile names there is %+v, want two backups and a damaged one", got.Stored)
	}

	for _, id := range []string{"", "none", "../../x", "<b>", ".."} {
		if err := r.VerifyBackup(id); err == nil {
			t.Errorf("the backup %q is verified", id)
		}
	}
	verify := func() manage.BackupCheck {
		if err := r.VerifyBackup(newest.ID); err != nil {
			t.Fatal(err)
		}
		if err := r.VerifyBackup(newest.ID); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("a second verification was begun: %v", err)
		}
		r.verify(t.Context(), <-r.check)
		return r.BackupStatus(t.Context()).Checks[newest.ID]
	}
	if c := verify(); c.Ended.IsZero() || c.Error != "" || len(c.Damage) > 0 || !c.Decrypted || c.DoneBytes != c.TotalBytes || c.TotalBytes == 0 {
		t.Errorf("a sound backup: %+v", c)
	}
	if err := r.VerifyBackup("hostile"); err != nil {
		t.Fatal(err)
	}
	r.verify(t.Context(), <-r.check)
	if c := r.BackupStatus(t.Context()).Checks["hostile"]; len(c.Damage) != 1 || c.Ended.IsZero() || c.Error != "" {
		t.Errorf("what is no backup: %+v", c)
	}
	objects := 0
	err := filepath.WalkDir(filepath.Join(dest, "objects"), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			objects++
			err = os.WriteFile(path, []byte("damaged"), 0o600)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if c := verify(); len(c.Damage) == 0 || len(c.Damage)+c.More > objects || c.Error != "" {
		t.Errorf("a damaged backup of %d objects: %+v", objects, c)
	}
}

// TestRun: the first backup is made at once, listed and verified on request, and all ends
// with ctx. Without a plan there is nothing to run.
func TestRun(t *testing.T) {
	open(t, nil, zerolog.Nop()).Run(t.Context())
	r := openWithPlan(t, filepath.Join(t.TempDir(), "backups"))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx)
	}()
	got := waitUntil(t, r, "one backup", func(got manage.BackupStatus) bool { return got.Running == nil && len(got.Stored.All) == 1 })
	id := got.Stored.All[0].ID
	if err := r.VerifyBackup(id); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, r, "verified", func(got manage.BackupStatus) bool { return got.Checks[id].Decrypted && !got.Checks[id].Ended.IsZero() })
	cancel()
	<-ended
}

// TestBackUpNowNeedsAPlan: without a section there is nothing to begin, and no wait.
func TestBackUpNowNeedsAPlan(t *testing.T) {
	r := open(t, nil, zerolog.Nop())
	for _, err := range []error{r.BackUpNow(), r.VerifyBackup("x")} {
		if err == nil || !strings.Contains(err.Error(), "docs/backup.md") {
			t.Errorf("got %v", err)
		}
	}
	if got := r.BackupStatus(t.Context()); got.Plan != nil {
		t.Errorf("there is the plan %+v", got.Plan)
	}
}

// TestDestinationWithoutSecrets: an address with keys is refused, and shown without.
func TestDestinationWithoutSecrets(t *testing.T) {
	r := openWithPlan(t, "s3://me:secret@bucket/x")
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		r.keepListed(ctx)
	}()
	got := r.BackupStatus(t.Context())
	cancel()
	<-ended
	if r.scheduled(t.Context()) {
		t.Error("a backup was made")
	}
	for _, got := range []manage.BackupStatus{got, r.BackupStatus(ctx)} {
		if text := fmt.Sprintf("%+v %+v %+v", got, got.Plan, got.Record.Last); strings.Contains(text, "secret") || !strings.Contains(text, "an address holds no keys") {
			t.Errorf("the status is %s", text)
		}
	}
}

// TestSilentDestination: nobody waits for a bucket that does not answer, which is asked
// once at a time, and what is told of it has no keys.
func TestSilentDestination(t *testing.T) {
	asked, release := make(chan struct{}, 1000), make(chan struct{})
	bucket := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
		http.Error(w, "no", http.StatusForbidden)
	}))
	defer bucket.Close()
	t.Setenv("AWS_ENDPOINT_URL_S3", bucket.URL)
	t.Setenv("AWS_REGION", "here")
	t.Setenv("AWS_ACCESS_KEY_ID", "me")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	r := openWithPlan(t, "s3://bucket/kiln")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.keepListed(ctx)
	}()
	impatient, now := context.WithCancel(t.Context())
	now()
	first := r.BackupStatus(impatient)
	<-asked
	for range 5 {
		if got := r.BackupStatus(impatient); got.Stored.Asked.IsZero() || !got.Stored.Asked.Equal(first.Stored.Asked) || !got.Stored.Seen.IsZero() {
			t.Errorf("while it is silent: %+v", got.Stored)
		}
	}
	if n := len(asked); n > 0 {
		t.Errorf("it was asked %d times more", n)
	}
	close(release)
	got := r.BackupStatus(t.Context())
	if got.Stored.Error == "" || strings.Contains(got.Stored.Error, "secret") || !got.Stored.Seen.IsZero() {
		t.Errorf("when it refuses: %+v", got.Stored)
	}
	cancel()
	<-ended
}

// TestBackupsWakeTheirSchedule: what is asked for ends the wait, and what was asked for
// while a backup began is that backup.
func TestBackupsWakeTheirSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, begun := New(Options{}), time.Now()
		leaveWord(r.wake, struct{}{})
		if !r.wait(t.Context(), time.Hour) || time.Since(begun) > 0 {
			t.Errorf("waited %s", time.Since(begun))
		}
		leaveWord(r.wake, struct{}{})
		ended := r.beginPlanned()
		if len(r.wake) > 0 {
			t.Error("another backup follows the one that was asked for")
		}
		ended()
		if !r.wait(t.Context(), time.Hour) || time.Since(begun) != time.Hour {
			t.Errorf("waited %s, want an hour", time.Since(begun))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if r.wait(ctx, time.Hour) {
			t.Error("waits on when all ends")
		}
	})
}
