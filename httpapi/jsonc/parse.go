package jsonc

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// MaxDepth is how deep lists and objects may stand within one another.
const MaxDepth = 500

var errDepth = fmt.Errorf("lists and objects stand more than %d deep", MaxDepth)

// Parse reads a value.
func Parse(text string) (hujson.Value, error) {
	if deeper(text) {
		return hujson.Value{}, errDepth
	}
	v, err := read(text, hujson.Parse)
	// What read adds is not of the text, and is written with it otherwise.
	if extra := v.AfterExtra; len(extra) > 0 && !strings.HasSuffix(text, string(extra)) {
		v.AfterExtra = extra[:len(extra)-1]
	}
	return v, err
}

// Standardize returns text as plain JSON.
func Standardize(text string) ([]byte, error) {
	if deeper(text) {
		return nil, errDepth
	}
	return read(text, hujson.Standardize)
}

// Unmarshal reads text into v, as encoding/json does.
func Unmarshal(text string, v any) error {
	plain, err := Standardize(text)
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, v)
}

// read has parse read text, and once more with the end of its last line, without which
// hujson takes no comment there.
func read[T any](text string, parse func([]byte) (T, error)) (T, error) {
	v, err := parse([]byte(text))
	if err != nil && strings.Contains(text[strings.LastIndexByte(text, '\n')+1:], "//") {
		if again, failed := parse([]byte(text + "\n")); failed == nil {
			return again, nil
		}
	}
	return v, plainly(err)
}

// plainly leaves out who found an error.
func plainly(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
}

// deeper reports whether text stands deeper than MaxDepth anywhere, up to where
// it is no JSON: what comes behind that is not parsed.
func deeper(text string) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '[', '{':
			if depth++; depth > MaxDepth {
				return true
			}
		case ']', '}':
			depth--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			i += comment(text[i:])
		}
	}
	return false
}

// comment returns how much of the comment that text begins with is behind its
// first byte; 0 if it is none.
func comment(text string) int {
	end := ""
	switch {
	case strings.HasPrefix(text, "//"):
		end = "\n"
	case strings.HasPrefix(text, "/*"):
		end = "*/"
	default:
		return 0
	}
	_, behind, ok := strings.Cut(text[2:], end)
	if !ok {
		return len(text) - 1
	}
	return len(text) - len(behind) - 1
}
