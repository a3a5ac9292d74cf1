package git

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// loggedCommit is what git writes for a commit with two files.
const loggedCommit = "\x01" + zeros + "\x00" + ones + "\x00N\x00e\x00N\x00e\x001700000000 +0130\x00N\x00e\x00N\x00e\x001700000001 -0800\x00subject\n\nbody\n\x00\n" +
	":100644 100644 " + ones + " " + zeros + " M\x00a\x00:100644 100755 " + ones + " " + ones + " R100\x00b\x00c\x00\x00" +
	"diff --git a/a b/a\nindex 1..0 100644\n--- a/a\n+++ b/a\n@@ -1,2 +1 @@ head\n one\n-two\n\\ No newline at end of file\n" +
	"diff --git a/b b/c\nold mode 100644\nnew mode 100755\nsimilarity index 100%\nrename from b\nrename to c\n"

const (
	zeros = "0000000000000000000000000000000000000000"
	ones  = "1111111111111111111111111111111111111111"
)

func parseLog(text string, o LogOptions) (commits []*Commit, err error) {
	p := &logParser{in: bufio.NewReaderSize(strings.NewReader(text), 64), opts: o}
	for {
		c, err := p.commit()
		if errors.Is(err, io.EOF) {
			return commits, nil
		}
		if err != nil {
			return commits, err
		}
		for i := range c.Files {
			c.Files[i].Hunks = bytes.Clone(c.Files[i].Hunks) // the next commit overwrites them
		}
		commits = append(commits, c)
	}
}

func TestParseLog(t *testing.T) {
	commits, err := parseLog(loggedCommit+loggedCommit, LogOptions{})
	if err != nil || len(commits) != 2 {
		t.Fatalf("parseLog = %d commits, %v; want 2", len(commits), err)
	}
	c := commits[1]
	if c.Message != "subject\n\nbody" || c.Author.ZoneMinutes != 90 || c.Committer.Seconds != 1700000001 || c.Committer.ZoneMinutes != -480 {
		t.Errorf("commit = %+v", c)
	}
	if len(c.Files) != 2 || string(c.Files[0].Hunks) != "@@ -1,2 +1 @@ head\n one\n-two\n" || c.Files[1].OldPath != "b" || c.Files[1].Path != "c" {
		t.Errorf("files = %+v", c.Files)
	}
	// Output that ends too early is never taken for less history.
	for n := 1; n < len(loggedCommit); n++ {
		commits, err := parseLog(loggedCommit[:n], LogOptions{})
		ends := strings.HasSuffix(loggedCommit[:n], "\n") || strings.HasSuffix(loggedCommit[:n], "\x00")
		if err == nil && !ends {
			t.Errorf("of %q came %d commits and no error", loggedCommit[:n], len(commits))
		}
	}
	for _, bad := range []string{"x", "\x01\x00", strings.Replace(loggedCommit, "@@ -1,2", "@@ -1,x", 1), strings.Replace(loggedCommit, " one", "?one", 1),
		strings.Replace(loggedCommit, "diff --git a/a", "diff --cc a/a", 1), strings.Replace(loggedCommit, ":100644 100644", ":10x 100644", 1)} {
		if _, err := parseLog(bad, LogOptions{}); err == nil {
			t.Errorf("no error for %q", bad)
		}
	}
}

func FuzzParseLog(f *testing.F) {
	f.Add([]byte(loggedCommit), 10)
	f.Add([]byte(loggedCommit+loggedCommit), 0)
	f.Add([]byte("\x01"), 1)
	f.Add([]byte(loggedCommit+strings.Replace(loggedCommit, "-two", "-twofold", 1)), 0)
	f.Fuzz(func(t *testing.T, text []byte, most int) {
		most = max(0, min(most, 1000))
		commits, err := parseLog(string(text), LogOptions{MaxFileBytes: most, MaxCommitBytes: 2 * most, MaxFiles: most})
		for _, c := range commits {
			sum := 0
			for _, d := range c.Files {
				sum += len(d.Hunks)
				if most > 0 && len(d.Hunks) > most {
					t.Errorf("%d bytes of hunks, the limit is %d", len(d.Hunks), most)
				}
				if len(d.Hunks) > 0 && (!bytes.HasPrefix(d.Hunks, hunkHead) || d.Hunks[len(d.Hunks)-1] != '\n') {
					t.Errorf("hunks %q", d.Hunks)
				}
			}
			if most > 0 && (sum > 2*most || len(c.Files) > most) {
				t.Errorf("%d bytes in %d files, the limits are %d and %d", sum, len(c.Files), 2*most, most)
			}
		}
		if len(text) > 0 && len(commits) == 0 && err == nil {
			t.Errorf("nothing came of %q and no error", text)
		}
	})
}
