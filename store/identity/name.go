package identity

import (
	"net/mail"
	"regexp"
	"strings"
)

// nameForm is what users and organisations, which share one set of names, may
// be called: words of letters, digits and _, joined by single dashes or dots;
// a dash may stand at the end.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9_]+([-.][A-Za-z0-9_]+)*-?$`)

const mostNameBytes = 255

// CheckName says why a name is refused, or is nil.
func CheckName(name string) error {
	if len(name) > mostNameBytes || !nameForm.MatchString(name) {
		return refuse("%q cannot be a name: use letters, digits, _ and, between them, single dashes and dots; at most %d characters", name, mostNameBytes)
	}
	return nil
}

// Names differ by more than the case of their letters, and so do addresses.
func nameKey(name string) string { return strings.ToLower(name) }

// checkEmail refuses what is not a bare address.
func checkEmail(address string) error {
	a, err := mail.ParseAddress(address)
	if err != nil || a.Address != address || a.Name != "" || len(address) > 254 || strings.ContainsAny(address, "\"<>()[]\\,;: \t\r\n") {
		return refuse("%q is no e-mail address", address)
	}
	return nil
}

// checkText refuses what cannot be shown on one line.
func checkText(what, text string, most int) error {
	if len(text) > most {
		return refuse("%s is too long: take at most %d bytes", what, most)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd || r >= 0x80 && r < 0xa0 }) {
		return refuse("%s holds a character that cannot be shown", what)
	}
	return nil
}
