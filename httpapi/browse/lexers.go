package browse

import (
	"path"
	"sync"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// wrappers are the lexers that make their tokens one by one although they are no
// lexers of regexps themselves.
var wrappers = []string{"markdown", "Common Lisp", "EmacsLisp"}

// instead names the lexers that stand for those that make all tokens of a text
// before the first one: 5.3 s for 360 kB of PHP in HTML, and without an end for a
// text that is written against them.
var instead = map[string]string{"ERB": "HTML", "Go HTML Template": "HTML", "PHTML": "HTML", "Svelte": "HTML", "YAML+Jinja": "YAML"}

// lazyLexers are the lexers that make tokens one by one. They know each other
// only, so that one does not use another kind for a part of its text.
var lazyLexers = sync.OnceValue(func() *chroma.LexerRegistry {
	lazy := chroma.NewLexerRegistry()
	all := lexers.GlobalLexerRegistry
	for _, l := range all.Lexers {
		if _, ok := l.(*chroma.RegexLexer); ok {
			lazy.Register(l)
		}
	}
	for _, name := range wrappers {
		lazy.Register(all.Get(name))
	}
	return lazy
})

// lexerOf returns the lexer of a language or, if that has none, of a file name;
// nil for none.
func lexerOf(name, language string) chroma.Lexer {
	lazy, found := lazyLexers(), chroma.Lexer(nil)
	if language != "" {
		found = lexers.Get(language)
	}
	if found == nil {
		found = lexers.Match(path.Base(name))
	}
	if found == nil {
		return nil
	}
	kind := found.Config().Name
	if other := instead[kind]; other != "" {
		kind = other
	}
	return lazy.Get(kind)
}
