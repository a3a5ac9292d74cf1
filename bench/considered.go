package bench

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// fileClass says how tools that skip binary files treat a file.
type fileClass uint8

const (
	// text has no NUL byte: every tool reads it.
	text fileClass = iota
	// wideText starts with a UTF-16 mark. trawl and ripgrep decode it, git
	// takes it for binary.
	wideText
	// binary holds a NUL byte. Tools disagree about how far in they look for
	// one and what they print before it, so such files are never compared.
	binary
	// irregular is a symbolic link or a submodule, which no peer enters.
	irregular
)

// classifyFile reads the whole file: a NUL byte near the end makes a peer stop
// there, so a look at the first block would not be enough.
func classifyFile(path string) (fileClass, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	buf := make([]byte, 256<<10)
	for first := true; ; first = false {
		n, err := io.ReadFull(f, buf)
		if first && isWide(buf[:n]) {
			return wideText, nil
		}
		if bytes.IndexByte(buf[:n], 0) >= 0 {
			return binary, nil
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return text, nil
		case err != nil:
			return 0, err
		}
	}
}

// isWide reports whether head starts a UTF-16 text; a UTF-32 one, whose mark
// starts alike, is not.
func isWide(head []byte) bool {
	if bytes.HasPrefix(head, []byte{0xff, 0xfe, 0, 0}) {
		return false
	}
	return bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff})
}

// maxQuoteBytes cuts the lines that a report quotes.
const maxQuoteBytes = 160

// lineOf returns the text of a line of a file, counted from 1, cut when long;
// line 0 and what cannot be read have none.
func lineOf(path string, line uint32) string {
	content, err := os.ReadFile(path)
	if err != nil || line == 0 {
		return ""
	}
	for range line - 1 {
		_, content, _ = bytes.Cut(content, []byte("\n"))
	}
	content, _, _ = bytes.Cut(content, []byte("\n"))
	return string(content[:min(len(content), maxQuoteBytes)])
}

// considered decides which paths two answers are compared on: a tool is not
// wrong about a file that it says it does not read.
type considered struct {
	class map[string]fileClass
	// skipped are the paths whose content trawl says it does not search.
	skipped map[string]bool
}

func newConsidered(files []file, skipped []Skipped) considered {
	c := considered{make(map[string]fileClass, len(files)), make(map[string]bool, len(skipped))}
	for _, f := range files {
		c.class[f.path] = f.class
	}
	for _, s := range skipped {
		c.skipped[s.Path] = true
	}
	return c
}

// content returns the test for paths whose text both trawl and a peer read;
// wide says whether that peer decodes UTF-16. A path that is not in the commit
// at all passes, so that an answer which makes one up is seen.
func (c considered) content(wide bool) func(string) bool {
	return func(path string) bool {
		class := c.class[path]
		return !c.skipped[path] && (class == text || wide && class == wideText)
	}
}

// names returns the test for paths that both trawl and a peer list.
func (c considered) names() func(string) bool {
	return func(path string) bool { return c.class[path] != irregular }
}
