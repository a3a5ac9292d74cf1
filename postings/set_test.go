package postings_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"sort"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/trawlsearch/trawl/postings"
	"pgregory.net/rapid"
)

// numbers draws sets of very different shapes: sparse, dense and in runs.
func numbers() *rapid.Generator[[]uint16] {
	return rapid.Custom(func(t *rapid.T) []uint16 {
		has := map[uint16]bool{}
		for range rapid.IntRange(0, 4).Draw(t, "runs") {
			start := rapid.IntRange(0, postings.MaxBlocks-1).Draw(t, "start")
			length := rapid.SampledFrom([]int{1, 2, 70, 3000, 9000}).Draw(t, "length")
			step := rapid.SampledFrom([]int{1, 1, 2, 7, 131}).Draw(t, "step")
			for i := range length {
				if x := start + i*step; x < postings.MaxBlocks {
					has[uint16(x)] = true
				}
			}
		}
		out := make([]uint16, 0, len(has))
		for x := range has {
			out = append(out, x)
		}
		slices.Sort(out)
		return out
	})
}

func equal(t *rapid.T, what string, got *postings.Set, want func(uint16) bool) {
	t.Helper()
	list := got.Append(nil)
	if !slices.IsSorted(list) || len(list) != got.Len() {
		t.Fatalf("%s: Len %d, list of %d, sorted %v", what, got.Len(), len(list), slices.IsSorted(list))
	}
	n := 0
	for x := range postings.MaxBlocks {
		if want(uint16(x)) {
			n++
		}
		if got.Contains(uint16(x)) != want(uint16(x)) {
			t.Fatalf("%s: Contains(%d) = %v, want %v", what, x, !want(uint16(x)), want(uint16(x)))
		}
	}
	if n != len(list) {
		t.Fatalf("%s: %d numbers, want %d", what, len(list), n)
	}
}

func TestSetAlgebra(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := numbers().Draw(t, "a"), numbers().Draw(t, "b")
		in := func(list []uint16, x uint16) bool { _, ok := slices.BinarySearch(list, x); return ok }
		sa, sb := postings.NewSet(a...), postings.NewSet(b...)

		and := sa.Clone()
		and.And(sb)
		equal(t, "and", and, func(x uint16) bool { return in(a, x) && in(b, x) })
		encoded := sa.Clone()
		if err := encoded.AndEncoded(postings.Encode(nil, sb), postings.Full(9)); err != nil {
			t.Fatal(err)
		}
		equal(t, "and with an encoded list", encoded, func(x uint16) bool { return in(a, x) && in(b, x) })
		or := sa.Clone()
		or.Or(sb)
		equal(t, "or", or, func(x uint16) bool { return in(a, x) || in(b, x) })
		equal(t, "operand", sb, func(x uint16) bool { return in(b, x) })
		lo := rapid.IntRange(0, postings.MaxBlocks).Draw(t, "lo")
		hi := rapid.IntRange(lo, postings.MaxBlocks).Draw(t, "hi")
		var within []uint16
		for _, y := range a {
			if lo <= int(y) && int(y) < hi {
				within = append(within, y)
			}
		}
		if got := sa.AppendRange(nil, lo, hi); !slices.Equal(got, within) {
			t.Fatalf("AppendRange(%d, %d) = %v, want %v", lo, hi, got, within)
		}
		if got := sa.Meets(lo, hi); got != (len(within) > 0) {
			t.Fatalf("Meets(%d, %d) = %v, want %v", lo, hi, got, within)
		}
		at := sort.Search(len(a), func(i int) bool { return int(a[i]) >= lo })
		if next, ok := sa.Next(lo); ok != (at < len(a)) || ok && next != int(a[at]) {
			t.Fatalf("Next(%d) = %d, %t, want that after %d of %d", lo, next, ok, at, len(a))
		}
		for _, from := range []int{lo, len(a)} { // anywhere, and behind all
			if from == len(a) && from > 0 {
				from = int(a[from-1]) + 1
			}
			hi := min(from+hi-lo, postings.MaxBlocks)
			ranged := sa.Clone()
			ranged.AddRange(from, hi)
			equal(t, "range", ranged, func(y uint16) bool { return from <= int(y) && int(y) < hi || in(a, y) })
		}
		x := rapid.Uint16().Draw(t, "x")
		and.Add(x)
		equal(t, "add", and, func(y uint16) bool { return x == y || in(a, y) && in(b, y) })
	})
}

func TestCodecRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := numbers().Draw(t, "a")
		value := postings.Encode(nil, postings.NewSet(a...))
		if n, err := postings.Count(value); err != nil || n != len(a) {
			t.Fatalf("Count = %d, %v; want %d", n, err, len(a))
		}
		// Decode into a set that held something else.
		got := postings.Full(5000)
		if err := got.Decode(value); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Append(nil), a) {
			t.Fatalf("decoded %v, want %v", got.Append(nil), a)
		}
		if len(value) > 8300 {
			t.Fatalf("%d numbers take %d bytes, more than a bitmap", len(a), len(value))
		}
		if want := smallest(a); len(value) != want {
			t.Fatalf("%d numbers take %d bytes, want %d", len(a), len(value), want)
		}
	})
}

// smallest is the length of the shorter of both encodings, which the writer
// compares from 512 bytes on.
func smallest(list []uint16) int {
	rb, last := roaring.New(), -1
	var gaps []byte
	for _, x := range list {
		rb.Add(uint32(x))
		gaps = binary.AppendUvarint(gaps, uint64(int(x)-last-1))
		last = int(x)
	}
	rb.RunOptimize()
	if size := int(rb.GetSerializedSizeInBytes()); len(gaps) >= 512 && size < len(gaps) {
		return 1 + size
	}
	return len(binary.AppendUvarint([]byte{0}, uint64(len(list)))) + len(gaps)
}

// TestRoaringIsPortable: what the writer stores as roaring is read by the
// roaring library, and the other way round, in all three kinds of container.
func TestRoaringIsPortable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := numbers().Draw(t, "a")
		if len(a) == 0 {
			return
		}
		rb := roaring.New()
		for _, x := range a {
			rb.Add(uint32(x))
		}
		if rapid.Bool().Draw(t, "runs") {
			rb.RunOptimize()
		}
		raw, err := rb.ToBytes()
		if err != nil {
			t.Fatal(err)
		}
		var s postings.Set
		if err := s.Decode(append([]byte{1}, raw...)); err != nil || !slices.Equal(s.Append(nil), a) {
			t.Fatalf("decoded %v, %v; want %v", s.Append(nil), err, a)
		}
		if value := postings.Encode(nil, &s); value[0] == 1 {
			back := roaring.New()
			if _, err := back.FromBuffer(value[1:]); err != nil || !back.Equals(rb) {
				t.Fatalf("the library reads %v, %v; want %v", back.ToArray(), err, a)
			}
		}
	})
}

// TestCodecExample holds the worked example of the format comment true.
func TestCodecExample(t *testing.T) {
	got := postings.Encode(nil, postings.NewSet(3, 4, 300))
	if want := []byte{0x00, 0x03, 0x03, 0x00, 0xa7, 0x02}; !bytes.Equal(got, want) {
		t.Errorf("Encode({3, 4, 300}) = % x, want % x", got, want)
	}
}

func TestFull(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 4096, 4097, 65535, 65536} {
		s := postings.Full(n)
		if s.Len() != n || n > 0 && !s.Contains(uint16(n-1)) || n < 65536 && s.Contains(uint16(n)) {
			t.Errorf("Full(%d): Len %d", n, s.Len())
		}
	}
}

// FuzzDecode: whatever the bytes, Decode answers with an error or a set whose
// encoding decodes to the same set; it never panics.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0, 3, 3, 0, 0xa7, 2})
	f.Add(postings.Encode(nil, postings.Full(60000)))
	f.Add(postings.Encode(nil, postings.Full(10)))
	f.Add([]byte{1})
	f.Add([]byte{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, value []byte) {
		var s postings.Set
		if err := s.Decode(value); err != nil {
			if !errors.Is(err, postings.ErrCorrupt) {
				t.Fatalf("error %v is not ErrCorrupt", err)
			}
			return
		}
		var again postings.Set
		if err := again.Decode(postings.Encode(nil, &s)); err != nil {
			t.Fatalf("decoding our own encoding: %v", err)
		}
		if !slices.Equal(s.Append(nil), again.Append(nil)) {
			t.Fatal("set changed by encoding")
		}
	})
}
