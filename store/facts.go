package store

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// FactsChange names facts about a repository and what they are to be; those
// that it does not name stay.
type FactsChange struct {
	Stars                   *int
	Fork, Archived, Private *bool
	Description             *string
	Topics                  *[]string
	// Branches are globs of branches to index, from the next sync on.
	Branches *[]string
	// ClearMetadata takes all keys away, then RemoveMetadata some, and then
	// Metadata are put; a nil value is a tag.
	ClearMetadata  bool
	RemoveMetadata []string
	Metadata       map[string]*string
}

// Empty reports whether c changes nothing.
func (c FactsChange) Empty() bool {
	return c.Stars == nil && c.Fork == nil && c.Archived == nil && c.Private == nil && c.Description == nil &&
		c.Topics == nil && c.Branches == nil && !c.ClearMetadata && len(c.RemoveMetadata) == 0 && len(c.Metadata) == 0
}

// Check says what of c cannot be kept.
func (c FactsChange) Check() error {
	if c.Stars != nil && *c.Stars < 0 {
		return fmt.Errorf("stars: %d is less than none", *c.Stars)
	}
	texts := slices.Collect(maps.Keys(c.Metadata))
	if slices.Contains(texts, "") {
		return errors.New("metadata: a key is empty")
	}
	for _, v := range c.Metadata {
		if v != nil {
			texts = append(texts, *v)
		}
	}
	if c.Description != nil {
		texts = append(texts, *c.Description)
	}
	if c.Topics != nil {
		if slices.Contains(*c.Topics, "") {
			return errors.New("topics: one is empty")
		}
		texts = append(texts, *c.Topics...)
	}
	if c.Branches != nil {
		for _, glob := range *c.Branches {
			if err := checkBranchGlob(glob); err != nil {
				return err
			}
		}
		texts = append(texts, *c.Branches...)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%q is not UTF-8", text)
		}
	}
	return nil
}

// checkBranchGlob refuses what can match no branch.
func checkBranchGlob(glob string) error {
	if glob == "" {
		return errors.New("branches: one is empty")
	}
	if _, err := path.Match(glob, ""); err != nil {
		return fmt.Errorf("branches: %q is no pattern: %w", glob, err)
	}
	return nil
}

// apply changes r, which shares nothing with c afterwards, nor with the record
// it was copied from.
func (c FactsChange) apply(r *Repository) {
	set(&r.Stars, c.Stars)
	set(&r.Fork, c.Fork)
	set(&r.Archived, c.Archived)
	set(&r.Private, c.Private)
	set(&r.Description, c.Description)
	if c.Topics != nil {
		r.Topics = slices.Clone(*c.Topics)
		slices.SortFunc(r.Topics, strings.Compare)
		r.Topics = slices.Compact(r.Topics)
	}
	if c.Branches != nil {
		r.BranchGlobs = slices.Clone(*c.Branches)
	}
	metadata := map[string]*string{}
	if !c.ClearMetadata {
		maps.Copy(metadata, r.Metadata)
	}
	for _, key := range c.RemoveMetadata {
		delete(metadata, key)
	}
	for key, value := range c.Metadata {
		metadata[key] = nil
		if value != nil {
			v := *value
			metadata[key] = &v
		}
	}
	r.Metadata = metadata
}

func set[T any](fact, to *T) {
	if to != nil {
		*fact = *to
	}
}

// keepFacts gives r the facts of the record that it replaces, and what a code host
// says of it.
func (r *Repository) keepFacts(old *Repository) {
	r.Stars, r.Fork, r.Archived, r.Private = old.Stars, old.Fork, old.Archived, old.Private
	r.Description, r.Topics, r.Metadata, r.BranchGlobs = old.Description, old.Topics, old.Metadata, old.BranchGlobs
	r.Readers = old.Readers
	if r.Origin, r.Gone = old.Origin, old.Gone; r.Origin != nil {
		r.Name, r.Source = old.Name, old.Source
	}
}

// ChangeFacts changes what is known about a repository and returns the new
// record. It does not wait for a sync at work, and holds when that commits.
func (rs Repositories) ChangeFacts(name string, c FactsChange) (r *Repository, err error) {
	err = rs.s.Update(func(tx *Tx) error {
		r, err = tx.changeRecord(name, func(r *Repository) error {
			if err := c.Check(); err != nil {
				return fmt.Errorf("repository %q: %w", name, err)
			}
			c.apply(r)
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// changeRecord has change change a copy of the record of a repository, facts
// included, and returns that.
func (tx *Tx) changeRecord(name string, change func(r *Repository) error) (*Repository, error) {
	old, err := tx.Repository(name)
	if err != nil {
		return nil, err
	}
	next := *old
	if err := change(&next); err != nil {
		return nil, err
	}
	tx.more = append(tx.more, tx.sn.c.putOperation(&next))
	return &next, nil
}
