package syntax

import (
	"errors"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// Meta is what has.meta asks of a repository's metadata.
type Meta struct {
	Key MetaText
	// Value is what the key's value must be; with NoValue the key must stand
	// alone, and with neither any value will do.
	Value   *MetaText
	NoValue bool
}

// MetaText is an exact text or a regular expression.
type MetaText struct {
	Text     string
	IsRegexp bool
}

// ParseMeta reads the argument of has.meta, key, key: or key:value, or of the
// older has, which takes key:value only.
func ParseMeta(p query.Predicate) (Meta, error) {
	arg := strings.Trim(p.Arg, " \t")
	key, rest, err := metaText(arg)
	if err != nil {
		return Meta{}, err
	}
	value, hasColon := strings.CutPrefix(strings.TrimLeft(rest, " \t"), ":")
	switch {
	case p.Name == "has" && !hasColon:
		return Meta{}, errors.New("expected params of the form key:value")
	case key.Text == "":
		return Meta{}, errors.New("key cannot be empty")
	case !hasColon:
		return Meta{Key: key}, extra(rest)
	}
	value = strings.TrimLeft(value, " \t")
	if value == "" {
		return Meta{Key: key, NoValue: true}, nil
	}
	v, rest, err := metaText(value)
	if err != nil {
		return Meta{}, err
	}
	return Meta{Key: key, Value: &v}, extra(rest)
}

func extra(rest string) error {
	if strings.Trim(rest, " \t") != "" {
		return errors.New("unexpected extra content")
	}
	return nil
}

// metaText reads one side: quoted, between slashes, or plain up to a colon.
func metaText(s string) (text MetaText, rest string, err error) {
	if s == "" {
		return MetaText{}, "", nil
	}
	switch s[0] {
	case '"', '\'':
		v, n, err := delimited(s, true)
		if err != nil {
			return MetaText{}, "", err
		}
		return MetaText{Text: v}, s[n:], nil
	case '/':
		if v, n, err := delimited(s, false); err == nil && v != "" {
			return MetaText{Text: v, IsRegexp: true}, s[n:], compiles(v)
		}
	}
	v, rest, found := strings.Cut(s, ":")
	if found {
		rest = ":" + rest
	}
	return MetaText{Text: strings.Trim(v, " \t")}, rest, nil
}
