package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/date"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/lang"
	"github.com/trawlsearch/trawl/store/shard"
)

// madeCommit is a commit of a test history.
type madeCommit struct {
	shard.Commit
	repo    string
	message string
	files   []shard.ChangedFile
	dead    bool
}

// historyCorpus is a store made from commits, in history shards of a few
// blocks. Mailmaps are by repository.
type historyCorpus struct {
	*corpus
	commits  []madeCommit // in the order of answers
	mailmaps map[string]store.People
}

var testPeople = []shard.Person{
	{Name: "Ada Muster", Email: "ada@example.org"}, {Name: "Bo Odd", Email: "bo@odd.example"}, {Name: "", Email: "x@y"}, {Name: "Ada M.", Email: "am@old.example"},
}

// newHistoryCorpus keeps made, which come newest first for each repository, in
// shards of some blocks, in another order.
func newHistoryCorpus(t testing.TB, blocks int, rng *rand.Rand, made []madeCommit, mailmaps map[string]store.People) *historyCorpus {
	t.Helper()
	c := &historyCorpus{corpus: &corpus{repos: map[string]*store.Repository{}}, commits: made, mailmaps: mailmaps}
	c.open(t, vfs.NewMem())
	t.Cleanup(func() { c.close(t) })
	change := store.Change{Dead: map[uint32]*postings.Set{}, People: map[uint32]store.People{}}
	var err error
	for i := range made {
		m := &made[i]
		if c.repos[m.repo] == nil {
			tip := strings.Repeat(fmt.Sprintf("%x", len(c.repos)+1), 40)[:40]
			r := store.Repository{Name: m.repo, Generation: 1, Branches: []store.Branch{{Name: "main", Commit: tip}}}
			r.History = store.History{Tip: tip}
			if mailmaps[m.repo] != nil {
				r.History.Mailmap = tip
			}
			if c.repos[m.repo], err = c.st.Repositories().New(r); err != nil {
				t.Fatal(err)
			}
			change.People[c.repos[m.repo].ID] = mailmaps[m.repo]
		}
		m.Repository = c.repos[m.repo].ID
		m.OID = []byte(fmt.Sprintf("%020d", i))
		m.Position = uint32(i)
	}
	w := c.st.NewShardWriter()
	defer w.Close()
	w.MaxBlocks = blocks
	in, dead, n := map[string]bool{}, &postings.Set{}, 0
	finish := func() {
		h, err := w.Finish(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		change.Add = append(change.Add, h)
		if dead.Len() > 0 {
			change.Dead[h.ID] = dead
		}
		for name := range in {
			c.repos[name].History.Shards = append(c.repos[name].History.Shards, h.ID)
		}
		in, dead, n = map[string]bool{}, &postings.Set{}, 0
	}
	for _, i := range rng.Perm(len(made)) {
		m := &made[i]
		if !w.FitsCommit(m.message, m.files) && !w.Empty() {
			finish()
		}
		if err := w.AddCommit(m.Commit, m.message, m.files); err != nil {
			t.Fatal(err)
		}
		for range len(m.files) + 1 {
			if m.dead {
				dead.Add(uint16(n))
			}
			n++
		}
		in[m.repo] = true
	}
	finish()
	for _, r := range c.repos {
		change.Repositories = append(change.Repositories, r)
	}
	if err := c.st.Commit(change); err != nil {
		t.Fatal(err)
	}
	// Repositories are listed by falling ID.
	slices.SortStableFunc(c.commits, func(a, b madeCommit) int { return int(b.Repository) - int(a.Repository) })
	return c
}

var commitWords = []string{"glaze", "Kiln", "fire", "slip", "k\u212aln", "ſlip", "a", "the kiln", "x\xffy", "grün"}

func randomHistory(t testing.TB, rng *rand.Rand) *historyCorpus {
	words := func(n int) string {
		var b strings.Builder
		for range 1 + rng.IntN(n) {
			b.WriteString(commitWords[rng.IntN(len(commitWords))] + []string{" ", "\t", "", "; "}[rng.IntN(4)])
		}
		return b.String()
	}
	sign := func(seconds int64) shard.Signature {
		return shard.Signature{Person: testPeople[rng.IntN(len(testPeople))], Seconds: seconds, ZoneMinutes: int16(rng.IntN(3) * 90)}
	}
	var made []madeCommit
	for range 30 + rng.IntN(60) {
		i := len(made)
		seconds := 1_700_000_000 - int64(i/2)*86400
		m := madeCommit{repo: []string{"a/one", "b/two", "three"}[rng.IntN(3)], dead: rng.IntN(10) == 0}
		m.Commit = shard.Commit{Author: sign(seconds + rng.Int64N(100)), Committer: sign(seconds), Effective: seconds, State: shard.CommitRead}
		lines := []string{words(4)}
		for range rng.IntN(4) {
			lines = append(lines, words(6))
		}
		m.message = strings.ToValidUTF8(strings.TrimSpace(strings.Join(lines, "\n")), "\uFFFD")
		if rng.IntN(8) == 0 {
			m.State = shard.CommitMerge
		} else {
			for f := range rng.IntN(4) {
				m.files = append(m.files, randomChange(rng, f, words))
			}
		}
		made = append(made, m)
	}
	return newHistoryCorpus(t, 20+rng.IntN(60), rng, made, map[string]store.People{"three": {testPeople[3]: testPeople[0]}})
}

func randomChange(rng *rand.Rand, n int, words func(int) string) shard.ChangedFile {
	f := shard.ChangedFile{
		Path:   fmt.Sprintf("%s/f%d%s", []string{"src", "docs", "Kiln"}[rng.IntN(3)], n, []string{".go", ".md", ".c"}[rng.IntN(3)]),
		Status: "AMDR"[rng.IntN(4)], Mode: 0o100644,
	}
	if f.Status == 'R' {
		f.OldPath = fmt.Sprintf("old/%s.go", commitWords[rng.IntN(3)])
	}
	if rng.IntN(6) == 0 {
		f.Reason = shard.ReasonBinary
		return f
	}
	var hunks strings.Builder
	for range rng.IntN(3) {
		var lines strings.Builder
		before, after := 0, 0
		for range 1 + rng.IntN(6) {
			sign := " +-"[rng.IntN(3)]
			if sign != '+' {
				before++
			}
			if sign != '-' {
				after++
			}
			text := words(3)
			if rng.IntN(5) == 0 {
				text = []string{"", "\r", "--- a", "@@ -1 +1 @@"}[rng.IntN(4)]
			}
			lines.WriteString(string(sign) + text + "\n")
		}
		fmt.Fprintf(&hunks, "@@ -%d,%d +%d,%d @@ %s\n%s", 1+rng.IntN(9), before, 1+rng.IntN(9), after, words(1), lines.String())
	}
	f.Hunks = []byte(hunks.String())
	return f
}

// addressesOf knows one user, by several addresses.
func addressesOf(name string) []string {
	if name != "user" {
		return nil
	}
	return []string{testPeople[0].Email, strings.ToUpper(testPeople[1].Email), "a.b@example.org"}
}

func randomCommitQuery(rng *rand.Rand) string {
	pick := func(s ...string) string { return s[rng.IntN(len(s))] }
	parts := []string{pick("type:commit", "type:diff", "type:diff", "type:commit type:diff")}
	for _, f := range []string{
		pick("author:ada", "author:bo", "-author:ada", "author:example>$", "author:@am", "author:@user", "-author:@user", "author:^x@y$"),
		pick("committer:ada", "-committer:bo"),
		pick("message:glaze", "-message:kiln", "message:^fire", `message:slip$`, "message:x*"),
		pick("after:2023-11-01", "after:1699000000"), pick("before:2023-11-10", "before:1698000000"),
		pick("repo:one", "-repo:one", "repo:t"), pick("file:src", "-file:src", `file:\.go$`, "file:old", "-file:old", "lang:go", "-lang:go"),
		"case:yes", pick("select:commit.diff.added", "select:commit.diff.removed", "select:commit.diff", "select:repo"),
	} {
		if rng.IntN(5) == 0 {
			parts = append(parts, f)
		}
	}
	if rng.IntN(8) > 0 {
		parts = append(parts, randomCommitPattern(rng, 2))
	}
	return strings.Join(parts, " ")
}

func randomCommitPattern(rng *rand.Rand, depth int) string {
	if depth > 0 {
		switch rng.IntN(7) {
		case 0:
			return "(" + randomCommitPattern(rng, depth-1) + " and " + randomCommitPattern(rng, depth-1) + ")"
		case 1:
			return "(" + randomCommitPattern(rng, depth-1) + " or " + randomCommitPattern(rng, depth-1) + ")"
		case 2:
			return "not " + randomCommitPattern(rng, 0)
		}
	}
	return []string{
		"glaze", "kiln", "KILN", "slip", "fi", "a", `"the kiln"`, "/^glaze/", "/fire$/", "/k.ln/", `/glaze\s/`, "/[^g]laze/", "/x*/", `/\Afire/`, `"nothing there"`, "/gr.n/", `"\n"`, "/^$/",
	}[rng.IntN(18)]
}

// truth of a commit query, by Go's regexp over what was made.
func (c *historyCorpus) expect(t *testing.T, text string) []string {
	t.Helper()
	q, err := syntax.Parse(text, query.Keyword)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	var out []string
	for _, m := range c.commits {
		if !m.dead && slices.ContainsFunc(q.Basics, func(b query.Basic) bool { return c.holds(t, b, m) }) {
			out = append(out, fmt.Sprintf("%x", m.OID))
		}
	}
	return out
}

func (c *historyCorpus) holds(t *testing.T, b query.Basic, m madeCommit) bool {
	t.Helper()
	isDiff := slices.ContainsFunc(b.Values("type"), func(f query.Filter) bool { return f.Value == "diff" })
	fold := "(?i)"
	if b.Value("case") != "" {
		fold = ""
	}
	people := c.mailmaps[m.repo]
	for _, f := range b.Filters {
		holds := true
		switch f.Field {
		case "author", "committer":
			p := people.Is(m.Author.Person)
			if f.Field == "committer" {
				p = people.Is(m.Committer.Person)
			}
			re := regexp.MustCompile(fold + f.Value)
			holds = re.MatchString(p.Name) || re.MatchString(p.Email) || re.MatchString(p.Name+" <"+p.Email+">")
			if f.Value == "@am" {
				holds = strings.HasPrefix(p.Email, "am@")
			}
			if f.Value == "@user" {
				holds = slices.ContainsFunc(addressesOf("user"), func(a string) bool { return strings.EqualFold(a, p.Email) })
			}
		case "message":
			holds = regexp.MustCompile(fold + f.Value).MatchString(m.message)
		case "after", "before":
			d, err := date.Parse(f.Value, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			holds = m.Committer.Seconds > d.Unix() == (f.Field == "after") && m.Committer.Seconds != d.Unix()
		case "repo":
			holds = regexp.MustCompile("(?i)" + f.Value).MatchString(m.repo)
		default:
			continue
		}
		if holds == f.Negated {
			return false
		}
	}
	passing := slices.DeleteFunc(slices.Clone(m.files), func(f shard.ChangedFile) bool { return !pathPasses(b, fold, f) })
	hasPaths := len(b.Values("file"))+len(b.Values("lang")) > 0
	sel := b.Value("select")
	if !isDiff {
		return !strings.HasPrefix(sel, "commit.diff") && (!hasPaths || len(passing) > 0) && patternHolds(b.Pattern, fold, "", []string{m.message})
	}
	sign := map[string]byte{"commit.diff.added": '+', "commit.diff.removed": '-'}[sel]
	return slices.ContainsFunc(passing, func(f shard.ChangedFile) bool {
		var lines, shown []string
		for line := range strings.SplitSeq(strings.TrimSuffix(string(f.Hunks), "\n"), "\n") {
			if line == "" || line[0] != '+' && line[0] != '-' {
				continue
			}
			lines = append(lines, line[1:])
			if line[0] == sign {
				shown = append(shown, line[1:])
			}
		}
		if f.Reason != shard.Searchable && b.Pattern != nil {
			return false
		}
		return patternHolds(b.Pattern, fold, "(?m)", lines) && (sign == 0 || signShown(b.Pattern, fold, lines, shown))
	})
}

func patternHolds(n query.Node, fold, flags string, subjects []string) bool {
	return n == nil || truth(n, func(p *query.Pattern) bool { return len(hits(p, fold, flags, subjects)) > 0 })
}

// hits returns the subjects that p matches.
func hits(p *query.Pattern, fold, flags string, subjects []string) []string {
	value := p.Value
	if !p.IsRegexp {
		value = regexp.QuoteMeta(value)
	}
	re := regexp.MustCompile(fold + flags + value)
	return slices.DeleteFunc(slices.Clone(subjects), func(s string) bool { return !re.MatchString(s) })
}

// signShown reports whether a line with the selected sign is highlighted, or is
// there at all when none is.
func signShown(n query.Node, fold string, lines, shown []string) bool {
	highlighted := func(subjects []string) bool {
		found := false
		var visit func(n query.Node)
		visit = func(n query.Node) {
			switch n := n.(type) {
			case *query.Pattern:
				value := n.Value
				if !n.IsRegexp {
					value = regexp.QuoteMeta(value)
				}
				re := regexp.MustCompile(fold + "(?m)" + value)
				for _, s := range subjects {
					for _, loc := range re.FindAllStringIndex(s, -1) {
						found = found || loc[0] < loc[1]
					}
				}
			case *query.And:
				for _, k := range n.Children {
					visit(k)
				}
			case *query.Or:
				for _, k := range n.Children {
					if patternHolds(k, fold, "(?m)", lines) {
						visit(k)
					}
				}
			}
		}
		if n != nil {
			visit(n)
		}
		return found
	}
	if highlighted(lines) {
		return highlighted(shown)
	}
	return len(shown) > 0
}

func pathPasses(b query.Basic, fold string, f shard.ChangedFile) bool {
	for _, filter := range append(b.Values("file"), b.Values("lang")...) {
		re := regexp.MustCompile(fold + filter.Value)
		if filter.Field == "lang" {
			name, _ := lang.Lookup(filter.Value)
			re = regexp.MustCompile(lang.FilePattern(name))
		}
		matches := re.MatchString(f.Path) || f.OldPath != "" && re.MatchString(f.OldPath)
		if matches == filter.Negated {
			return false
		}
	}
	return true
}

// commitLines prints commits whole.
func commitLines(a answered) (oids, whole []string) {
	for _, m := range a.matches {
		switch m := m.(type) {
		case *query.CommitMatch:
			oids = append(oids, m.OID)
			whole = append(whole, fmt.Sprintf("%s %s %v %v %q %t %q %v", m.Repo.Name, m.OID, m.Author, m.Committer, m.Message, m.IsDiff, m.Body, m.Ranges))
		case *query.RepoMatch:
			whole = append(whole, m.Repo.Name)
		}
	}
	return oids, whole
}

// TestOracleOfCommits compares random searches with a scan of all commits by
// Go's regexp, everything shown included, and with a plain account of which
// commits match.
func TestOracleOfCommits(t *testing.T) {
	cases := 3000
	switch {
	case race.Enabled:
		cases = 300
	case testing.Short():
		cases = 1500
	}
	const perCorpus = 100
	first := uint64(1)
	if n, err := strconv.ParseUint(os.Getenv("TRAWL_SEED"), 10, 64); err == nil {
		first, cases = n, perCorpus
	}
	found := 0
	for seed := first; seed < first+uint64(cases/perCorpus); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 23))
			c := randomHistory(t, rng)
			for range perCorpus {
				text := randomCommitQuery(rng) + " count:all"
				got := c.search(t, search.Settings{Workers: 1 + rng.IntN(3), Addresses: addressesOf}, search.Options{Display: -1}, text, query.Keyword)
				brute := c.search(t, search.Settings{Brute: true, Addresses: addressesOf}, search.Options{Display: -1}, text, query.Keyword)
				oids, whole := commitLines(got)
				_, wholeBrute := commitLines(brute)
				repeat := fmt.Sprintf("repeat: TRAWL_SEED=%d go test ./query/search -run TestOracleOfCommits", seed)
				if !slices.Equal(whole, wholeBrute) {
					t.Fatalf("query %q: index and scan differ\n%s\n%s", text, firstDifference(whole, wholeBrute), repeat)
				}
				if want := c.expect(t, text); !strings.Contains(text, "select:repo") && !slices.Equal(oids, want) {
					t.Fatalf("query %q: got and want differ\n%s\n%s", text, firstDifference(oids, want), repeat)
				}
				found += len(whole)
			}
		})
	}
	if found < cases {
		t.Errorf("%d commits were found by %d queries: that tests little", found, cases)
	}
}
