package lang

import (
	"slices"

	"github.com/go-enry/go-enry/v2/data"
)

// extraAliases names the languages a lang: filter accepts beyond linguist's.
// Apex and Pkl have since joined linguist; they stay so that an older table
// still knows them.
var extraAliases = map[string]string{
	"apex":  "Apex",
	"magik": "Magik",
	"pkl":   "Pkl",
}

// extraExtensions adds to what linguist lists for a language.
var extraExtensions = map[string][]string{
	"Apex":  {".apex", ".apxt", ".apxc", ".cls", ".trigger"},
	"Magik": {".magik"},
	"Pkl":   {".pkl"},
}

// exclusiveExtensions belong to one language alone, whatever linguist lists,
// because nearly every file that carries them is in that language.
var exclusiveExtensions = map[string]string{
	".cs":   "C#",
	".fs":   "F#",
	".json": "JSON",
	".md":   "Markdown",
	".rs":   "Rust",
	".tsx":  "TSX",
	".ts":   "TypeScript",
	".txt":  "Text",
	".yaml": "YAML",
	".yml":  "YAML",
}

// soleExtensions are those that Detect maps without looking at linguist: the
// exclusive ones and those only our extra languages use. A .pkl file may be a
// Python pickle, but a pickle is binary and never asked about.
var soleExtensions = map[string]string{
	".apxc":  "Apex",
	".apxt":  "Apex",
	".magik": "Magik",
	".pkl":   "Pkl",
}

// likelihood orders the languages that share an extension from the most to the
// least common in the wild. It decides when content does not.
var likelihood = []string{
	"C", "C++", "Python", "JavaScript", "TypeScript", "Java", "Go", "Rust", "C#", "PHP",
	"Ruby", "Shell", "Perl", "Swift", "Kotlin", "Scala", "HTML", "CSS", "SQL", "R",
	"MATLAB", "Objective-C", "Lua", "Haskell", "Assembly", "Verilog", "Dart", "F#", "D",
	"Elixir", "Erlang", "Prolog", "OCaml", "Lex", "Common Lisp", "Makefile", "XML", "JSON",
	"YAML", "INI", "TeX", "Markdown", "Roff Manpage", "Roff", "GLSL", "HCL", "Pascal",
	"Fortran", "Visual Basic 6.0", "Text",
}

// extensions returns the extensions that stand for a language in a lang:
// filter, linguist's primary one first.
func extensions(name string) []string {
	var exts []string
	for _, list := range [][]string{data.ExtensionsByLanguage[name], extraExtensions[name]} {
		for _, ext := range list {
			if owner, exclusive := exclusiveExtensions[ext]; exclusive && owner != name {
				continue
			}
			if !slices.Contains(exts, ext) {
				exts = append(exts, ext)
			}
		}
	}
	return exts
}

// filenames returns the whole file names that stand for a language in a lang:
// filter, sorted.
func filenames(name string) []string {
	var names []string
	for file, langs := range data.LanguagesByFilename {
		if slices.Contains(langs, name) {
			names = append(names, file)
		}
	}
	slices.Sort(names)
	return names
}
