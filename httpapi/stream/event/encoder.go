package event

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/trawlsearch/trawl/query"
)

// Encoder writes matches as JSON objects. It is written by hand because
// an exhaustive search sends a hundred thousand of them; goldens and a
// comparison with encoding/json pin its bytes. It is used by one goroutine.
type Encoder struct {
	// Chunks chooses chunkMatches over lineMatches.
	Chunks bool
	// MaxLineBytes cuts the lines of chunk content; 0 or negative is off.
	MaxLineBytes int
	// AroundMatches cuts them around their first match, and says so in cuts.
	AroundMatches bool
	// Now is the time that ages of commits are relative to.
	Now func() time.Time

	// maxTextBytes cuts the text of line matches, commits and owners; 0 is off.
	maxTextBytes int
	// repo is the repository whose members repoJSON holds: matches of one
	// repository come in runs.
	repo     *query.Repository
	repoJSON []byte
	lines    []Line
}

// Shrink gives up memory that the next match needs again.
func (e *Encoder) Shrink() { e.lines = nil }

// AppendPart appends a part of a divided match.
func (e *Encoder) AppendPart(dst []byte, m query.Match) []byte {
	whole := *e
	defer func() { e.MaxLineBytes, e.maxTextBytes = whole.MaxLineBytes, whole.maxTextBytes }()
	e.maxTextBytes = maxPartLineBytes
	if e.MaxLineBytes <= 0 || e.MaxLineBytes > maxPartLineBytes {
		e.MaxLineBytes = maxPartLineBytes
	}
	return e.Append(dst, m)
}

// Append appends m.
func (e *Encoder) Append(dst []byte, m query.Match) []byte {
	switch m := m.(type) {
	case *query.FileMatch:
		if len(m.Symbols) > 0 {
			return e.appendSymbols(dst, m)
		}
		if len(m.Chunks) > 0 {
			return e.appendContent(dst, m)
		}
		return e.appendPath(dst, m)
	case *query.CommitMatch:
		return e.appendCommit(dst, m)
	case *query.RepoMatch:
		return appendRepo(dst, m)
	case *query.OwnerMatch:
		return e.appendOwner(dst, m)
	}
	panic(fmt.Sprintf("event: no encoding for a match of type %T", m))
}

func (e *Encoder) appendContent(dst []byte, m *query.FileMatch) []byte {
	dst = append(dst, `{"type":"content"`...)
	dst = e.appendDocument(dst, m)
	dst = append(dst, `,"hunks":null`...)
	if e.Chunks {
		dst = e.appendChunks(dst, m.Chunks)
	} else {
		dst = e.appendLines(dst, m.Chunks)
	}
	return append(appendLanguage(dst, m), '}')
}

func (e *Encoder) appendPath(dst []byte, m *query.FileMatch) []byte {
	dst = append(dst, `{"type":"path"`...)
	dst = e.appendDocument(dst, m)
	return append(appendLanguage(dst, m), '}')
}

// appendDocument appends the members that say which document it is.
func (e *Encoder) appendDocument(dst []byte, m *query.FileMatch) []byte {
	dst = appendString(append(dst, `,"path":`...), m.Path)
	dst = appendRangesMember(dst, "pathMatches", m.PathRanges)
	if m.Repo != e.repo {
		e.repo = m.Repo
		e.repoJSON = appendRepoID(e.repoJSON[:0], m.Repo)
		e.repoJSON = appendRepoAge(e.repoJSON, m.Repo)
	}
	dst = append(dst, e.repoJSON...)
	dst = append(appendString(append(dst, `,"branches":[`...), m.Rev), ']')
	return appendStringMember(dst, "commit", m.Commit)
}

func appendLanguage(dst []byte, m *query.FileMatch) []byte {
	dst = appendStringMember(dst, "language", m.Language)
	return appendStringMember(dst, "debug", m.Debug)
}

func appendRepo(dst []byte, m *query.RepoMatch) []byte {
	r := m.Repo
	dst = append(dst, `{"type":"repo"`...)
	dst = appendRepoID(dst, r)
	dst = appendRangesMember(dst, "repositoryMatches", m.NameRanges)
	if m.HasRev {
		dst = append(appendString(append(dst, `,"branches":[`...), m.Rev), ']')
	}
	dst = appendRepoAge(dst, r)
	dst = appendStringMember(dst, "description", r.Description)
	dst = appendRangesMember(dst, "descriptionMatches", m.DescriptionRanges)
	dst = appendFlag(dst, "fork", r.Fork)
	dst = appendFlag(dst, "archived", r.Archived)
	dst = appendFlag(dst, "private", r.Private)
	dst = appendMetadata(dst, r.Metadata)
	dst = appendTopics(dst, r.Topics)
	return append(dst, '}')
}

func appendRepoID(dst []byte, r *query.Repository) []byte {
	dst = strconv.AppendUint(append(dst, `,"repositoryID":`...), uint64(r.ID), 10)
	return appendString(append(dst, `,"repository":`...), r.Name)
}

func appendRepoAge(dst []byte, r *query.Repository) []byte {
	if r.Stars != 0 {
		dst = strconv.AppendInt(append(dst, `,"repoStars":`...), int64(r.Stars), 10)
	}
	if !r.LastFetched.IsZero() {
		dst = append(dst, `,"repoLastFetched":"`...)
		dst = append(r.LastFetched.UTC().AppendFormat(dst, time.RFC3339Nano), '"')
	}
	return dst
}

// appendMetadata sorts the keys, so that a repository always reads the same.
func appendMetadata(dst []byte, metadata map[string]*string) []byte {
	if len(metadata) == 0 {
		return dst
	}
	keys := make([]string, 0, len(metadata))
	for k := range metadata {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	dst = append(dst, `,"metadata":{`...)
	for i, k := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, k), ':')
		if v := metadata[k]; v != nil {
			dst = appendString(dst, *v)
			continue
		}
		dst = append(dst, "null"...)
	}
	return append(dst, '}')
}

func appendTopics(dst []byte, topics []string) []byte {
	if len(topics) == 0 {
		return dst
	}
	dst = append(dst, `,"topics":[`...)
	for i, t := range topics {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, t)
	}
	return append(dst, ']')
}

func appendFlag(dst []byte, name string, set bool) []byte {
	if !set {
		return dst
	}
	return append(append(append(dst, `,"`...), name...), `":true`...)
}

// appendStringMember appends a member that is left out when empty.
func appendStringMember(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return appendString(dst, value)
}

// appendRangesMember appends a member that is left out when empty.
func appendRangesMember(dst []byte, name string, ranges []query.Range) []byte {
	if len(ranges) == 0 {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return appendRanges(dst, ranges)
}

func appendRanges(dst []byte, ranges []query.Range) []byte {
	dst = append(dst, '[')
	for i, r := range ranges {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendLocation(append(dst, `{"start":`...), r.Start)
		dst = append(appendLocation(append(dst, `,"end":`...), r.End), '}')
	}
	return append(dst, ']')
}

func appendLocation(dst []byte, l query.Location) []byte {
	dst = strconv.AppendUint(append(dst, `{"offset":`...), uint64(l.Offset), 10)
	dst = strconv.AppendUint(append(dst, `,"line":`...), uint64(l.Line), 10)
	dst = strconv.AppendUint(append(dst, `,"column":`...), uint64(l.Column), 10)
	return append(dst, '}')
}
