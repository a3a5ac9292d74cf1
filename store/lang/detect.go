package lang

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-enry/go-enry/v2/data"
)

// maxHeadBytes is how much of a file's start Detect looks at.
const maxHeadBytes = 4 << 10

// Detect returns the linguist name of a file's language, or "" if it is
// unknown. The file name decides where it can. The content, which may be any
// prefix of the file or nil, is read only for names that several languages
// share or none claims, and then only its first 4 KiB.
//
// Unlike linguist it lets an unambiguous name outrank a modeline, gives the
// exclusive extensions of lang: filters to their one language, and breaks a
// tie by how common a language is instead of by a trained classifier.
func Detect(path string, content []byte) string {
	base := path[strings.LastIndexByte(path, '/')+1:]
	candidates := data.LanguagesByFilename[base]
	ext := ""
	if len(candidates) == 0 {
		var sole string
		if sole, ext, candidates = byExtension(base); sole != "" {
			return sole
		}
	}
	if len(candidates) == 1 {
		return candidates[0]
	}
	return byContent(ext, candidates, content[:min(len(content), maxHeadBytes)])
}

// maxExtension is how long an extension may be.
const maxExtension = 64

// byExtension finds the longest known extension of a file name: the one
// language it stands for, or else the candidates linguist gives.
func byExtension(base string) (sole, ext string, candidates []string) {
	base = base[max(0, len(base)-maxExtension):] // a name may have a million dots
	for i := range len(base) {
		if base[i] != '.' {
			continue
		}
		ext = strings.ToLower(base[i:]) // no copy if it is lower case already
		if owner, ok := exclusiveExtensions[ext]; ok {
			return owner, ext, nil
		}
		if owner, ok := soleExtensions[ext]; ok {
			return owner, ext, nil
		}
		if candidates, ok := data.LanguagesByExtension[ext]; ok {
			return "", ext, candidates
		}
	}
	return "", "", nil
}

// byContent chooses among the candidates of a shared name; with none, any
// language may be the answer.
func byContent(ext string, candidates []string, head []byte) string {
	if name := byModeline(head); name != "" {
		return name
	}
	if narrowed := byShebang(head); len(narrowed) > 0 {
		candidates = narrowed
	}
	switch len(candidates) {
	case 0:
		return byPrologue(head)
	case 1:
		return candidates[0]
	}
	if ext == ".h" && plainHeader(head) {
		return "C"
	}
	if heuristics := data.ContentHeuristics[lastExtension(ext)]; heuristics != nil {
		if narrowed := heuristics.Match(head); len(narrowed) > 0 {
			candidates = narrowed
		}
	}
	return likeliest(candidates)
}

// likeliest returns the most common of several languages.
func likeliest(candidates []string) string {
	for _, name := range likelihood {
		if slices.Contains(candidates, name) {
			return name
		}
	}
	return candidates[0]
}

// byPrologue recognises the few formats that say what they are in their first
// bytes, for files whose name says nothing.
func byPrologue(head []byte) string {
	trimmed := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case bytes.HasPrefix(trimmed, []byte("<?xml version=")):
		return "XML"
	case bytes.HasPrefix(trimmed, []byte("<?php")):
		return "PHP"
	case bytes.HasPrefix(trimmed, []byte(".TH ")), bytes.HasPrefix(trimmed, []byte(".Dd ")):
		return "Roff Manpage"
	case hasPrefixFold(trimmed, "<!doctype html"):
		return "HTML"
	}
	return ""
}

// lastExtension is the part of ext that linguist's heuristics are filed under.
func lastExtension(ext string) string {
	return ext[max(0, strings.LastIndexByte(ext, '.')):]
}

func hasPrefixFold(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && strings.EqualFold(string(b[:len(prefix)]), prefix)
}
