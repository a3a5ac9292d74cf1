//go:build unix

package postgrestest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/internal/needs"
	"github.com/trawlsearch/trawl/internal/postgrestest"
)

var template postgrestest.Template

func TestMain(m *testing.M) {
	code := m.Run()
	template.Remove()
	os.Exit(code)
}

// ask runs a statement and returns what psql prints.
func ask(t *testing.T, s *postgrestest.Server, statement string) string {
	t.Helper()
	out, err := exec.Command(needs.Program(t, "psql"), "-X", "-A", "-t", "-c", statement, s.Address()).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", statement, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestServerKeepsWhatWasCommitted(t *testing.T) {
	s := template.Start(t)
	ask(t, s, "CREATE TABLE a (n int); INSERT INTO a VALUES (1)")
	s.Kill()
	s.Start()
	ask(t, s, "INSERT INTO a VALUES (2)")
	s.Stop()
	s.Start()
	s.Pause()
	s.Resume()
	if got := ask(t, s, "SELECT sum(n) FROM a"); got != "3" {
		t.Errorf("got %s, want 3", got)
	}
	if got := ask(t, template.Start(t), "SELECT count(*) FROM pg_class WHERE relname = 'a'"); got != "0" {
		t.Error("two servers share their tables")
	}
}

func TestServerLeavesNoFiles(t *testing.T) {
	needs.Program(t, "postgres")
	needs.Program(t, "initdb")
	var s *postgrestest.Server
	t.Run("kill", func(t *testing.T) {
		s = template.Start(t)
		s.Kill()
	})
	if _, err := os.Stat(s.Socket()); err == nil {
		t.Error("the files of the server are still there")
	}
}
