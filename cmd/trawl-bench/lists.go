package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// listFlag is a flag whose value is a list with commas.
type listFlag[T any] struct {
	to   *[]T
	read func(string) (T, error)
}

func (f listFlag[T]) String() string { return "" }

func (f listFlag[T]) Set(text string) error {
	*f.to = (*f.to)[:0:0]
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' }) {
		v, err := f.read(word)
		if err != nil {
			return err
		}
		*f.to = append(*f.to, v)
	}
	return nil
}

func readClients(word string) (int, error) {
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || n > 256 {
		return 0, fmt.Errorf("%q: want a number of clients from 1 to 256", word)
	}
	return n, nil
}

// readFactor reads "1/4" or "2": parts of a corpus are fractions, multiples are
// whole.
func readFactor(word string) (float64, error) {
	over, under, fraction := strings.Cut(word, "/")
	a, err := strconv.Atoi(over)
	b := 1
	if fraction && err == nil {
		b, err = strconv.Atoi(under)
	}
	if err != nil || a < 1 || b < 1 || a > 64*b || a > b && a%b != 0 {
		return 0, fmt.Errorf("%q: want a part such as 1/4 or a multiple such as 2", word)
	}
	return float64(a) / float64(b), nil
}

func readWord(word string) (string, error) { return word, nil }

// commandLine returns a command as a shell reads it, without the secret that
// --token has.
func commandLine(command string, args []string) string {
	words := []string{"trawl-bench", command}
	secret := false
	for _, a := range args {
		name, value, joined := strings.Cut(strings.TrimLeft(a, "-"), "=")
		isToken := strings.HasPrefix(a, "-") && name == "token"
		switch {
		case secret:
			a = "TOKEN"
		case isToken && joined && value != "":
			a = "--token=TOKEN"
		}
		secret = isToken && !joined
		words = append(words, shellQuote(a))
	}
	return strings.Join(words, " ")
}

// shellQuote quotes what a shell would take for more than a word.
func shellQuote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=,:@%+", r)
	}
	if word != "" && !slices.ContainsFunc([]rune(word), func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
