package code

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/trawlsearch/trawl/store/git"
)

// SubmoduleURL returns where the submodule at a path of a commit comes from, as .gitmodules
// of the commit says, "" if it does not say. It is text of strangers, and may have secrets.
func (t *Reader) SubmoduleURL(ctx context.Context, commit, path string) (string, error) {
	e, ok, err := t.At(ctx, commit, ".gitmodules")
	if err != nil || !ok || e.Directory() || e.Mode == git.ModeSubmodule {
		return "", err
	}
	o, err := t.Object(ctx, e.OID, MaxCommitBytes)
	if errors.Is(err, git.ErrTooLarge) || errors.Is(err, git.ErrMissing) {
		return "", nil
	}
	return submoduleURL(o.Data, path), err
}

// submoduleURL finds the address in sections that have a path and a url each.
func submoduleURL(text []byte, path string) (found string) {
	at, address := "", ""
	end := func() {
		if at == path && address != "" {
			found = address
		}
		at, address = "", ""
	}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); bytes.HasPrefix(line, []byte("[")) {
			end()
			continue
		}
		key, value, _ := strings.Cut(string(line), "=")
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "path":
			at = unquoted(strings.TrimSpace(value))
		case "url":
			address = unquoted(strings.TrimSpace(value))
		}
	}
	end()
	return found
}

// unquoted is a value of a configuration without the quotes around it.
func unquoted(value string) string {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return value
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(value[1 : len(value)-1])
}
