package postings_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/postings"
	"pgregory.net/rapid"
)

// shard is an index kept in maps: what Builder makes, as a Reader. Lists of
// trigrams with an upper-case letter are there if it is exact.
type shard struct {
	exact bool
	lists map[postings.Trigram][]byte
	docs  [][]byte
	docOf []uint16
	first []int
}

func build(t testing.TB, b *postings.Builder, docs [][]byte) *shard {
	s := &shard{exact: true, lists: map[postings.Trigram][]byte{}, docs: docs}
	block := 0
	for i, d := range docs {
		s.first = append(s.first, block)
		n := b.AddDocument(block, d)
		block += n
		for range n {
			s.docOf = append(s.docOf, uint16(i))
		}
	}
	for _, exact := range []bool{false, true} {
		walk := b.Walk
		if exact {
			walk = b.WalkExact
		}
		last := -1
		err := walk(func(t postings.Trigram, value []byte) error {
			if int(t) <= last || t.Exact() != exact {
				return fmt.Errorf("trigram %06x after %06x, exact %v", uint32(t), last, exact)
			}
			last = int(t)
			s.lists[t] = bytes.Clone(value)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// folded returns s without the lists of upper-case letters; reading one panics.
func (s *shard) folded() *shard {
	out := *s
	out.exact = false
	return &out
}

func (s *shard) Exact() bool { return s.exact }

func (s *shard) List(dst []byte, t postings.Trigram) ([]byte, error) {
	s.check(t)
	return append(dst, s.lists[t]...), nil
}

func (s *shard) check(t postings.Trigram) {
	if t.Exact() && !s.exact {
		panic(fmt.Sprintf("read list of %q", t.Bytes()))
	}
}

func (s *shard) Scan(lo, hi postings.Trigram, f func([]byte) (bool, error)) error {
	s.check(lo)
	for t, v := range s.lists {
		if lo <= t && t < hi && t.Exact() == lo.Exact() {
			if more, err := f(v); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

func (s *shard) WideFold() (*postings.Set, error)   { return nil, nil }
func (s *shard) ScanAlways() (*postings.Set, error) { return nil, nil }
func (s *shard) Blocks() int                        { return len(s.docOf) }
func (s *shard) DocOf() ([]uint16, error)           { return s.docOf, nil }

// naive computes the lists the definition asks for, folded and exact.
func naive(docs [][]byte) map[postings.Trigram]map[uint16]bool {
	out := map[postings.Trigram]map[uint16]bool{}
	block := 0
	for _, d := range docs {
		padded := append(bytes.Clone(d), 0, 0)
		for i := range postings.BlockCount(len(d)) {
			lo := i * postings.BlockBytes
			hi := min(lo+postings.BlockBytes+postings.OverlapBytes, len(d))
			for p := lo; p < hi; p++ {
				if hi < len(d) && p+3 > hi {
					break
				}
				spelled := postings.AppendTrigrams(nil, string(padded[p:p+3]))[0]
				for _, t := range []postings.Trigram{postings.MakeTrigram(padded[p], padded[p+1], padded[p+2]), spelled} {
					if out[t] == nil {
						out[t] = map[uint16]bool{}
					}
					out[t][uint16(block+i)] = true
				}
			}
		}
		block += postings.BlockCount(len(d))
	}
	return out
}

func randomDocs(rng *rand.Rand) [][]byte {
	docs := make([][]byte, 1+rng.IntN(12))
	for i := range docs {
		n := []int{0, 1, 2, 3, 100, 4095, 4096, 4097, 4159, 4160, 4161, 9000, 30000}[rng.IntN(13)]
		alphabet := []byte("abAB_\n\xc3\xa9 ")
		if rng.IntN(4) == 0 {
			// Nearly every trigram of a block is another.
			alphabet = []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij0123456789")
		}
		docs[i] = make([]byte, n)
		for j := range docs[i] {
			docs[i][j] = alphabet[rng.IntN(len(alphabet))]
			if rng.IntN(50) == 0 {
				docs[i][j] = byte(1 + rng.IntN(255))
			}
		}
	}
	return docs
}

// builders returns one with a table and one with rows.
func builders() [2]*postings.Builder {
	var tables postings.Tables
	first := tables.NewBuilder()
	first.AddDocument(0, []byte("takes the table"))
	first.Reset()
	return [2]*postings.Builder{first, tables.NewBuilder()}
}

func TestBuilderAgainstDefinition(t *testing.T) {
	both := builders()
	for seed := range uint64(60) {
		b := both[seed%2]
		docs := randomDocs(rand.New(rand.NewPCG(seed, 1)))
		got, want := build(t, b, docs), naive(docs)
		b.Reset()
		if len(got.lists) != len(want) {
			t.Fatalf("seed %d: %d lists, want %d", seed, len(got.lists), len(want))
		}
		for tri, value := range got.lists {
			var s postings.Set
			if err := s.Decode(value); err != nil {
				t.Fatal(err)
			}
			var list []uint16
			for x := range want[tri] {
				list = append(list, x)
			}
			slices.Sort(list)
			if !slices.Equal(s.Append(nil), list) {
				t.Fatalf("seed %d: list of %q is %v, want %v", seed, tri.Bytes(), s.Append(nil), list)
			}
		}
	}
}

// TestLiteralCandidates: the block in which a literal begins is a candidate,
// for literals cut anywhere from the text, of one byte and longer.
func TestLiteralCandidates(t *testing.T) {
	b := postings.NewBuilder()
	rapid.Check(t, func(t *rapid.T) {
		docs := randomDocs(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2)))
		b.Reset()
		s := build(noFatal{}, b, docs)
		for i, d := range docs {
			if len(d) == 0 {
				continue
			}
			at := rapid.IntRange(0, len(d)-1).Draw(t, "at")
			n := rapid.IntRange(1, min(postings.MaxLiteralBytes, len(d)-at)).Draw(t, "n")
			lit := make([]byte, n)
			for j := range lit {
				lit[j] = postings.Fold(d[at+j])
			}
			block := uint16(s.first[i] + at/postings.BlockBytes)
			for _, exact := range []string{"", string(d[at : at+n])} {
				for _, reader := range []*shard{s, s.folded()} {
					l := &postings.Literal{Runs: []string{string(lit)}, Exact: exact}
					c, err := (&postings.Evaluator{Reader: reader}).Eval(l)
					if err != nil {
						t.Fatal(err)
					}
					if !c.All && (!c.Docs.Contains(uint16(i)) || !c.Blocks.Contains(block)) {
						t.Fatalf("%v at %d of document %d, lists exact %v: block %d not in %v", l, at, i, reader.exact, block, c.Blocks.Append(nil))
					}
				}
			}
		}
	})
}

type noFatal struct{ testing.TB }

func (noFatal) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

func TestEvalCombines(t *testing.T) {
	docs := [][]byte{[]byte("alpha beta"), []byte("alpha"), []byte("beta gamma"), []byte("delta"),
		[]byte("alpha"), []byte("alpha"), []byte("beta"), []byte("beta")}
	s := build(t, postings.NewBuilder(), docs)
	lit := func(run string) postings.Expr { return &postings.Literal{Runs: []string{run}} }
	tests := []struct {
		expr   postings.Expr
		docs   []uint16
		anchor string
	}{
		// one literal
		{lit("alpha"), []uint16{0, 1, 4, 5}, `"alpha"`},
		{lit("absent"), nil, `"absent"`},
		{&postings.Literal{Runs: []string{"alpha", "beta"}}, []uint16{0}, `"alpha"+"beta"`},
		// operators
		{postings.NewAnd(lit("alpha"), lit("beta")), []uint16{0}, `"alpha"`},
		{postings.NewAnd(lit("alpha"), postings.All), []uint16{0, 1, 4, 5}, `"alpha"`},
		{postings.NewOr(lit("gamma"), lit("delta")), []uint16{2, 3}, `(or "gamma" "delta")`},
		{postings.NewAnd(lit("beta"), postings.NewOr(lit("alpha"), lit("gamma"))), []uint16{0, 2}, `"beta"`},
		{postings.None, nil, "<nil>"},
		// short literals
		{lit("ga"), []uint16{2}, `"ga"`},
		{lit("ta"), []uint16{0, 2, 3, 6, 7}, `"ta"`},
		{lit("d"), []uint16{3}, `"d"`},
	}
	for _, tt := range tests {
		c, err := (&postings.Evaluator{Reader: s}).Eval(tt.expr)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Docs.Append(nil); !slices.Equal(got, tt.docs) || fmt.Sprint(c.Anchor) != tt.anchor {
			t.Errorf("Eval(%v) = %v anchored at %v, want %v at %s", tt.expr, got, c.Anchor, tt.docs, tt.anchor)
		}
	}
	if c, _ := (&postings.Evaluator{Reader: s}).Eval(postings.NewOr(lit("alpha"), postings.All)); !c.All {
		t.Errorf("(or alpha all) ruled documents out")
	}
}

// A literal that does not ignore case leaves out other spellings where there are
// lists to tell them apart, as far as upper-case letters tell.
func TestEvalExact(t *testing.T) {
	docs := [][]byte{[]byte("spin_lock"), []byte("Spin_Lock"), []byte("SPIN_LOCK"), []byte("spin_Lock"), []byte("Qz"), []byte("qz"), []byte("Q")}
	s := build(t, postings.NewBuilder(), docs)
	tests := []struct {
		text           string
		folded         bool
		exact, without []uint16
	}{
		{"Spin_Lock", false, []uint16{1}, []uint16{0, 1, 2, 3}},
		{"SPIN", false, []uint16{2}, []uint16{0, 1, 2, 3}},
		{"n_Lo", false, []uint16{1, 3}, []uint16{0, 1, 2, 3}},
		{"sPin", false, nil, []uint16{0, 1, 2, 3}},
		// lower-case letters are folded
		{"spin", false, []uint16{0, 1, 2, 3}, []uint16{0, 1, 2, 3}},
		// the pattern ignores case
		{"Spin_Lock", true, []uint16{0, 1, 2, 3}, []uint16{0, 1, 2, 3}},
		// short literals
		{"Qz", false, []uint16{4}, []uint16{4, 5}},
		{"Q", false, []uint16{4, 6}, []uint16{4, 5, 6}},
		{"qZ", false, nil, []uint16{4, 5}},
		{"qz", false, []uint16{4, 5}, []uint16{4, 5}},
	}
	for _, tt := range tests {
		l := &postings.Literal{Runs: []string{strings.ToLower(tt.text)}}
		if !tt.folded {
			l.Exact = tt.text
		}
		for _, reader := range []*shard{s, s.folded()} {
			want := tt.without
			if reader.exact {
				want = tt.exact
			}
			c, err := (&postings.Evaluator{Reader: reader}).Eval(l)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Docs.Append(nil); !slices.Equal(got, want) {
				t.Errorf("Eval(%v), lists exact %v = %v, want %v", l, reader.exact, got, want)
			}
		}
	}
}

// Candidates among the blocks that matter are as without them, others are none,
// and the blocks are left as they were.
func TestEvalWithin(t *testing.T) {
	var docs [][]byte
	for i := range 200 {
		docs = append(docs, []byte(fmt.Sprintf("alpha beta gamma delta%d", i%7)))
	}
	s := build(t, postings.NewBuilder(), docs)
	for _, within := range []*postings.Set{{}, postings.NewSet(3, 10, 17, 18, 150), postings.Full(200)} {
		before := within.Append(nil)
		ev := &postings.Evaluator{Reader: s, Within: within}
		whole := &postings.Evaluator{Reader: s}
		for _, run := range []string{"delta3", "delta", "alpha beta gamma delta", "absent"} {
			got, err := ev.Eval(&postings.Literal{Runs: []string{run}})
			if err != nil {
				t.Fatal(err)
			}
			all, err := whole.Eval(&postings.Literal{Runs: []string{run}})
			if err != nil {
				t.Fatal(err)
			}
			var outside, lost []uint16
			for b := range got.Blocks.All() {
				if !within.Contains(b) {
					outside = append(outside, b)
				}
			}
			for b := range all.Blocks.All() {
				if within.Contains(b) && !got.Blocks.Contains(b) && bytes.Contains(docs[b], []byte(run)) {
					lost = append(lost, b)
				}
			}
			if len(outside)+len(lost) > 0 {
				t.Errorf("%q within %d blocks: candidates outside %v, lost %v", run, within.Len(), outside, lost)
			}
		}
		if after := within.Append(nil); !slices.Equal(after, before) {
			t.Errorf("within was %v and is %v", before, after)
		}
		if within.Len() < 10 && ev.Cost.Lists >= whole.Cost.Lists {
			t.Errorf("within %d blocks %d lists were read, without %d: want fewer", within.Len(), ev.Cost.Lists, whole.Cost.Lists)
		}
	}
}

func BenchmarkBuilder(b *testing.B) {
	both := builders()
	for _, mib := range []int{1, 16, 64} {
		text := sourceText(rand.New(rand.NewPCG(1, 1)), mib<<20)
		for i, name := range []string{"table", "rows"} {
			b.Run(fmt.Sprintf("index=%s/mib=%d", name, mib), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					both[i].AddDocument(0, text)
					both[i].Reset()
				}
			})
		}
	}
}
