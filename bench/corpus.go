package bench

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf16"
)

// Corpus describes a tree of source-like files that can be generated anywhere
// and is the same everywhere: equal fields give equal bytes. The zero value of
// a field means its default.
//
// Words come from a vocabulary of vocabularyWords made-up ones, the k-th most
// frequent drawn about 1/k as often as the first, as in real text. A file has 4
// to 200 lines, short ones being more common, of 1 to 12 words, with indent and
// punctuation. On top of that stand what Facts counts.
type Corpus struct {
	// Seed chooses the text; 1.
	Seed uint64
	// Files is how many text files are written; 1000.
	Files int
}

func (c *Corpus) ensureDefaults() {
	c.Seed = cmp.Or(c.Seed, 1)
	c.Files = cmp.Or(c.Files, 1000)
}

// The words that generated text holds in known numbers and, but for them,
// never: made-up words have no x and no underscore.
const (
	// plantedRare stands on exactly rareLines lines of different files.
	plantedRare = "xrare_word"
	rareLines   = 3
	// plantedCommon stands once in every file.
	plantedCommon = "COMMON_xport"
	// plantedPair stands on two neighbouring lines of every tenth file: an
	// opening line and a closing one.
	plantedOpen, plantedClose = "begin_xpair", "end_xpair"
)

// vocabularyWords is the size of the vocabulary, about that of a large program.
const vocabularyWords = 5000

// Facts are the sizes of a generated corpus.
type Facts struct {
	// Files counts all files, the odd ones included; Bytes is their size.
	Files int
	Bytes int64
	// Text counts files without a NUL byte.
	Text int
	// Lines counts, by planted word, the lines that hold it.
	Lines map[string]int
}

// Generate writes the corpus to dir, which must be empty or not exist.
func (c Corpus) Generate(dir string) (Facts, error) {
	c.ensureDefaults()
	facts := Facts{Lines: map[string]int{}}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return facts, fmt.Errorf("generate corpus: %s is not empty", dir)
	}
	write := func(name string, content []byte) error {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		facts.count(content)
		return os.WriteFile(full, content, 0o644)
	}
	w := newWriter(c.Seed)
	for i := range c.Files {
		if err := write(w.path(i), w.file(i, c.Files)); err != nil {
			return facts, fmt.Errorf("generate corpus: %w", err)
		}
	}
	var errs []error
	for _, odd := range oddFiles() {
		errs = append(errs, write(odd.name, odd.content))
	}
	return facts, errors.Join(errs...)
}

func (f *Facts) count(content []byte) {
	f.Files++
	f.Bytes += int64(len(content))
	if bytes.IndexByte(content, 0) >= 0 {
		return
	}
	f.Text++
	for line := range bytes.Lines(content) {
		for _, word := range []string{plantedRare, plantedCommon, plantedOpen, plantedClose} {
			if bytes.Contains(line, []byte(word)) {
				f.Lines[word]++
			}
		}
	}
}

// textWriter makes up text. Every draw comes from one generator, so the order
// of calls decides the text.
type textWriter struct {
	random *rand.Rand
	rank   *rand.Zipf
	words  []string
}

func newWriter(seed uint64) *textWriter {
	w := &textWriter{random: rand.New(rand.NewPCG(seed, 0))}
	w.rank = newRank(w.random)
	for range vocabularyWords {
		w.words = append(w.words, w.newWord())
	}
	return w
}

// drawing returns a writer with the words of w that draws from random. Making a
// vocabulary takes longer than writing a small file.
func (w *textWriter) drawing(random *rand.Rand) *textWriter {
	return &textWriter{random: random, rank: newRank(random), words: w.words}
}

// newRank returns a generator of ranks in a vocabulary.
func newRank(random *rand.Rand) *rand.Zipf { return rand.NewZipf(random, 1.1, 1, vocabularyWords-1) }

// newWord makes up a word of one to four syllables.
func (w *textWriter) newWord() string {
	const first, vowel, last = "bcdfghklmnprstvz", "aeiou", "lmnrst"
	var b strings.Builder
	for range 1 + w.random.IntN(4) {
		b.WriteByte(first[w.random.IntN(len(first))])
		b.WriteByte(vowel[w.random.IntN(len(vowel))])
		if w.random.IntN(3) == 0 {
			b.WriteByte(last[w.random.IntN(len(last))])
		}
	}
	return b.String()
}

func (w *textWriter) word() string { return w.words[w.rank.Uint64()] }

// path spreads files over folders two deep, a few dozen in each.
func (w *textWriter) path(i int) string {
	endings := []string{".c", ".c", ".c", ".h", ".py", ".md"}
	folder := fmt.Sprintf("part%02d/%s", i/400, w.words[i/40%len(w.words)])
	return path.Join(folder, fmt.Sprintf("%s_%d%s", w.words[(i*7)%len(w.words)], i, endings[i%len(endings)]))
}

// file returns the text of the i-th of n files.
func (w *textWriter) file(i, n int) []byte {
	var b bytes.Buffer
	lines := 4 + min(w.random.IntN(197), w.random.IntN(197))
	common := w.random.IntN(lines)
	for line := range lines {
		w.line(&b)
		if line == common {
			fmt.Fprintf(&b, "%s(%s);\n", plantedCommon, w.word())
		}
	}
	if i%10 == 0 {
		fmt.Fprintf(&b, "%s(%s)\n    %s(%s)\n", plantedOpen, w.word(), plantedClose, w.word())
	}
	// The rare word is spread evenly; with fewer files than that, there are fewer.
	if step := max(n/rareLines, 1); i%step == 0 && i/step < rareLines {
		fmt.Fprintf(&b, "// %s %s\n", plantedRare, w.word())
	}
	return b.Bytes()
}

func (w *textWriter) line(b *bytes.Buffer) {
	b.WriteString(strings.Repeat("\t", w.random.IntN(4)))
	marks := []string{" ", " ", " ", " ", ".", "(", ") ", ", ", " = ", "->"}
	for i := range 1 + w.random.IntN(12) {
		if i > 0 {
			b.WriteString(marks[w.random.IntN(len(marks))])
		}
		b.WriteString(w.word())
	}
	b.WriteString([]string{";\n", "\n", " {\n", ",\n"}[w.random.IntN(4)])
}

type oddFile struct {
	name    string
	content []byte
}

// oddFiles are what real trees hold and tools treat differently.
func oddFiles() []oddFile {
	line := "odd " + plantedCommon + " line"
	return []oddFile{
		{"odd/empty.txt", nil},
		{"odd/no-final-newline.txt", []byte(line)},
		{"odd/windows.txt", []byte(line + "\r\nsecond\r\n")},
		{"odd/latin1.txt", []byte("caf\xe9 " + line + "\n")},
		{"odd/utf16.txt", wide(line + "\n")},
		{"odd/binary.bin", []byte(line + "\n\x00\x01\x02" + line + "\n")},
		{"odd/late-nul.txt", append(bytes.Repeat([]byte(line+"\n"), 1000), 0)},
		{"odd/long-line.txt", []byte(strings.Repeat("long ", 20000) + plantedCommon + "\n")},
		{"odd/name with spaces: and colon.txt", []byte(line + "\n")},
		{".hidden/file.txt", []byte(line + "\n")},
	}
}

// wide encodes text as UTF-16, little end first, with a mark.
func wide(text string) []byte {
	b := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		b = append(b, byte(unit), byte(unit>>8))
	}
	return b
}
