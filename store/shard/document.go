package shard

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/decode"
	"github.com/trawlsearch/trawl/store/engine"
)

// Reason says why a document's content cannot be searched; its path can.
type Reason byte

// The reasons. Their numbers are on disk and their words in the API.
const (
	Searchable Reason = iota
	ReasonBinary
	ReasonTooLarge
	ReasonSubmodule
	ReasonMissing
	ReasonCorrupt
	// ReasonTooOld is for the diff of a commit that is older than diffs are kept.
	ReasonTooOld
)

var reasonWords = [...]string{"", "binary", "too-large", "submodule", "missing-object", "corrupt-object", "too-old"}

// NumReasons is how many reasons there are, Searchable included.
const NumReasons = len(reasonWords)

func (r Reason) String() string { return reasonWords[r] }

// Document is one version of one file of a repository.
type Document struct {
	Repository uint32
	Path       string
	// OID is the blob's object id, 20 or 32 bytes; for a submodule the commit.
	OID []byte
	// Mode is git's file mode, such as 0o100644 or 0o120000.
	Mode uint32
	// FileBytes is the size of the file, TextBytes that of its searchable text.
	FileBytes, TextBytes uint32
	Language             string
	// Encoding is the encoding that the text was transcoded from, empty for
	// UTF-8.
	Encoding string
	Reason   Reason
	// Quality orders documents of a repository: 0 first.
	Quality byte
}

// Documents is the document table of a shard, in columns. It is immutable.
type Documents struct {
	paths string
	// adding gathers paths until seal.
	adding   []byte
	pathEnds []uint32
	oids     []byte
	oidEnds  []uint32
	// Repository, TextBytes and so on are Document's fields by document number.
	Repository []uint32
	TextBytes  []uint32
	FileBytes  []uint32
	Reason     []Reason
	Mode       []uint32
	Quality    []byte
	// Language and Encoding index Words.
	Language []uint16
	Encoding []uint16
	// Words[0] is empty.
	Words []string
	// FirstBlock has one entry more than there are documents, the number of
	// blocks; likewise TextStart, the offset of a document in the shard's text.
	FirstBlock []uint32
	TextStart  []uint32

	runs         []Run
	unsearchable []uint16
	// sorted are the numbers of runs by repository, made when they are first asked for.
	sortRuns sync.Once
	sorted   []uint32

	// depths is made when it is first asked for.
	deep   sync.Once
	depths []byte
}

func newDocuments() *Documents {
	return &Documents{Words: []string{""}, FirstBlock: []uint32{0}, TextStart: []uint32{0}}
}

// bytes is about what d takes in memory.
func (d *Documents) bytes() int {
	const row = 4 + 4 + 4 + 8 + 1 + 4 + 1 + 2 + 2 + 4 + 4 + 4 + 4 + 1 // the columns
	return len(d.paths) + len(d.oids) + row*d.Len() + 28*len(d.runs) + 2*len(d.unsearchable)
}

// Len returns the number of documents.
func (d *Documents) Len() int { return len(d.Repository) }

// Path returns the path of document i.
func (d *Documents) Path(i int) string { return d.paths[d.start(d.pathEnds, i):d.pathEnds[i]] }

// OID returns the object id of document i, borrowed.
func (d *Documents) OID(i int) []byte { return d.oids[d.start(d.oidEnds, i):d.oidEnds[i]] }

func (*Documents) start(ends []uint32, i int) uint32 {
	if i == 0 {
		return 0
	}
	return ends[i-1]
}

// At returns document i whole.
func (d *Documents) At(i int) Document {
	return Document{
		Repository: d.Repository[i], Path: d.Path(i), OID: d.OID(i), Mode: d.Mode[i],
		FileBytes: d.FileBytes[i], TextBytes: d.TextBytes[i],
		Language: d.Words[d.Language[i]], Encoding: d.Words[d.Encoding[i]],
		Reason: d.Reason[i], Quality: d.Quality[i],
	}
}

// docOf returns the document of every block.
func (d *Documents) docOf() []uint16 {
	out := make([]uint16, d.FirstBlock[d.Len()])
	for i := range d.Len() {
		for b := d.FirstBlock[i]; b < d.FirstBlock[i+1]; b++ {
			out[b] = uint16(i)
		}
	}
	return out
}

// A page of the document table holds up to pageDocuments documents, fewer when
// their paths are long:
//
//	uvarint number of words, each uvarint length and bytes
//	per document, uvarints unless said otherwise:
//	  length of the path shared with the document before, length of the rest, rest
//	  repository, mode, file bytes, text bytes, language word, encoding word
//	  reason byte, quality byte, 0
//	  length of the object id, object id
//
// The 0 was meant for the branches that hold a document. They are beside the
// shard, in records that can change (away.go); what stands there is not read.
//
// Pages are read in order, all of them, when a shard is first searched; where
// a document's text and blocks stand follows from the sizes before it.
const (
	pageDocuments = 512
	pagePathBytes = 128 << 10
)

// pageLength returns how many of docs, which is not empty, go to one page.
func pageLength(docs []Document) int {
	n, size := 1, len(docs[0].Path)
	for n < min(len(docs), pageDocuments) && size+len(docs[n].Path) <= pagePathBytes {
		size += len(docs[n].Path)
		n++
	}
	return n
}

func encodePage(docs []Document) []byte {
	words := map[string]int{"": 0}
	var list []string
	word := func(s string) {
		if _, ok := words[s]; !ok {
			list = append(list, s)
			words[s] = len(list)
		}
	}
	for i := range docs {
		word(docs[i].Language)
		word(docs[i].Encoding)
	}
	out := binary.AppendUvarint(nil, uint64(len(list)))
	for _, w := range list {
		out = append(binary.AppendUvarint(out, uint64(len(w))), w...)
	}
	last := ""
	for i := range docs {
		d := &docs[i]
		n := commonPrefix(last, d.Path)
		last = d.Path
		out = binary.AppendUvarint(out, uint64(n))
		out = append(binary.AppendUvarint(out, uint64(len(d.Path)-n)), d.Path[n:]...)
		for _, v := range []uint32{d.Repository, d.Mode, d.FileBytes, d.TextBytes,
			uint32(words[d.Language]), uint32(words[d.Encoding])} {
			out = binary.AppendUvarint(out, uint64(v))
		}
		out = append(out, byte(d.Reason), d.Quality)
		out = append(out, 0)
		out = append(binary.AppendUvarint(out, uint64(len(d.OID))), d.OID...)
	}
	return out
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// addPage appends the documents of an encoded page.
func (d *Documents) addPage(page []byte) error {
	r := decode.Reader{Rest: page}
	words := []uint16{0}
	for range r.Count() {
		w := string(r.Bytes(r.Count()))
		at := slices.Index(d.Words, w)
		if at < 0 {
			at = len(d.Words)
			d.Words = append(d.Words, w)
		}
		words = append(words, uint16(at))
	}
	last := ""
	for len(r.Rest) > 0 && !r.Bad {
		shared := r.Count()
		rest := r.Bytes(r.Count())
		if shared > len(last) {
			r.Bad = true
			break
		}
		last = last[:shared] + string(rest)
		d.adding = append(d.adding, last...)
		d.pathEnds = append(d.pathEnds, uint32(len(d.adding)))
		repo, mode, file, text := r.U32(), r.U32(), r.U32(), r.U32()
		lang, enc := r.Count(), r.Count()
		reason, quality := r.Byte(), r.Byte()
		_ = r.Uvarint()
		d.oids = append(d.oids, r.Bytes(r.Count())...)
		if lang >= len(words) || enc >= len(words) || int(reason) >= len(reasonWords) {
			r.Bad = true
			break
		}
		d.oidEnds = append(d.oidEnds, uint32(len(d.oids)))
		d.Repository = append(d.Repository, repo)
		d.Mode = append(d.Mode, mode)
		d.FileBytes = append(d.FileBytes, file)
		d.TextBytes = append(d.TextBytes, text)
		d.Language = append(d.Language, words[lang])
		d.Encoding = append(d.Encoding, words[enc])
		d.Reason = append(d.Reason, Reason(reason))
		d.Quality = append(d.Quality, quality)
		n := len(d.FirstBlock)
		d.FirstBlock = append(d.FirstBlock, d.FirstBlock[n-1]+uint32(postings.BlockCount(int(text))))
		d.TextStart = append(d.TextStart, d.TextStart[n-1]+text)
		if d.FirstBlock[n] > postings.MaxBlocks {
			r.Bad = true
		}
	}
	if r.Bad {
		return fmt.Errorf("document page: %w", engine.ErrCorrupt)
	}
	return nil
}

// seal ends the adding of pages.
func (d *Documents) seal() {
	d.paths, d.adding = string(d.adding), nil
	d.tally()
}

// Run is a run of neighbouring documents of one repository in a shard: those
// from First up to but not including End.
type Run struct {
	Repository uint32
	First, End int
}

// tally notes the runs of repositories and the documents without searchable
// content, so that no search goes through all documents for either.
func (d *Documents) tally() {
	for i, id := range d.Repository {
		if n := len(d.runs); n > 0 && d.runs[n-1].Repository == id {
			d.runs[n-1].End = i + 1
		} else {
			d.runs = append(d.runs, Run{id, i, i + 1})
		}
		if d.Reason[i] != Searchable {
			d.unsearchable = append(d.unsearchable, uint16(i))
		}
	}
}

// Runs returns the runs of repositories, in order; one that was indexed several
// times may have several. They are shared.
func (d *Documents) Runs() []Run { return d.runs }

// RunsOf yields the runs of one repository, in order.
func (d *Documents) RunsOf(repository uint32) iter.Seq[Run] {
	d.sortRuns.Do(func() {
		d.sorted = make([]uint32, len(d.runs))
		for i := range d.sorted {
			d.sorted[i] = uint32(i)
		}
		slices.SortStableFunc(d.sorted, func(a, b uint32) int { return cmp.Compare(d.runs[a].Repository, d.runs[b].Repository) })
	})
	return func(yield func(Run) bool) {
		n, _ := slices.BinarySearchFunc(d.sorted, repository, func(i, id uint32) int { return cmp.Compare(d.runs[i].Repository, id) })
		for ; n < len(d.sorted) && d.runs[d.sorted[n]].Repository == repository; n++ {
			if !yield(d.runs[d.sorted[n]]) {
				return
			}
		}
	}
}

// RunOf returns the run that document i is in.
func (d *Documents) RunOf(i int) Run {
	return d.runs[sort.Search(len(d.runs), func(n int) bool { return d.runs[n].End > i })]
}

// Unsearchable returns the documents whose content cannot be searched,
// ascending, dead ones too. They are shared.
func (d *Documents) Unsearchable() []uint16 { return d.unsearchable }

// countReasons counts documents by reason, up to the last reason that there is.
func countReasons(of iter.Seq[Reason]) (counts []int) {
	for reason := range of {
		for len(counts) <= int(reason) {
			counts = append(counts, 0)
		}
		counts[reason]++
	}
	return counts
}

// Depth returns how many slashes the path of document i has, at most 255.
func (d *Documents) Depth(i int) byte {
	d.deep.Do(func() {
		d.depths = make([]byte, d.Len())
		for i := range d.depths {
			d.depths[i] = byte(min(strings.Count(d.Path(i), "/"), math.MaxUint8))
		}
	})
	return d.depths[i]
}
