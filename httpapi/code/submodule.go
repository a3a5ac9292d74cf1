package code

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-git/gcfg/v2"

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

// submoduleURL finds the address in sections that have a path and a url each. Of several
// for the same path it is the last, and of a text that git would not read what stands before
// its mistake.
func submoduleURL(text []byte, path string) string {
	type module struct{ path, url string }
	modules := map[string]*module{}
	var names []string
	// What is wrong with a text of strangers is told to nobody.
	_ = gcfg.ReadWithCallback(bytes.NewReader(text), func(section, name, key, value string, _ bool) error {
		if !strings.EqualFold(section, "submodule") || name == "" {
			return nil
		}
		m := modules[name]
		if m == nil {
			m = &module{}
			modules[name], names = m, append(names, name)
		}
		switch strings.ToLower(key) {
		case "path":
			m.path = value
		case "url":
			m.url = value
		}
		return nil
	})
	for _, name := range slices.Backward(names) {
		if m := modules[name]; m.path == path && m.url != "" {
			return m.url
		}
	}
	return ""
}
