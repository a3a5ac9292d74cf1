package ingest_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/shard"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// repo is a git repository made by a test.
type repo struct {
	t   testing.TB
	dir string
}

func newRepo(t testing.TB, args ...string) *repo {
	t.Helper()
	r := &repo{t, filepath.Join(t.TempDir(), "repo")}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	return r
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	return gitrepo.Run(r.t, r.dir, []string{"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}, "", args...)
}

func (r *repo) write(files map[string]string) {
	r.t.Helper()
	for name, content := range files {
		path := filepath.Join(r.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *repo) commit() {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-qm", "x", "--allow-empty")
}

type fixture struct {
	t  testing.TB
	st *store.Store
	ix *ingest.Indexer
}

func newFixture(t testing.TB, o ingest.Options) *fixture {
	t.Helper()
	return newFixtureOf(t, store.Options{CacheBytes: 8 << 20}, o)
}

func newFixtureOf(t testing.TB, so store.Options, o ingest.Options) *fixture {
	t.Helper()
	st, err := store.Open(filepath.Join(t.TempDir(), "data"), so)
	if err != nil {
		t.Fatal(err)
	}
	o.MinFreeBytes = -1
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return &fixture{t, st, ingest.New(st, o)}
}

func (f *fixture) sync(name string, r *repo) ingest.Result {
	f.t.Helper()
	src, err := ingest.ParseSource(name + "=" + r.dir)
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.ix.Add(context.Background(), src); err != nil {
		f.t.Fatal(err)
	}
	res, err := f.ix.Sync(context.Background(), name, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	return res
}

// mark begins a reason where else there is text.
const mark = "\x00not searched: "

// documents returns the documents of a repository's default branch: path to
// text, or to the reason why it is not searched.
func (f *fixture) documents(name string) map[string]string {
	f.t.Helper()
	return f.branch(name, 0)
}

// branch returns the documents of a branch by number, and checks what the
// repository counts over all of them.
func (f *fixture) branch(name string, number int) map[string]string {
	f.t.Helper()
	sn := f.st.Snapshot()
	defer sn.Close()
	r, err := sn.Repository(name)
	if err != nil {
		f.t.Fatal(err)
	}
	out := map[string]string{}
	bytes, skipped, all := 0, 0, 0
	for _, id := range r.Shards {
		v, ok := sn.Shard(id)
		if !ok {
			f.t.Fatalf("repository %s names shard %d, which is not there", name, id)
		}
		docs, err := v.Documents()
		if err != nil {
			f.t.Fatal(err)
		}
		text := v.Text()
		away := v.Away(r.ID)
		if away != nil && len(away) != len(r.Branches) {
			f.t.Errorf("shard %d has sets for %d branches of %s, want %d", id, len(away), name, len(r.Branches))
		}
		for i := range docs.Len() {
			if docs.Repository[i] != r.ID || v.Dead != nil && v.Dead.Contains(uint16(i)) {
				continue
			}
			all++
			if bytes += int(docs.TextBytes[i]); docs.Reason[i] != shard.Searchable {
				skipped++
			}
			if lost := away != nil && !slices.ContainsFunc(away, func(s *postings.Set) bool { return s == nil || !s.Contains(uint16(i)) }); lost {
				f.t.Errorf("%s is alive and on no branch", docs.Path(i))
			}
			if away != nil && away[number] != nil && away[number].Contains(uint16(i)) {
				continue
			}
			b, err := text.Slice(docs.TextStart[i], docs.TextStart[i+1])
			if err != nil {
				f.t.Fatal(err)
			}
			if _, twice := out[docs.Path(i)]; twice {
				f.t.Errorf("%s is there twice", docs.Path(i))
			}
			out[docs.Path(i)] = string(b)
			if docs.Reason[i] != shard.Searchable {
				out[docs.Path(i)] = mark + docs.Reason[i].String()
			}
		}
		text.Close()
	}
	if all != r.Documents || int64(bytes) != r.TextBytes || skipped != r.Skipped {
		f.t.Errorf("repository %s counts %d documents, %d bytes and %d skipped, has %d, %d and %d", name, r.Documents, r.TextBytes, r.Skipped, all, bytes, skipped)
	}
	return out
}

func (f *fixture) want(name string, want map[string]string) {
	f.t.Helper()
	f.wantBranch(name, 0, want)
}

func (f *fixture) wantBranch(name string, number int, want map[string]string) {
	f.t.Helper()
	got := f.branch(name, number)
	for _, p := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[p]; !ok || g != want[p] {
			f.t.Errorf("%q holds %.60q (there: %v), want %.60q", p, g, ok, want[p])
		}
	}
	for p := range got {
		if _, ok := want[p]; !ok {
			f.t.Errorf("%q should not be there", p)
		}
	}
}

// TestAdmission takes in every odd kind of file there is.
func TestAdmission(t *testing.T) {
	r := newRepo(t)
	long := strings.Repeat("x", 1<<20)
	big := strings.Repeat("big\n", 1<<19)
	r.write(map[string]string{
		"plain.go": "package p\n", "no-newline": "end", "empty": "", "crlf.txt": "a\r\nb\r\n",
		"bom.txt": "\xef\xbb\xbfhi\n", "long-line.js": long, "big.txt": big, "invalid.txt": "größe naïve café déjà vu \xff\n",
		"utf16.txt": "\xff\xfeh\x00i\x00\n\x00", "latin1.txt": "caf\xe9 d\xe9j\xe0 vu\n", "binary": "\x00\x01\x02\x00", "huge.txt": strings.Repeat("h\n", 3<<20),
		"with space.txt": "s", "new\nline.txt": "n", "ünïcode/日本.txt": "u", "-dash": "d", "--also": "d2", "tab\there": "t", "quote\".txt": "q",
		"\xff\xfe-bytes": "raw name",
	})
	if err := os.Symlink("plain.go", filepath.Join(r.dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../etc/passwd", filepath.Join(r.dir, "out")); err != nil {
		t.Fatal(err)
	}
	sub := newRepo(t)
	sub.write(map[string]string{"x": "y"})
	sub.commit()
	r.write(map[string]string{".gitmodules": "[submodule \"sub\"]\n\tpath = sub\n\turl = " + sub.dir + "\n"})
	if err := os.Mkdir(filepath.Join(r.dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("update-index", "--add", "--cacheinfo", "160000,"+sub.git("rev-parse", "HEAD")+",sub")
	r.commit()
	f := newFixture(t, ingest.Options{MaxIndexedBytes: 1 << 20, MaxTextBytes: 4 << 20})
	f.sync("r", r)
	got := f.documents("r")
	if !strings.Contains(got[".gitmodules"], "sub") {
		t.Errorf(".gitmodules holds %q", got[".gitmodules"])
	}
	f.want("r", map[string]string{
		"plain.go": "package p\n", "no-newline": "end", "empty": "", "crlf.txt": "a\r\nb\r\n",
		"bom.txt": "hi\n", "long-line.js": long, "big.txt": big, "invalid.txt": "größe naïve café déjà vu \xff\n",
		"utf16.txt": "hi\n", "latin1.txt": "café déjà vu\n", "binary": mark + "binary", "huge.txt": mark + "too-large",
		"with space.txt": "s", "new\nline.txt": "n", "ünïcode/日本.txt": "u", "-dash": "d", "--also": "d2", "tab\there": "t", "quote\".txt": "q",
		"\xff\xfe-bytes": "raw name", "link": "plain.go", "out": "../../etc/passwd", "sub": mark + "submodule", ".gitmodules": got[".gitmodules"],
	})

	// Large text is scanned always, everything else is not.
	sn := f.st.Snapshot()
	defer sn.Close()
	v := sn.Shards()[0]
	docs, err := v.Documents()
	if err != nil {
		t.Fatal(err)
	}
	for i := range docs.Len() {
		if got, want := v.ScanAlways().Contains(uint16(docs.FirstBlock[i])), docs.Path(i) == "big.txt"; got != want {
			t.Errorf("%s is scanned always: %v, want %v", docs.Path(i), got, want)
		}
	}
	var skipped []string
	rec, _ := sn.Repository("r")
	err = ingest.Skipped(sn, rec, func(d ingest.SkippedDocument) error {
		skipped = append(skipped, fmt.Sprintf("%s %s %d", d.Path, d.Reason, d.Bytes))
		return nil
	})
	want := []string{"binary binary 4", "huge.txt too-large 6291456", "sub submodule 0"}
	if err != nil || !slices.Equal(skipped, want) {
		t.Errorf("Skipped lists %q, %v; want %q", skipped, err, want)
	}
}

func TestSyncWritesOnlyChanges(t *testing.T) {
	r := newRepo(t)
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("d/f%d.c", i)] = fmt.Sprintf("file %d\n", i)
	}
	r.write(files)
	r.commit()
	f := newFixture(t, ingest.Options{})
	if res := f.sync("r", r); res.Added != 100 || res.Removed != 0 {
		t.Errorf("first sync: %+v, want 100 added", res)
	}
	if res := f.sync("r", r); res.Added != 0 || res.Unchanged != 100 || res.Repository.Generation != 1 {
		t.Errorf("sync without a change: %+v, want nothing done", res)
	}
	r.write(map[string]string{"d/f1.c": "changed\n", "d/new.c": "new\n"})
	os.Remove(filepath.Join(r.dir, "d/f2.c"))
	os.Chmod(filepath.Join(r.dir, "d/f3.c"), 0o755)
	r.commit()
	res := f.sync("r", r)
	if res.Added != 3 || res.Removed != 3 || res.Unchanged != 97 || res.Repository.Generation != 2 {
		t.Errorf("sync of a change: %+v, want 3 added, 3 removed, 97 unchanged", res)
	}
	files["d/f1.c"], files["d/new.c"] = "changed\n", "new\n"
	delete(files, "d/f2.c")
	f.want("r", files)
	if c := r.git("rev-parse", "HEAD"); res.Repository.Commit() != c || res.Repository.Branches[0].Name != "main" {
		t.Errorf("branches are %v, want main at %s", res.Repository.Branches, c)
	}
}

func TestEmptyRepository(t *testing.T) {
	r := newRepo(t)
	f := newFixture(t, ingest.Options{})
	if res := f.sync("r", r); !res.Repository.Indexed() || res.Repository.Commit() != "" {
		t.Errorf("empty repository is %+v, want indexed without a commit", res.Repository)
	}
	f.want("r", map[string]string{})
	r.write(map[string]string{"a": "a"})
	r.commit()
	f.sync("r", r)
	f.want("r", map[string]string{"a": "a"})
	r.git("rm", "-q", "a")
	r.commit()
	f.sync("r", r)
	f.want("r", map[string]string{})
}

func TestSHA256Repository(t *testing.T) {
	r := newRepo(t, "--object-format=sha256")
	r.write(map[string]string{"a": "a"})
	r.commit()
	f := newFixture(t, ingest.Options{})
	res := f.sync("r", r)
	if _, err := hex.DecodeString(res.Repository.Commit()); err != nil || len(res.Repository.Commit()) != 64 {
		t.Errorf("commit is %q, want 64 hex digits", res.Repository.Commit())
	}
	f.want("r", map[string]string{"a": "a"})
}

// TestAdmissionChange: with other limits everything is taken in anew.
func TestAdmissionChange(t *testing.T) {
	r := newRepo(t)
	r.write(map[string]string{"small": "s", "large": strings.Repeat("l", 1000)})
	r.commit()
	f := newFixture(t, ingest.Options{MaxTextBytes: 100})
	f.sync("r", r)
	f.want("r", map[string]string{"small": "s", "large": mark + "too-large"})
	f.ix = ingest.New(f.st, ingest.Options{MinFreeBytes: -1})
	f.sync("r", r)
	f.want("r", map[string]string{"small": "s", "large": strings.Repeat("l", 1000)})
}

// TestFailedSyncKeepsGeneration: errors are one line, stay with the
// repository, and change nothing that is searched.
func TestFailedSyncKeepsGeneration(t *testing.T) {
	r := newRepo(t)
	r.write(map[string]string{"a": "a"})
	r.commit()
	f := newFixture(t, ingest.Options{})
	f.sync("r", r)
	if err := os.RemoveAll(filepath.Join(r.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	_, err := f.ix.Sync(context.Background(), "r", nil)
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("sync of a vanished repository: %v, want an error of one line", err)
	}
	f.want("r", map[string]string{"a": "a"})
	sn := f.st.Snapshot()
	defer sn.Close()
	if rec, _ := sn.Repository("r"); rec.LastError == "" {
		t.Error("the error is not kept with the repository")
	}
}

// TestCorruptObject: a damaged blob is told and does not hide the others.
func TestCorruptObject(t *testing.T) {
	r := newRepo(t)
	r.write(map[string]string{"a": "aaaa", "b": "bbbb", "c": "cccc"})
	r.commit()
	oid := r.git("rev-parse", "HEAD:b")
	path := filepath.Join(r.dir, ".git", "objects", oid[:2], oid[2:])
	os.Chmod(path, 0o644)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-2] ^= 0xff
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, ingest.Options{})
	f.sync("r", r)
	got := f.documents("r")
	if got["a"] != "aaaa" || got["c"] != "cccc" || !strings.HasPrefix(got["b"], mark) {
		t.Errorf("documents are %q, want b skipped for its object", got)
	}
}

func TestLowDisk(t *testing.T) {
	r := newRepo(t)
	r.write(map[string]string{"a": "a"})
	r.commit()
	f := newFixture(t, ingest.Options{})
	f.sync("r", r)
	full := ingest.New(f.st, ingest.Options{MinFreeBytes: 1 << 60})
	r.write(map[string]string{"a": "b"})
	r.commit()
	if _, err := full.Sync(context.Background(), "r", nil); !errors.Is(err, ingest.ErrLowDisk) {
		t.Errorf("sync on a full disk: %v, want ErrLowDisk", err)
	}
	f.want("r", map[string]string{"a": "a"})
	f.sync("r", r)
	f.want("r", map[string]string{"a": "b"})
}

func TestRemove(t *testing.T) {
	a, b := newRepo(t), newRepo(t)
	a.write(map[string]string{"a": "a"})
	b.write(map[string]string{"b": "b"})
	a.commit()
	b.commit()
	f := newFixture(t, ingest.Options{})
	f.sync("a", a)
	f.sync("b", b)
	if err := f.ix.Remove(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	if err := f.ix.Remove(context.Background(), "a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("removing twice: %v, want ErrNotFound", err)
	}
	f.want("b", map[string]string{"b": "b"})
	sn := f.st.Snapshot()
	defer sn.Close()
	if n := len(sn.Shards()); n != 1 {
		t.Errorf("%d shards are left, want 1", n)
	}
}

func TestMirror(t *testing.T) {
	r := newRepo(t)
	r.write(map[string]string{"a": "a"})
	r.commit()
	f := newFixture(t, ingest.Options{})
	src, err := ingest.ParseSource("file://" + r.dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.ix.Add(context.Background(), src); err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"a", "b"} {
		r.write(map[string]string{"a": content})
		r.commit()
		if _, err := f.ix.Sync(context.Background(), src.Name, nil); err != nil {
			t.Fatal(err)
		}
		f.want(src.Name, map[string]string{"a": content})
	}
	if err := f.ix.Remove(context.Background(), src.Name); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(filepath.Join(f.st.Dir(), "mirrors")); len(left) != 0 {
		t.Errorf("the mirror is still there: %v", left)
	}
}

// TestMergeKeepsDocuments: random changes in several repositories with small
// shards, merges in between, and what is there stays what was committed.
func TestMergeKeepsDocuments(t *testing.T) {
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 3))
		f := newFixture(t, ingest.Options{ShardBlocks: 40, MaxIndexedBytes: 9000})
		repos := []*repo{newRepo(t), newRepo(t), newRepo(t)}
		state := []map[string]string{{}, {}, {}}
		merged := 0
		for step := range 12 {
			k := rng.IntN(len(repos))
			for range 1 + rng.IntN(8) {
				path := fmt.Sprintf("dir%d/f%d.txt", rng.IntN(3), rng.IntN(15))
				if _, ok := state[k][path]; ok && rng.IntN(3) == 0 {
					delete(state[k], path)
					os.Remove(filepath.Join(repos[k].dir, path))
					continue
				}
				state[k][path] = string(bytes.Repeat([]byte{byte('a' + rng.IntN(26)), '\n'}, rng.IntN(6000)))
				repos[k].write(map[string]string{path: state[k][path]})
			}
			repos[k].commit()
			f.sync(fmt.Sprint("r", k), repos[k])
			if step%3 == 2 {
				n, err := f.ix.Merger.Merge(context.Background(), nil)
				if err != nil {
					t.Fatal(err)
				}
				merged += n
			}
			for i := range repos {
				if len(state[i]) > 0 {
					f.want(fmt.Sprint("r", i), state[i])
				}
			}
			if t.Failed() {
				t.Fatalf("seed %d, step %d", seed, step)
			}
		}
		if merged == 0 {
			t.Errorf("seed %d: nothing was merged", seed)
		}
	}
}

// TestMergeOfLargeTexts: each shard ends with a text that is reserved while it is
// read, and together they are larger than all that may be reserved. Sixty shards are
// more than a merge has open.
func TestMergeOfLargeTexts(t *testing.T) {
	f := newFixtureOf(t, store.Options{CacheBytes: 8 << 20, LargeBytes: 3 << 20}, ingest.Options{})
	r := newRepo(t)
	want := map[string]string{}
	for i := range 60 {
		path := fmt.Sprintf("dir/%02d.txt", i)
		want[path] = fmt.Sprintln("file", i) // the texts differ
		if i%15 == 0 {
			want[path] += strings.Repeat("a large file\n", 1<<20/12)
		}
		r.write(map[string]string{path: want[path]})
		r.commit()
		f.sync("r", r)
	}
	shards := func() int {
		sn := f.st.Snapshot()
		defer sn.Close()
		return len(sn.Shards())
	}
	before := shards()
	if _, err := f.ix.Merger.Merge(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if after := shards(); before != 60 || after >= 4 {
		t.Errorf("shards before and after merging: got %d and %d, want 60 and less than 4", before, after)
	}
	f.want("r", want)
}

// TestMergeAddsExactLists: shards of an older program, without lists of
// upper-case letters, get them when they are rewritten.
func TestMergeAddsExactLists(t *testing.T) {
	f := newFixture(t, ingest.Options{})
	want := map[string]map[string]string{}
	for i := range 12 {
		name, r := fmt.Sprint("r", i), newRepo(t)
		want[name] = map[string]string{"a": "Spin_Lock\n", "b": "spin_lock\n"}
		r.write(want[name])
		r.commit()
		f.sync(name, r)
	}
	old := f.age()
	if n, err := f.ix.Merger.Merge(context.Background(), nil); err != nil || n != old {
		t.Fatalf("merged %d shards, %v; want %d", n, err, old)
	}
	sn := f.st.Snapshot()
	defer sn.Close()
	for _, v := range sn.Shards() {
		if v.Header.Outdated() {
			t.Errorf("shard %d has no exact lists after merging", v.ID)
		}
	}
	checkLists(t, f.st)
	for name, files := range want {
		f.want(name, files)
	}
}

func TestParseSource(t *testing.T) {
	tests := []struct{ text, name, location, err string }{
		// paths
		{"/a/b/repo", "repo", "/a/b/repo", ""},
		{"/a/b/repo.git", "repo", "/a/b/repo.git", ""},
		{"my/name=/a/b", "my/name", "/a/b", ""},
		// URLs
		{"https://host.example/a/b.git", "host.example/a/b", "https://host.example/a/b.git", ""},
		{"https://user:secret@host.example:8443/a/b", "host.example/a/b", "https://user:secret@host.example:8443/a/b", ""},
		{"git@host.example:a/b.git", "host.example/a/b", "git@host.example:a/b.git", ""},
		{"x=ssh://host.example/a", "x", "ssh://host.example/a", ""},
		{"https://host.example/a?b=c", "host.example/a", "https://host.example/a?b=c", ""},
		// refused
		{"", "", "", "names no repository"},
		{"name=", "", "", "names no repository"},
		{"-x", "", "", "begins with a dash"},
		{"/a/b c", "", "", "no usable name"},
		{"https://host.example/a/-/b", "", "", "no usable name"},
		{"/", "", "", "no usable name"},
		{"name=/a/\xff", "", "", "make a symbolic link"},
	}
	for _, tt := range tests {
		got, err := ingest.ParseSource(tt.text)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("ParseSource(%q) = %+v, %v; want error %q", tt.text, got, err, tt.err)
			}
			continue
		}
		if err != nil || got.Name != tt.name || got.Location != tt.location {
			t.Errorf("ParseSource(%q) = %+v, %v; want %s at %s", tt.text, got, err, tt.name, tt.location)
		}
	}
}
