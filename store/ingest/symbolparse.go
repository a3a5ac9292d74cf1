package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/store/ctags"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/shard"
)

// errTooLarge: the text is too long for what its symbols are worth.
var errTooLarge = errors.New("text too large for symbols")

// parseJob is a document on its way through a parser.
type parseJob struct {
	doc  uint16
	path string
	text []byte
	// skip says that the document has no symbols and needs no parser.
	skip bool

	// done is closed when symbols and err are set.
	done    chan struct{}
	symbols []shard.Symbol
	err     error
}

// parse reads the shard's documents, has them parsed side by side, and calls
// each with them in order. A document without text is not parsed, nor is one
// that no search can find any more.
func (p *symbolPass) parse(ctx context.Context, v shard.View, docs *shard.Documents, each func(*parseJob) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var feeding sync.WaitGroup
	defer feeding.Wait()
	defer cancel()
	// A job for each parser, and one more for each, so that none waits.
	ordered := make(chan *parseJob, 2*p.symbols.opts.SymbolWorkers)
	var readErr error
	feeding.Go(func() {
		defer close(ordered)
		readErr = p.feed(ctx, v, docs, ordered)
	})
	for j := range ordered {
		select {
		case <-j.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if j.err != nil && !harmlessError(j.err) {
			return j.err
		}
		if err := each(j); err != nil {
			return err
		}
	}
	return readErr
}

// harmlessError reports whether an error is about one text only, and not about
// all.
func harmlessError(err error) bool {
	return slices.ContainsFunc([]error{ctags.ErrUnknownLanguage, ctags.ErrTooSlow, ctags.ErrCrashed, ctags.ErrTooMany, errTooLarge},
		func(known error) bool { return errors.Is(err, known) })
}

// feed reads documents and hands them to the parsers and, in order, to ordered.
func (p *symbolPass) feed(ctx context.Context, v shard.View, docs *shard.Documents, ordered chan<- *parseJob) (err error) {
	text := v.Text()
	defer func() { err = errors.Join(err, text.Close()) }()
	for i := range docs.Len() {
		j := &parseJob{doc: uint16(i), path: docs.Path(i), done: make(chan struct{})}
		switch {
		case docs.Reason[i] != shard.Searchable || docs.Mode[i] == git.ModeSymlink || v.Dead != nil && v.Dead.Contains(uint16(i)):
			j.skip = true
		case int64(docs.TextBytes[i]) > p.symbols.opts.MaxSymbolBytes:
			j.err = errTooLarge
		}
		decided := j.skip || j.err != nil
		if decided {
			close(j.done)
		} else {
			b, err := text.Slice(docs.TextStart[i], docs.TextStart[i+1])
			if err != nil {
				return err
			}
			j.text = bytes.Clone(b)
		}
		select {
		case ordered <- j:
		case <-ctx.Done():
			return ctx.Err()
		}
		if decided {
			continue
		}
		select {
		case p.work <- j:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// parseAll parses what comes until there is no more.
func parseAll(ctx context.Context, o Options, work <-chan *parseJob) {
	parser := o.Ctags.Start(ctags.Options{Budget: o.SymbolBudget, MemoryBytes: ctagsBytes(o.SymbolWorkers)})
	defer parser.Close()
	for j := range work {
		found, err := parser.Parse(ctx, j.path, j.text)
		j.symbols, j.err = placeSymbols(j.text, found), err
		close(j.done)
	}
}

// placeSymbols finds the column of each name in its line.
func placeSymbols(text []byte, found []ctags.Symbol) []shard.Symbol {
	slices.SortStableFunc(found, func(a, b ctags.Symbol) int { return cmp.Compare(a.Line, b.Line) })
	out := make([]shard.Symbol, 0, len(found))
	number, line, rest := 0, []byte(nil), text
	for _, f := range found {
		for number < f.Line && (number == 0 || len(rest) > 0) {
			line, rest, _ = bytes.Cut(rest, []byte{'\n'})
			number++
		}
		s := shard.Symbol{Name: strings.Clone(f.Name), Kind: f.Kind, Container: f.Scope, Language: f.Language, Line: uint32(f.Line)}
		if number == f.Line {
			s.Column = columnOf(line, f.Name)
		}
		out = append(out, s)
	}
	return out
}

// columnOf returns how many runes stand before name in line: where it stands as
// a word if it does, else where it stands first, else 0.
func columnOf(line []byte, name string) uint32 {
	first := -1
	for at := 0; at <= len(line); {
		i := bytes.Index(line[at:], []byte(name))
		if i < 0 {
			break
		}
		lo, hi := at+i, at+i+len(name)
		if first < 0 {
			first = lo
		}
		if (lo == 0 || !isWordByte(line[lo-1])) && (hi == len(line) || !isWordByte(line[hi])) {
			first = lo
			break
		}
		at = lo + 1
	}
	return uint32(utf8.RuneCount(line[:max(first, 0)]))
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// ctagsBytes is what each of some ctags that run side by side may map. A text of
// 4 MiB that only opens braces makes one take 400 MiB unless it is bounded; what
// people write takes a tenth of this.
func ctagsBytes(workers int) int64 {
	return min(max(288<<20/int64(workers), 96<<20), 256<<20)
}
