package shard

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/trawlsearch/trawl/store/decode"
	"github.com/trawlsearch/trawl/store/engine"
)

// Person is an author or committer as a commit has them.
type Person struct{ Name, Email string }

// Signature is a person and when; Seconds count from 1970, ZoneMinutes are
// east of Greenwich.
type Signature struct {
	Person
	Seconds     int64
	ZoneMinutes int16
}

// CommitState says which part of a commit's diff is indexed.
type CommitState byte

// The states. Their numbers are on disk.
const (
	// CommitRead: each changed file with its diff, or why it has none.
	CommitRead CommitState = iota
	// CommitMerge: a merge has no diff of its own.
	CommitMerge
	// CommitPaths: the paths only, as it is older than diffs are kept.
	CommitPaths
	// CommitUnreadable: git cannot read its changes.
	CommitUnreadable
)

// Commit is one commit of a repository.
type Commit struct {
	Repository        uint32
	OID               []byte
	Author, Committer Signature
	State             CommitState
	// Effective is the committer's date, lowered so that it never rises along
	// the log. Commits of a repository in log order are those by falling
	// Effective, then falling Sequence, then rising Position: Sequence counts
	// the readings of the history, Position the commits of one.
	Effective          int64
	Sequence, Position uint32
	// MoreFiles counts changed files of which nothing is kept, since there are
	// too many.
	MoreFiles uint32
}

// ChangedFile is the change of one file in a commit.
type ChangedFile struct {
	// Path is that after the change, or of a deleted file the one before.
	// OldPath is empty unless it was another.
	Path, OldPath string
	// Status is git's letter: A, D, M, R, T.
	Status byte
	Mode   uint32
	// Reason says why Hunks are missing.
	Reason Reason
	Hunks  []byte
}

// Commits is the commit table of a history shard, in columns. It is immutable.
type Commits struct {
	oids    []byte
	oidEnds []uint32
	// Repository, State, Effective, Sequence, Position and MoreFiles are
	// Commit's fields by commit number.
	Repository []uint32
	State      []CommitState
	Effective  []int64
	Sequence   []uint32
	Position   []uint32
	MoreFiles  []uint32
	// Author and Committer index People, who are each there once.
	Author, Committer               []uint32
	AuthorSeconds, CommitterSeconds []int64
	AuthorZone, CommitterZone       []int16
	People                          []Person
	// Message has one entry more than there are commits. Document Message[i] is
	// the message of commit i; the files it changed follow, up to the message of
	// the next.
	Message []uint32
	// Status is by document, 0 for a message.
	Status   []byte
	oldPaths map[uint32]string
	known    map[Person]uint32
}

func newCommits() *Commits {
	return &Commits{Message: []uint32{0}, oldPaths: map[uint32]string{}, known: map[Person]uint32{}}
}

// bytes is about what c takes in memory.
func (c *Commits) bytes() int {
	const row, person, path = 100, 80, 100
	return len(c.oids) + row*c.Len() + person*len(c.People) + len(c.Status) + path*len(c.oldPaths)
}

// Len returns the number of commits.
func (c *Commits) Len() int { return len(c.Repository) }

// OID returns the id of commit i, borrowed.
func (c *Commits) OID(i int) []byte {
	first := uint32(0)
	if i > 0 {
		first = c.oidEnds[i-1]
	}
	return c.oids[first:c.oidEnds[i]]
}

// OldPath returns what the file of a document was called before, or "".
func (c *Commits) OldPath(document int) string { return c.oldPaths[uint32(document)] }

// Of returns the commit that a document belongs to.
func (c *Commits) Of(document uint16) int {
	i, found := slices.BinarySearch(c.Message, uint32(document))
	if found {
		return i
	}
	return i - 1
}

// OfNext is Of for a document that belongs to commit from or to one behind it, which takes
// the less time the nearer that is.
func (c *Commits) OfNext(document uint16, from int) int {
	step := 1
	for from+step < len(c.Message) && c.Message[from+step] <= uint32(document) {
		from, step = from+step, 2*step
	}
	i, found := slices.BinarySearch(c.Message[from:min(from+step, len(c.Message))], uint32(document))
	if found {
		return from + i
	}
	return from + i - 1
}

// At returns commit i whole.
func (c *Commits) At(i int) Commit {
	return Commit{
		Repository: c.Repository[i], OID: c.OID(i), State: c.State[i],
		Author:    Signature{c.People[c.Author[i]], c.AuthorSeconds[i], c.AuthorZone[i]},
		Committer: Signature{c.People[c.Committer[i]], c.CommitterSeconds[i], c.CommitterZone[i]},
		Effective: c.Effective[i], Sequence: c.Sequence[i], Position: c.Position[i], MoreFiles: c.MoreFiles[i],
	}
}

// CompareLog orders commit i of a and commit k of b, of one repository, as git
// log does.
func CompareLog(a *Commits, i int, b *Commits, k int) int {
	return cmp.Or(cmp.Compare(b.Effective[k], a.Effective[i]), cmp.Compare(b.Sequence[k], a.Sequence[i]),
		cmp.Compare(a.Position[i], b.Position[k]))
}

// commitRow is a commit that is being written, with the fields that its
// documents do not have.
type commitRow struct {
	Commit
	files []fileRow
}

type fileRow struct {
	status  byte
	oldPath string
}

// A page of the commit table holds up to pageCommits commits, fewer when their
// files are many:
//
//	uvarint number of people, each uvarint length and bytes of name and e-mail
//	per commit, uvarints unless said otherwise:
//	  length of the object id, object id
//	  repository, state byte
//	  author, seconds and zone as varints; committer, the same
//	  effective seconds as varint, sequence, position
//	  files that are missing, files that follow
//	  per file: status byte, length of the old path, old path
//
// Pages are read in order, all of them, when the shard is first searched. A
// commit takes some 60 bytes in memory beside those of its documents.
const (
	pageCommits = 512
	pageFiles   = 16 << 10
)

func commitPageLength(rows []commitRow) int {
	n, files, paths := 0, 0, 0
	for n < min(len(rows), pageCommits) {
		for _, f := range rows[n].files {
			paths += len(f.oldPath)
		}
		files += len(rows[n].files)
		n++
		if files > pageFiles || paths > pagePathBytes {
			break
		}
	}
	return n
}

func encodeCommitPage(rows []commitRow) []byte {
	numbers := map[Person]uint64{}
	var people []Person
	number := func(p Person) uint64 {
		n, ok := numbers[p]
		if !ok {
			n = uint64(len(people))
			numbers[p] = n
			people = append(people, p)
		}
		return n
	}
	for i := range rows {
		number(rows[i].Author.Person)
		number(rows[i].Committer.Person)
	}
	text := func(out []byte, s string) []byte { return append(binary.AppendUvarint(out, uint64(len(s))), s...) }
	out := binary.AppendUvarint(nil, uint64(len(people)))
	for _, p := range people {
		out = text(text(out, p.Name), p.Email)
	}
	for i := range rows {
		r := &rows[i]
		out = text(out, string(r.OID))
		out = binary.AppendUvarint(out, uint64(r.Repository))
		out = append(out, byte(r.State))
		for _, s := range []Signature{r.Author, r.Committer} {
			out = binary.AppendUvarint(out, number(s.Person))
			out = binary.AppendVarint(out, s.Seconds)
			out = binary.AppendVarint(out, int64(s.ZoneMinutes))
		}
		out = binary.AppendVarint(out, r.Effective)
		for _, v := range []uint32{r.Sequence, r.Position, r.MoreFiles, uint32(len(r.files))} {
			out = binary.AppendUvarint(out, uint64(v))
		}
		for _, f := range r.files {
			out = text(append(out, f.status), f.oldPath)
		}
	}
	return out
}

// addPage appends the commits of an encoded page.
func (c *Commits) addPage(page []byte) error {
	r := decode.Reader{Rest: page}
	var people []uint32
	for range r.Count() {
		if r.Bad {
			break
		}
		people = append(people, c.person(Person{string(r.Bytes(r.Count())), string(r.Bytes(r.Count()))}))
	}
	person := func() uint32 {
		n := r.Count()
		if n >= len(people) {
			r.Bad = true
			return 0
		}
		return people[n]
	}
	for len(r.Rest) > 0 && !r.Bad {
		c.oids = append(c.oids, r.Bytes(r.Count())...)
		c.oidEnds = append(c.oidEnds, uint32(len(c.oids)))
		c.Repository = append(c.Repository, r.U32())
		c.State = append(c.State, CommitState(r.Byte()))
		c.Author = append(c.Author, person())
		c.AuthorSeconds = append(c.AuthorSeconds, r.Varint())
		c.AuthorZone = append(c.AuthorZone, int16(r.Varint()))
		c.Committer = append(c.Committer, person())
		c.CommitterSeconds = append(c.CommitterSeconds, r.Varint())
		c.CommitterZone = append(c.CommitterZone, int16(r.Varint()))
		c.Effective = append(c.Effective, r.Varint())
		c.Sequence = append(c.Sequence, r.U32())
		c.Position = append(c.Position, r.U32())
		c.MoreFiles = append(c.MoreFiles, r.U32())
		c.Status = append(c.Status, 0)
		for range r.Count() {
			if r.Bad {
				break
			}
			status := r.Byte()
			if old := r.Bytes(r.Count()); len(old) > 0 {
				c.oldPaths[uint32(len(c.Status))] = string(old)
			}
			c.Status = append(c.Status, status)
		}
		c.Message = append(c.Message, uint32(len(c.Status)))
	}
	if r.Bad {
		return fmt.Errorf("commit page: %w", engine.ErrCorrupt)
	}
	return nil
}

// person returns the number of p in People.
func (c *Commits) person(p Person) uint32 {
	n, ok := c.known[p]
	if !ok {
		n = uint32(len(c.People))
		c.People = append(c.People, p)
		c.known[p] = n
	}
	return n
}
