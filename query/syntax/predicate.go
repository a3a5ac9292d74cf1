package syntax

import (
	"errors"
	"fmt"
	resyntax "regexp/syntax"
	"strings"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/date"
)

// checkPredicate judges the argument of a filter's predicate.
func checkPredicate(f query.Filter) error {
	err := predicateError(f)
	if err == nil {
		return nil
	}
	hint := ""
	var e *query.SyntaxError
	if errors.As(err, &e) {
		hint = e.Hint
	}
	return &query.SyntaxError{Message: "invalid predicate value: " + err.Error(), Hint: hint}
}

func predicateError(f query.Filter) error {
	name, arg := f.Predicate.Name, f.Predicate.Arg
	switch f.Field + ":" + f.Predicate.Test() {
	case "repo:has.path", "repo:has.content":
		return requiredRegexp(arg, strings.Replace(name, "has.", "contains.", 1))
	case "repo:has.file":
		_, err := ParseFileTest(*f.Predicate)
		return err
	case "repo:has.commit.after":
		return dated(name+" argument: ", arg, "repo:"+name+`(2024-01-31) or repo:`+name+"(1 month ago)")
	case "repo:has.description":
		return checkDescription(f)
	case "repo:has.meta", "repo:has":
		_, err := ParseMeta(*f.Predicate)
		return err
	case "repo:has.tag", "repo:has.key", "repo:has.topic":
		if arg == "" {
			return fmt.Errorf("%s must be non-empty", strings.TrimPrefix(name, "has."))
		}
	case "file:has.content":
		if f.Negated {
			return noNegation("file:contains.content")
		}
		return requiredRegexp(arg, "file:contains.content")
	case "file:has.contributor":
		return wrapped("the file:has.contributor() predicate has invalid argument: ", compiles(arg))
	case "rev:at.time":
		return checkAtTime(arg)
	}
	return nil
}

func noNegation(name string) error {
	return fmt.Errorf("search predicate %q does not support negation", name)
}

func requiredRegexp(arg, name string) error {
	if arg == "" {
		return fmt.Errorf("%s argument should not be empty", name)
	}
	return wrapped(name+" argument: ", compiles(arg))
}

func compiles(re string) error {
	_, err := resyntax.Parse(re, resyntax.Perl)
	return err
}

func wrapped(prefix string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s%w", prefix, err)
}

func checkDescription(f query.Filter) error {
	switch {
	case f.Negated:
		return noNegation("repo:has.description")
	case strings.TrimSpace(f.Predicate.Arg) == "":
		return errors.New("empty repo:has.description() predicate parameter")
	}
	for _, word := range strings.Fields(f.Predicate.Arg) {
		if err := compiles(word); err != nil {
			return wrapped("invalid repo:has.description() argument: ", err)
		}
	}
	return nil
}

// DescriptionRegexp returns the regular expression that the argument of
// has.description stands for: its words in order, with anything between.
func DescriptionRegexp(arg string) string {
	words := strings.Fields(arg)
	if len(words) == 1 {
		return "(?is)" + words[0]
	}
	return "(?is)(?:" + strings.Join(words, ").*?(?:") + ")"
}

func checkAtTime(arg string) error {
	if strings.Count(arg, ",") > 1 {
		return errors.New("unexpected number of arguments to rev:at.time()")
	}
	if len(arg) > maxRevBytes {
		return revTooLong(query.Span{})
	}
	when, _, _ := query.ParseAtTime(query.AtTime(arg))
	if !date.Valid(when) {
		return date.ErrFormat
	}
	return nil
}
