package redact

import (
	"net/url"
	"strconv"
	"strings"
)

// Text returns prose in which each URL stands as URL shows it.
//
// A user name and password reach from "://" to the last @ before the first slash,
// whatever stands between, spaces and quotes too: prose that has an @ there loses
// some words. Values of parameters reach to the next space.
func Text(text string) string {
	var out strings.Builder
	for {
		i := strings.Index(text, "://")
		if i < 0 {
			out.WriteString(text)
			return out.String()
		}
		scheme := schemeBefore(text[:i])
		out.WriteString(text[:i-len(scheme)])
		shown, rest := first(scheme, text[i+len("://"):])
		out.WriteString(shown)
		text = rest
	}
}

// schemeBefore returns the scheme at the end of text.
func schemeBefore(text string) string {
	i := len(text)
	for i > 0 && isSchemeByte(text[i-1]) {
		i--
	}
	return strings.TrimLeft(text[i:], "0123456789+-.")
}

func isSchemeByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'
}

// first returns what to show of a URL and the text behind it. text begins behind
// its "://".
func first(scheme, text string) (shown, rest string) {
	authority := text
	if i := strings.IndexAny(text, "/?#"); i >= 0 {
		authority = text[:i]
	}
	user := strings.LastIndexByte(authority, '@') + 1
	end := user + wordEnd(text[user:])
	word, closing := trimClosing(text[user:end])
	if user == 0 && word == "" {
		return scheme + "://" + closing, text[end:] // of addresses as such
	}
	if scheme == "" {
		return Hidden + closing, text[end:]
	}
	u, err := url.Parse(scheme + "://" + word)
	if err != nil {
		// A password with a slash looks like a port. It ends at an @ behind it.
		if at := strings.LastIndexByte(text[end:nextURL(text, end)], '@'); at >= 0 {
			end += at + 1
			end += wordEnd(text[end:])
		}
		return Hidden, text[end:]
	}
	if user > 0 {
		u.User = url.User(Word)
	}
	return show(u) + closing, text[end:]
}

// nextURL returns where the next URL behind from begins, or the end.
func nextURL(text string, from int) int {
	if i := strings.Index(text[from:], "://"); i >= 0 {
		return from + i
	}
	return len(text)
}

// wordEnd returns where a URL ends at the latest: at a space, and at a quote if
// there is no query before the space.
func wordEnd(text string) int {
	if i := strings.IndexFunc(text, func(r rune) bool { return r <= ' ' }); i >= 0 {
		text = text[:i]
	}
	if strings.ContainsAny(text, "?#") {
		return len(text)
	}
	if i := strings.IndexAny(text, "'\"`<>"); i >= 0 {
		return i
	}
	return len(text)
}

// trimClosing cuts punctuation of the prose off the end of a word.
func trimClosing(word string) (trimmed, closing string) {
	trimmed = strings.TrimRight(word, `'":,.;)]}>`+"`")
	return trimmed, word[len(trimmed):]
}

// About is Text for prose about an address that is known. It takes the secrets
// of that address out wherever they stand, as in the answer of a server that
// repeats a password.
func About(text, address string) string {
	if address == "" {
		return Text(text)
	}
	quoted := strconv.Quote(address)
	pairs := []string{address, URL(address), quoted[1 : len(quoted)-1], URL(address)}
	for _, secret := range secrets(address) {
		quoted := strconv.Quote(secret)
		pairs = append(pairs, secret, Word, quoted[1:len(quoted)-1], Word, url.QueryEscape(secret), Word, url.PathEscape(secret), Word)
	}
	return Text(strings.NewReplacer(pairs...).Replace(text))
}

// leastSecretBytes is the shortest text that is a secret wherever it stands.
const leastSecretBytes = 3

// secrets returns the secrets of an address, decoded.
func secrets(address string) []string {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	var found []string
	add := func(text string) {
		if len(text) >= leastSecretBytes {
			found = append(found, text)
		}
	}
	if password, ok := u.User.Password(); ok {
		add(password)
	} else if u.User.Username() != commonUser {
		add(u.User.Username()) // a token
	}
	for part := range strings.FieldsFuncSeq(u.RawQuery, func(r rune) bool { return r == '&' || r == ';' }) {
		_, value, _ := strings.Cut(part, "=")
		add(value)
		if plain, err := url.QueryUnescape(value); err == nil && plain != value {
			add(plain)
		}
	}
	add(u.Fragment)
	return found
}
