package git

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// logParser reads what git diff-tree writes for LogOptions.args. A commit is
//
//	01 id NUL parents NUL ten fields of people NUL message NUL
//
// and if it changed something, LF and for each file a raw record with its
// paths, each ended by NUL, which are as they are in the tree; then, with
// hunks, NUL and the patch. That has a section for each record in the same
// order, two for a file that became something else, so its paths need not be
// read out of the patch. The head of a hunk has its number of lines, so no line
// of a file is ever taken for anything else.
type logParser struct {
	in    *bufio.Reader
	opts  LogOptions
	hunks hunks
	line  []byte
	// next is the section that is read up to its lines, nil if none is.
	next *sectionIDs
}

const commitMark = 1

// commit reads the next commit; io.EOF says that there is none.
func (p *logParser) commit() (*Commit, error) {
	if p.opts.Depth == LogMessages {
		// git rev-list puts a line with the id before the format.
		if _, err := p.in.ReadSlice('\n'); err != nil {
			return nil, io.EOF
		}
	}
	switch mark, err := p.in.ReadByte(); {
	case err != nil:
		return nil, io.EOF
	case mark != commitMark:
		return nil, fmt.Errorf("git answered %q where a commit begins", mark)
	}
	c, err := p.head()
	if err != nil {
		return nil, truncated(err)
	}
	p.hunks.clear()
	if next, err := p.in.Peek(1); err != nil || next[0] != '\n' {
		return c, nil
	}
	_, _ = p.in.Discard(1) // it was seen
	if p.opts.Depth == LogMessages {
		return c, nil
	}
	if err := p.files(c); err != nil {
		return nil, truncated(err)
	}
	if most := p.opts.MaxFiles; most > 0 && len(c.Files) > most {
		c.MoreFiles = len(c.Files) - most
		c.Files = c.Files[:most:most]
	}
	return c, nil
}

func truncated(err error) error {
	if errors.Is(err, io.EOF) {
		return errTruncated
	}
	return err
}

// head reads the fields.
func (p *logParser) head() (*Commit, error) {
	var f [12]string
	for i := range f {
		b, err := field(p.in)
		if err != nil {
			return nil, err
		}
		f[i] = string(b)
	}
	message, err := p.message()
	if err != nil {
		return nil, err
	}
	c := &Commit{OID: f[0], Parents: strings.Fields(f[1]), Message: message}
	if !isObjectID(c.OID) || slices.ContainsFunc(c.Parents, func(s string) bool { return !isObjectID(s) }) {
		return nil, fmt.Errorf("git answered %q for a commit", printable(f[0]+" "+f[1]))
	}
	c.Author, c.Committer = signature(f[2:7]), signature(f[7:12])
	return c, nil
}

// MaxMessageBytes is how much of a message is kept. Those of people have a few
// thousand bytes.
const MaxMessageBytes = 1 << 20

// message reads the last field.
func (p *logParser) message() (string, error) {
	var kept []byte
	for {
		piece, err := p.in.ReadSlice(0)
		kept = append(kept, piece[:min(len(piece), MaxMessageBytes+1-len(kept))]...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return "", errTruncated
		}
		s := strings.TrimSuffix(string(kept), "\x00")
		if len(s) > MaxMessageBytes {
			s = strings.ToValidUTF8(s[:MaxMessageBytes], "")
		}
		return strings.TrimSpace(readable(s)), nil
	}
}

// signature reads name, email, both again as mapped, and date.
func signature(f []string) Signature {
	s := Signature{Person: Person{readable(f[0]), readable(f[1])}, Mapped: Person{readable(f[2]), readable(f[3])}}
	seconds, zone, _ := strings.Cut(f[4], " ")
	s.Seconds, s.ZoneMinutes = parseSeconds(seconds), parseZone(zone)
	return s
}

// readable makes UTF-8 of what was written in another encoding without saying
// so, which is hardly ever anything but Latin-1. A line or two are too little to
// guess others from.
func readable(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 && s[0] >= firstLatin1 {
			r = rune(s[0])
		}
		b.WriteRune(r)
		s = s[size:]
	}
	return b.String()
}

// firstLatin1 is the first byte beyond ASCII that is a character in Latin-1.
const firstLatin1 = 0xa0

// firstSecond and lastSecond bound the years 1 to 9999.
const (
	firstSecond = -62135596800
	lastSecond  = 253402300799
)

func parseSeconds(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < firstSecond || n > lastSecond {
		return 0
	}
	return n
}

// parseZone reads "+0530".
func parseZone(s string) int {
	n, err := strconv.Atoi(s)
	minutes := n/100*60 + n%100
	if err != nil || minutes <= -24*60 || minutes >= 24*60 {
		return 0
	}
	return minutes
}

// files reads the raw records and the patch behind them.
func (p *logParser) files(c *Commit) error {
	patch, err := p.records(func(d FileDiff) { c.Files = append(c.Files, d) })
	if err != nil || !patch {
		return err
	}
	for i := range c.Files {
		if err := p.diff(&c.Files[i]); err != nil {
			return err
		}
	}
	return nil
}

// records calls f with each raw record, and reports whether a patch follows.
func (p *logParser) records(f func(FileDiff)) (patch bool, err error) {
	for {
		switch next, err := p.in.Peek(1); {
		case errors.Is(err, io.EOF) || err == nil && next[0] == commitMark:
			return false, nil
		case err != nil:
			return false, err
		case next[0] == 0:
			_, _ = p.in.Discard(1) // it was seen
			return true, nil
		}
		d, err := p.record()
		if err != nil {
			return false, err
		}
		f(d)
	}
}

// record reads a raw record. Files beyond the limit are read as well, since
// their sections of the patch have to be separated.
func (p *logParser) record() (FileDiff, error) {
	c, err := readChange(p.in)
	if err != nil {
		return FileDiff{}, err
	}
	d := FileDiff{Change: c, State: DiffUnread}
	if c.Status == 'R' || c.Status == 'C' {
		path, err := field(p.in)
		if err != nil || len(path) == 0 {
			return FileDiff{}, errTruncated
		}
		d.OldPath, d.Path = d.Path, string(path)
	}
	return d, nil
}

// diff reads the section of a file.
func (p *logParser) diff(d *FileDiff) error {
	sections := 1
	if d.Status == 'T' {
		sections = 2
	}
	d.State = DiffRead
	p.hunks.begin()
	for range sections {
		if err := p.section(d); err != nil {
			return err
		}
	}
	if d.State != DiffRead {
		p.hunks.drop()
	}
	d.Hunks = p.hunks.end()
	return nil
}

var (
	sectionHead = []byte("diff --git ")
	binaryHead  = []byte("Binary files ")
	hunkHead    = []byte("@@ ")
)

// section reads the head of one file and its hunks.
func (p *logParser) section(d *FileDiff) error {
	if p.opts.IgnoreSpace {
		if ok, err := p.hasSection(d); !ok || err != nil {
			return err
		}
	} else if err := p.beginSection(); err != nil {
		return err
	}
	for {
		switch next, err := p.in.Peek(1); {
		case errors.Is(err, io.EOF) || err == nil && next[0] == commitMark:
			return nil
		case err != nil:
			return err
		case next[0] == 'd':
			if next, _ := p.in.Peek(len(sectionHead)); bytes.Equal(next, sectionHead) {
				return nil
			}
		}
		line, err := p.readLine()
		if err != nil {
			return err
		}
		switch {
		case bytes.HasPrefix(line, binaryHead):
			d.State = DiffBinary
		case bytes.HasPrefix(line, hunkHead):
			if err := p.hunk(d, line); err != nil {
				return err
			}
		}
	}
}

func (p *logParser) beginSection() error {
	line, err := p.readLine()
	if err == nil && !bytes.HasPrefix(line, sectionHead) {
		err = badRecord(line)
	}
	return err
}

// sectionIDs are the objects that a section compares, "" for one that is not there. Both
// are where the section names none: a file that has another name or mode only.
type sectionIDs struct{ old, fresh string }

// of reports whether the section is that of a file. A file of another kind has two: one
// goes, and one comes.
func (s *sectionIDs) of(d *FileDiff) bool {
	switch {
	case *s == sectionIDs{}:
		return d.OldOID == d.NewOID
	case d.Status == 'T':
		return s.old == d.OldOID && s.fresh == "" || s.old == "" && s.fresh == d.NewOID
	}
	return s.old == d.OldOID && s.fresh == d.NewOID
}

// hasSection reads the head of a section if it is that of a file. git leaves out the
// sections of files that differ in white space only where that is ignored.
func (p *logParser) hasSection(d *FileDiff) (bool, error) {
	if p.next == nil {
		if _, err := p.in.Peek(1); errors.Is(err, io.EOF) {
			return false, nil
		}
		if err := p.beginSection(); err != nil {
			return false, err
		}
		ids := &sectionIDs{}
		for !p.startsWith(hunkHead) && !p.startsWith(binaryHead) && !p.startsWith(sectionHead) {
			if _, err := p.in.Peek(1); errors.Is(err, io.EOF) {
				break // it is the last
			}
			line, err := p.readLine()
			if err != nil {
				return false, err
			}
			if rest, ok := bytes.CutPrefix(line, []byte("index ")); ok {
				both, _, _ := bytes.Cut(bytes.TrimSuffix(rest, []byte("\n")), []byte(" "))
				old, fresh, _ := bytes.Cut(both, []byte(".."))
				ids.old, ids.fresh = presentOID(string(old)), presentOID(string(fresh))
			}
		}
		p.next = ids
	}
	if !p.next.of(d) {
		return false, nil
	}
	p.next = nil
	return true, nil
}

func (p *logParser) startsWith(prefix []byte) bool {
	next, _ := p.in.Peek(len(prefix))
	return bytes.Equal(next, prefix)
}

// hunk reads the lines that the head counts.
func (p *logParser) hunk(d *FileDiff, head []byte) error {
	h, ok := ParseHunkHead(head)
	if !ok {
		return badRecord(head)
	}
	p.keep(d, head)
	before, after := h.Old.Lines, h.New.Lines
	for before > 0 || after > 0 {
		line, err := p.readLine()
		if err != nil {
			return err
		}
		switch line[0] {
		case ' ':
			before, after = before-1, after-1
		case '-':
			before--
		case '+':
			after--
		case '\\':
			continue
		default:
			return badRecord(line)
		}
		p.keep(d, line)
	}
	// "\ No newline at end of file" may follow; section passes over it.
	return nil
}

// keep appends a line to the hunks unless the limits forbid.
func (p *logParser) keep(d *FileDiff, line []byte) {
	file := len(p.hunks.file) + len(line)
	if o := p.opts; o.MaxFileBytes > 0 && file > o.MaxFileBytes || o.MaxCommitBytes > 0 && p.hunks.ended+file > o.MaxCommitBytes {
		d.State = DiffTooLarge
	}
	if d.State == DiffRead {
		p.hunks.add(line)
	}
}

// readLine returns a line with its newline, valid until the next. A line that
// is too long to be kept is cut, with a newline behind it.
func (p *logParser) readLine() ([]byte, error) {
	line, err := p.in.ReadSlice('\n')
	if err == nil {
		return line, nil
	}
	p.line = p.line[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		if most := p.opts.MaxFileBytes; most == 0 || len(p.line) <= most {
			p.line = append(p.line, line...)
		}
		line, err = p.in.ReadSlice('\n')
	}
	if err != nil {
		return nil, truncated(err)
	}
	return append(p.line, line...), nil
}
