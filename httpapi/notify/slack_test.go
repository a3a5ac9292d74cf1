package notify_test

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/httpapi/notify"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// slack returns the text that Slack is sent for a message.
func slack(t *testing.T, m notify.Message) string {
	t.Helper()
	address, got := receiver(t, status(http.StatusOK))
	if err := local.Send(t.Context(), notify.Slack, address, m); err != nil {
		t.Fatal(err)
	}
	var body map[string]string
	if err := json.Unmarshal(got.body, &body); err != nil || len(body) != 1 || !utf8.ValidString(body["text"]) {
		t.Fatalf("%.200s: %v, want a text", got.body, err)
	}
	return body["text"]
}

func TestSlack(t *testing.T) {
	m := message()
	m.Query = "a<b && `c`"
	m.Matches = append(m.Matches, notify.Match{Repository: "lab/glaze", Path: "README.md"})
	m.Count = 9
	want := "*<https://search.example.org/monitors/7|9 new matches of Panics>* in lab/kiln\n" +
		"Query: `a&lt;b &amp;&amp; ˋcˋ`\n" +
		"<https://search.example.org/lab/kiln/-/blob/heat/oven.go?L12&amp;x=1|heat/oven.go:12>\n" +
		"```\npanic(\"too hot\")\n```\n" +
		"lab/glaze README.md\n" +
		"7 more are left out."
	if got := slack(t, m); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSlackOfSeveralRepositories(t *testing.T) {
	m := message()
	m.Repository, m.Repositories = "", 3
	want := "*<https://search.example.org/monitors/7|2 new matches of Panics>* in 3 repositories\n" +
		"Query: `panic( lang:go`\n" +
		"<https://search.example.org/lab/kiln/-/blob/heat/oven.go?L12&amp;x=1|lab/kiln heat/oven.go:12>\n" +
		"```\npanic(\"too hot\")\n```\n" +
		"1 more are left out."
	if got := slack(t, m); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSlackWithoutMatches(t *testing.T) {
	if got, want := slack(t, notify.Message{ID: "1", Count: 1, Found: found}), "*1 new match*"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSlackBoundsHostileTexts(t *testing.T) {
	m := hostile()
	m.ID = "1"
	text := slack(t, m)
	if n := utf8.RuneCountInString(text); n > 3000 {
		t.Errorf("got %d characters, want at most 3000", n)
	}
	if !strings.Contains(text, "more are left out.") || !strings.Contains(text, "```\n&lt;!channel") {
		t.Errorf("got %s, want one match and how many are left out", text)
	}
	if strings.ContainsAny(text, "<>\r\x00\x1b\u202e") {
		t.Errorf("got %q, which mentions or links or controls", text)
	}
	// Fences stand alone in their lines, and come in pairs.
	fences := 0
	for line := range strings.Lines(text) {
		if strings.TrimSuffix(line, "\n") == "```" {
			fences++
		} else if strings.Contains(line, "```") {
			t.Errorf("line %q ends or begins a block", line)
		}
	}
	if fences == 0 || fences%2 != 0 {
		t.Errorf("got %d fences, want pairs:\n%s", fences, text)
	}
	if cut := strings.TrimRight(text, "…"); strings.HasSuffix(cut, "&lt") || strings.Contains(text, "&lt…") {
		t.Errorf("an escape is cut: %s", text)
	}
}

// The longest message with one match shows that match.
func TestSlackShowsAtLeastOneMatch(t *testing.T) {
	long := strings.Repeat("&", 4000)
	address := "https://example.org/" + strings.Repeat("a", 480)
	text := slack(t, notify.Message{ID: "1", Title: long, Query: long, Repository: long, URL: address, Found: found, Count: 1 << 40,
		Matches: []notify.Match{{Repository: "r" + long, Path: long, Text: long, URL: address}}})
	if n := utf8.RuneCountInString(text); n > 3000 || strings.Count(text, address) != 2 || !strings.HasSuffix(text, "1099511627775 more are left out.") {
		t.Errorf("got %d characters, want at most 3000 with a match: %s", n, text)
	}
}

func TestSlackSaysWhatIsWrong(t *testing.T) {
	for answer, want := range map[string]string{
		"no_service":           "Slack answered 404 Not Found: no_service",
		"invalid_payload\n":    "Slack answered 404 Not Found: invalid_payload",
		"s3cret is not known":  "Slack answered 404 Not Found",
		"<html>no_service</a>": "Slack answered 404 Not Found",
	} {
		address, _ := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, answer)
		})
		err := local.Send(t.Context(), notify.Slack, address, message())
		if !errors.Is(err, notify.ErrPermanent) || err.Error() != want {
			t.Errorf("answer %q: got %v, want %s, permanent", answer, err, want)
		}
	}
}
