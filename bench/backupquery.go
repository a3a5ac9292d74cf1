package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// storedWord is what queries are made of.
var storedWord = regexp.MustCompile(`[A-Za-z_]{5,24}`)

// storedQueries makes n queries of many kinds of words and paths that the
// server finds; the same server and seed give the same ones.
func storedQueries(ctx context.Context, a *asker, n int, seed uint64) ([]string, error) {
	rng := rand.New(rand.NewPCG(seed, 6))
	lines, err := sampleMatches(ctx, a, `/[a-z_]{9,}/ patterntype:regexp count:3000`, "line")
	if err != nil {
		return nil, err
	}
	paths, err := sampleMatches(ctx, a, "type:path count:20000 .", "path")
	if err != nil {
		return nil, err
	}
	var words []string
	for _, line := range lines {
		words = append(words, storedWord.FindAllString(line, -1)...)
	}
	slices.Sort(words)
	words = slices.Compact(words)
	if len(words) == 0 || len(paths) == 0 {
		return nil, errors.New("the data directory has no text to make queries of")
	}
	word := func() string { return words[rng.IntN(len(words))] }
	file := func() string { return paths[rng.IntN(len(paths))] }
	kinds := []func() string{
		word,
		func() string { return word() + " " + word() },
		func() string { return "case:yes " + word() },
		func() string { w := word(); return "/" + w[:4] + `\w+` + w[len(w)-1:] + "/" },
		func() string { return `/\b` + word() + `\s*\(/` },
		func() string { return word() + " OR " + word() },
		func() string { return word() + " NOT " + word() },
		func() string { return "file:^" + regexp.QuoteMeta(path.Dir(file())) + "/ " + word()[:4] },
		func() string { return `-file:\.h$ ` + word() },
		func() string { return "lang:c " + word() },
		func() string { return "type:path " + path.Base(file()) },
		func() string { return "type:symbol " + word() },
		func() string { return "select:file " + word() },
		func() string { return "file:has.content(" + word() + ") " + word() },
		func() string { return `"` + word() + " " + word() + `"` },
		func() string { return "patterntype:literal " + word() + "(" },
	}
	out := make([]string, n)
	for i := range out {
		out[i] = kinds[i%len(kinds)]() + " count:200 timeout:60s"
	}
	return out, nil
}

// sampleMatches returns a field of the matches of a query: its path, or its
// lines.
func sampleMatches(ctx context.Context, a *asker, query, field string) ([]string, error) {
	var out []string
	answer, err := a.search(ctx, query, "keyword", func(data []byte) error {
		var matches []wireMatch
		if err := json.Unmarshal(data, &matches); err != nil {
			return err
		}
		for _, m := range matches {
			if field == "path" {
				out = append(out, m.Path)
			}
			for _, c := range m.ChunkMatches {
				out = append(out, c.Content)
			}
		}
		return nil
	})
	if err == nil {
		err = endedEarly(answer)
	}
	return out, err
}

// storedAnswer is one answer without its times: the hash of all matches, in
// their order, and of the last of each other event, and the number of matches.
type storedAnswer struct {
	hash    string
	matches int
}

// timeFields are the fields of an answer with times, durations, or the link to
// the trace of this one search.
var timeFields = []string{"durationMs", "trace", "repoLastFetched"}

// answerOf asks a query and keeps what must not change. How matches are put
// into events depends on when they were found, so they are taken out of these.
func answerOf(ctx context.Context, a *asker, query string) (storedAnswer, error) {
	params := url.Values{"q": {query}, "v": {"V3"}, "t": {"keyword"}, "cm": {"true"}, "display": {"500"}}
	resp, err := a.get(ctx, a.base+"/.api/search/stream?"+params.Encode())
	if err != nil {
		return storedAnswer{}, err
	}
	defer resp.Body.Close()
	var out storedAnswer
	h, last := sha256.New(), map[string][]byte{}
	for events := newEventReader(resp.Body); ; {
		err := events.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return out, fmt.Errorf("search %q: %w", query, err)
		}
		if events.name != "matches" {
			last[events.name] = bytes.Clone(events.data)
			continue
		}
		var matches []json.RawMessage
		if err := json.Unmarshal(events.data, &matches); err != nil {
			return out, fmt.Errorf("search %q: %w", query, err)
		}
		for _, m := range matches {
			plain, err := withoutTime(m)
			if err != nil {
				return out, fmt.Errorf("search %q: %w", query, err)
			}
			out.matches++
			_, _ = h.Write(append(plain, '\n')) // a hash takes everything
		}
	}
	if last["done"] == nil {
		return out, fmt.Errorf("search %q: the stream ended without a done event", query)
	}
	if bytes.Contains(last["progress"], []byte(`"reason":"`+credentialEnded+`"`)) {
		return out, fmt.Errorf("search %q: %w", query, &statusError{http.StatusServiceUnavailable, "the answer ended early", credentialEnded})
	}
	for _, name := range sortedKeys(last) {
		plain, err := withoutTime(last[name])
		if err != nil {
			return out, fmt.Errorf("search %q: event %s: %w", query, name, err)
		}
		_, _ = h.Write(append([]byte(name+" "), plain...))
	}
	out.hash = hex.EncodeToString(h.Sum(nil))
	return out, nil
}

// withoutTime takes the fields of time out of an object; every other byte stays.
func withoutTime(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte("{")) || !slices.ContainsFunc(timeFields, func(f string) bool { return bytes.Contains(data, []byte(`"`+f+`"`)) }) {
		return data, nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var out []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		if name, _ := key.(string); !slices.Contains(timeFields, name) {
			out = append(out, fmt.Sprintf("%q:%s", name, value))
		}
	}
	return []byte("{" + strings.Join(out, ",") + "}"), nil
}
