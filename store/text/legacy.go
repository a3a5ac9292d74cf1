package text

import (
	"bytes"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// legacySampleBytes is how much of a file is decoded on trial.
const legacySampleBytes = 16 << 10

// minScore is how much of the non-ASCII characters must be frequent ones of
// the language for a guess other than Windows-1252. Right guesses score
// 0.3 to 0.9 on prose and on code comments, wrong ones below 0.15.
const minScore = 0.2

// legacy is one encoding to try.
type legacy struct {
	name     string
	encoding encoding.Encoding
	frequent map[rune]struct{}
	// words says that letters beyond ASCII stand next to each other. Without,
	// one stands alone among ASCII letters, as accents do.
	words bool
}

// legacies are the encodings to try; the last is the fallback.
var legacies = sync.OnceValue(func() []legacy {
	return []legacy{
		{ShiftJIS, japanese.ShiftJIS, runeSet(frequentJapanese), true},
		{EUCJP, japanese.EUCJP, runeSet(frequentJapanese), true},
		{GB18030, simplifiedchinese.GB18030, runeSet(frequentSimplified), true},
		{Big5, traditionalchinese.Big5, runeSet(frequentTraditional), true},
		{EUCKR, korean.EUCKR, runeSet(frequentKorean), true},
		{Windows1251, charmap.Windows1251, runeSet(frequentCyrillic), true},
		{KOI8R, charmap.KOI8R, runeSet(frequentCyrillic), true},
		{Windows1252, charmap.Windows1252, runeSet(frequentWestern), false},
	}
})

// decodeLegacy converts 8-bit text by the encoding that makes the most of it.
func decodeLegacy(data []byte) Text {
	guess := guessLegacy(legacySample(data))
	decoded, err := guess.encoding.NewDecoder().Bytes(data)
	if err != nil {
		// These decoders replace what is broken and return no error; should
		// one start to, the bytes as they are serve better than none.
		return Text{Data: data, Encoding: UTF8Invalid}
	}
	return Text{Data: decoded, Encoding: guess.name}
}

// legacySample collects the lines that are not all ASCII, each from its first
// byte beyond ASCII on: a character cannot begin before that one.
func legacySample(data []byte) []byte {
	var sample []byte
	for len(sample) < legacySampleBytes {
		first := bytes.IndexFunc(data, func(r rune) bool { return r >= utf8.RuneSelf })
		if first < 0 {
			break
		}
		line, rest, _ := bytes.Cut(data[first:], []byte("\n"))
		sample = append(sample, line[:min(len(line), legacySampleBytes-len(sample))]...)
		sample = append(sample, '\n')
		data = rest
	}
	return sample
}

// guessLegacy tries every encoding; the highest score wins, Windows-1252 if
// none convinces.
func guessLegacy(sample []byte) legacy {
	all := legacies()
	fallback := all[len(all)-1]
	best, bestScore := fallback, minScore
	for _, candidate := range all {
		decoded, err := candidate.encoding.NewDecoder().Bytes(sample)
		if err != nil {
			continue
		}
		if score := candidate.score(string(decoded)); score > bestScore {
			best, bestScore = candidate, score
		}
	}
	return best
}

// score says how much a decoded sample looks like the candidate's languages:
// the share of frequent characters among those beyond ASCII that stand as the
// languages have them stand. It is 0 if the bytes do not fit the encoding.
func (l legacy) score(decoded string) float64 {
	characters, broken, frequent := 0, 0, 0
	inWord := false // the character before was beyond ASCII
	for i, r := range decoded {
		if r < utf8.RuneSelf {
			inWord = false
			continue
		}
		characters++
		if r == utf8.RuneError {
			broken++
		}
		neighbour := inWord || nextBeyondASCII(decoded[i:], r)
		inWord = true
		if _, ok := l.frequent[r]; ok && neighbour == l.words {
			frequent++
		}
	}
	if characters == 0 || broken*100 > characters+100 { // the sample's end may cut one
		return 0
	}
	return float64(frequent) / float64(characters)
}

// nextBeyondASCII reports that the character after the first of s, r, is
// beyond ASCII.
func nextBeyondASCII(s string, r rune) bool {
	next := utf8.RuneLen(r)
	return next < len(s) && s[next] >= utf8.RuneSelf
}

// runeSet holds the characters beyond ASCII of text.
func runeSet(text string) map[rune]struct{} {
	set := make(map[rune]struct{})
	for _, r := range text {
		if r >= utf8.RuneSelf {
			set[r] = struct{}{}
		}
	}
	return set
}
