package bench

import (
	"bytes"
	"fmt"
)

// sourceLanguage is how generated text of a language looks: how a remark
// begins, how a function begins and ends. open has places for two words.
type sourceLanguage struct {
	ending, remark, open, end string
}

var sourceLanguages = []sourceLanguage{
	{".go", "// ", "func %s(%s int) int {\n", "}\n\n"},
	{".py", "# ", "def %s(%s):\n", "\n"},
	{".js", "// ", "function %s(%s) {\n", "}\n\n"},
	{".c", "// ", "static int %s(int %s)\n{\n", "}\n\n"},
	{".java", "// ", "class %s { int run(int %s) {\n", "} }\n\n"},
	{".rs", "// ", "fn %s(%s: u32) -> u32 {\n", "}\n\n"},
	{".rb", "# ", "def %s(%s)\n", "end\n\n"},
	{".md", "", "## %s %s\n\n", "\n"},
}

// functionLines is the most lines between the first and the last of a function.
const functionLines = 24

// sourceText returns a file of some functions, short files being more common.
// No text of it holds a planted word.
func (w *textWriter) sourceText(l sourceLanguage) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s%s %s %s\n\n", l.remark, w.word(), w.word(), w.word())
	for range 1 + min(w.random.IntN(12), w.random.IntN(12)) {
		fmt.Fprintf(&b, l.open, w.word()+"_"+w.word(), w.word())
		for range 1 + w.random.IntN(functionLines) {
			w.line(&b)
		}
		b.WriteString(l.end)
	}
	return b.Bytes()
}

// readme returns the text of the first file of a repository, which has a line
// for each of the words given.
func (w *textWriter) readme(name string, revision int, words ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\nRevision %d\n\n", name, revision)
	for _, word := range words {
		fmt.Fprintf(&b, "%s %s %s\n", w.word(), word, w.word())
	}
	b.WriteString("\n")
	for range 8 {
		w.line(&b)
	}
	return b.Bytes()
}
