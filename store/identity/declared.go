package identity

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/store"
)

// declared are the readers of the configuration file by repository. It is safe
// for concurrent use.
type declared struct {
	mu    sync.Mutex // guards all below
	repos map[string][]string
	// names are the reserved ones, by nameKey.
	names map[string]bool
}

func (d *declared) set(repos map[string][]string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.repos, d.names = map[string][]string{}, map[string]bool{}
	for repository, texts := range repos {
		d.add(repository, texts)
	}
}

func (d *declared) add(repository string, texts []string) {
	d.repos[repository] = slices.Clone(texts)
	for _, text := range texts {
		if _, name, ok := cutReader(text); ok {
			d.names[nameKey(name)] = true
		}
	}
}

func (d *declared) put(repository string, texts []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.add(repository, texts)
}

func (d *declared) reserves(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.names[nameKey(name)]
}

// with are the repositories that name one of the readers.
func (d *declared) with(readers []string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for repository, texts := range d.repos {
		if slices.ContainsFunc(texts, func(text string) bool { return slices.Contains(readers, pinKey(text)) }) {
			out = append(out, repository)
		}
	}
	return out
}

// texts are the readers of a repository, nil if it has none of its own.
func (d *declared) texts(repository string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.repos[repository]
}

// all are the readers of all repositories, as pinKey has them.
func (d *declared) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := map[string]bool{}
	for _, texts := range d.repos {
		for _, text := range texts {
			if _, _, ok := cutReader(text); ok {
				found[pinKey(text)] = true
			}
		}
	}
	return slices.Collect(maps.Keys(found))
}

// Declare says which readers the configuration file names, by repository, in place
// of those of before. Their names are reserved from then on; DeclareReaders lets
// them in.
func (r *transactions) Declare(repos map[string][]string) { r.declared.set(repos) }

// DeclaredReaders returns the readers that the configuration file names for a
// repository, nil if it names none.
func (r *transactions) DeclaredReaders(repository string) []string {
	return r.declared.texts(repository)
}

// DeclareReaders sets the readers of a repository that the configuration file
// names, and returns what the names stand for. A text that is no reader leaves
// the repository without readers: a mistake must not publish it.
func (r *transactions) DeclareReaders(by Author, repository string, texts []string) ([]Pin, error) {
	r.declared.put(repository, texts)
	pins, readers, err := r.pinned(by, texts)
	if err != nil {
		readers = &store.Readers{}
	}
	before, failed := r.record(repository)
	if failed == nil && (!before.Readers.Equal(readers) || before.HasHostReaders()) {
		_, failed = r.setReaders(by, repository, readers, func(*store.Repository) error { return nil })
	}
	if err = errors.Join(err, failed); err != nil {
		return pins, fmt.Errorf("declare readers: %w", err)
	}
	return pins, nil
}

// pinsChanged reports new pins, and sets the readers of the repositories that
// name them.
func (r *transactions) pinsChanged(readers []string) {
	for _, reader := range readers {
		kind, _, _ := cutReader(reader)
		if p, err := r.pinOf(reader, kind); err == nil {
			r.options().Pinned(p)
		}
	}
	for _, repository := range r.declared.with(readers) {
		if _, err := r.DeclareReaders(Operator, repository, r.declared.texts(repository)); err != nil && !isNotFound(err) {
			r.options().NotApplied(repository, err)
		}
	}
}
