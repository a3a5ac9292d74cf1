package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestJudge: a remote may be silent for a while and slow for a while.
func TestJudge(t *testing.T) {
	const nobody = 1 << 30 // takes nothing
	began := time.Unix(1_700_000_000, 0)
	type look struct {
		after time.Duration
		heard int64
	}
	for _, test := range []struct {
		name     string
		received int64
		looks    []look
		want     string
	}{
		{"silent from the beginning", 0, []look{{silentWithin, 0}, {silentWithin + 1, 0}}, "silent for 3m0s"},
		{"silent after a word", 0, []look{{silentWithin, 5}, {2 * silentWithin, 5}, {2*silentWithin + 1, 5}}, "silent for 3m0s"},
		{"a word now and then", 0, []look{{silentWithin, 5}, {2 * silentWithin, 6}, {3 * silentWithin, 7}}, ""},
		{"a word for ever", 0, []look{{silentWithin, 5}, {2 * silentWithin, 6}, {3 * silentWithin, 7}, {4 * silentWithin, 8}, {5 * silentWithin, 9}, {5*silentWithin + 1, 10}}, "less than 32 KiB a second"},
		{"much for long", 64 << 20, []look{{silentWithin, 5}, {2 * silentWithin, 6}, {3 * silentWithin, 7}, {4 * silentWithin, 8}, {5 * silentWithin, 9}, {5*silentWithin + 1, 10}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			pack := filepath.Join(dir, "objects", "pack", "tmp_pack")
			if err := os.MkdirAll(filepath.Dir(pack), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(pack, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(pack, test.received); err != nil {
				t.Fatal(err)
			}
			heard := int64(0)
			w := &watch{dir: dir, heard: func() int64 { return heard }, silent: silentWithin, began: began, lively: began}
			var err error
			for i, l := range test.looks {
				heard = l.heard
				if err = w.judge(nobody, began.Add(l.after)); err != nil && i < len(test.looks)-1 {
					t.Fatalf("after %s it is ended: %v", l.after, err)
				}
			}
			switch {
			case test.want == "" && err != nil:
				t.Errorf("it is ended: %v", err)
			case test.want != "" && (!errors.Is(err, ErrTooCostly) || !strings.Contains(err.Error(), test.want)):
				t.Errorf("it says %v, want ErrTooCostly with %q", err, test.want)
			}
		})
	}
}

// TestFollowEndsSilence: a child that says nothing and does nothing is ended.
func TestFollowEndsSilence(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	defer end(nil)
	cmd := exec.CommandContext(ctx, "git", "hash-object", "--stdin") // waits for an end of input that does not come
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended, watched := make(chan struct{}), make(chan struct{})
	w := watching(remote{}, t.TempDir(), &stderrTail{})
	w.silent = 3 * watchEvery
	go func() {
		defer close(watched)
		w.follow(ended, cmd, end)
	}()
	err := cmd.Wait()
	close(ended)
	<-watched
	if why := context.Cause(ctx); err == nil || !errors.Is(why, ErrTooCostly) || !strings.Contains(why.Error(), "silent for 60ms") {
		t.Errorf("it ended with %v for %v, want ErrTooCostly with what it waited for", err, why)
	}
}
