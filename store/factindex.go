package store

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// FactIndex finds repositories by their topics, metadata and descriptions.
type FactIndex struct {
	topics   map[string][]uint32
	metadata map[metadatum][]uint32
	// descriptions are those of one line in one text, as Names are; spread has the
	// repositories with another.
	descriptions Names
	spread       []*Repository
}

// metadatum is a key with its value, or a tag.
type metadatum struct {
	key, value string
	isTag      bool
}

// LineFinder finds the lines of a text that match: it calls found with the offset at
// which each begins, until found reports false.
type LineFinder interface {
	Find(text []byte, found func(start int) bool)
}

// Topic returns the repositories with a topic.
func (f *FactIndex) Topic(name string) *IDs {
	out := &IDs{}
	out.addAll(f.topics[name])
	return out
}

// Metadata returns the repositories with a key and a value, nil for a tag, that test
// reports true for.
func (f *FactIndex) Metadata(test func(key string, value *string) bool) *IDs {
	out := &IDs{}
	for m, ids := range f.metadata {
		value := &m.value
		if m.isTag {
			value = nil
		}
		if test(m.key, value) {
			out.addAll(ids)
		}
	}
	return out
}

// Description returns the repositories whose description re matches, which lines
// finds in descriptions of one line. No description is an empty one.
func (f *FactIndex) Description(lines LineFinder, re *regexp.Regexp) *IDs {
	out := f.descriptions.Find(lines)
	for _, r := range f.spread {
		if re.MatchString(r.Description) {
			out.Add(r.ID)
		}
	}
	return out
}

func (s *IDs) addAll(ids []uint32) {
	for _, id := range ids {
		s.Add(id)
	}
}

// sameFacts reports whether two records are the same to a FactIndex.
func sameFacts(a, b *Repository) bool {
	return a.Description == b.Description && slices.Equal(a.Topics, b.Topics) && maps.EqualFunc(a.Metadata, b.Metadata, func(v, w *string) bool {
		return v == w || v != nil && w != nil && *v == *w
	})
}

// lazyFacts are the facts of the versions between two changes of a fact, made when
// they are first asked for.
type lazyFacts struct {
	once sync.Once
	FactIndex
}

func (l *lazyFacts) of(c *catalogue) *FactIndex {
	l.once.Do(func() {
		l.topics, l.metadata = map[string][]uint32{}, map[metadatum][]uint32{}
		c.byID.Scan(func(_ uint32, r *Repository) bool {
			l.add(r)
			return true
		})
	})
	return &l.FactIndex
}

func (f *FactIndex) add(r *Repository) {
	for _, topic := range r.Topics {
		f.topics[topic] = append(f.topics[topic], r.ID)
	}
	for key, value := range r.Metadata {
		m := metadatum{key: key, isTag: value == nil}
		if value != nil {
			m.value = *value
		}
		f.metadata[m] = append(f.metadata[m], r.ID)
	}
	switch {
	case strings.Contains(r.Description, "\n"):
		f.spread = append(f.spread, r)
	case r.Description != "":
		f.descriptions.add(r.Description, r.ID)
	}
}
