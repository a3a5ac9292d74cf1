package store

import (
	"strings"
	"time"
	"unique"
)

// Repository is the record of one repository: where it comes from, what is
// known about it, and the generation of it that is searched.
type Repository struct {
	// ID is stable and never used again after removal.
	ID uint32 `json:"id"`
	// Fork, Archived and Private are facts, set through ChangeFacts.
	Fork     bool `json:"fork,omitempty"`
	Archived bool `json:"archived,omitempty"`
	Private  bool `json:"private,omitempty"`
	// Mirror says that Source is a URL kept as a bare mirror in the data
	// directory.
	Mirror bool `json:"mirror,omitempty"`
	// Guarded says that Source was named over the API, by a user who need not
	// know this machine. It is reached only by HTTP, through a proxy that
	// judges addresses.
	Guarded bool `json:"guarded,omitempty"`
	// Named says that a site admin added it by its address: it stays when a service
	// that lists it as well does not any more.
	Named bool `json:"named,omitempty"`
	// BranchesLeftOut counts the branches that BranchGlobs ask for beyond
	// MaxBranches. Searches read them through git.
	BranchesLeftOut int32 `json:"branches_left_out,omitempty"`

	Name string `json:"name"`
	// Source is the path or URL as the user gave it.
	Source string `json:"source"`

	// Branches are the indexed branches; the first is the default branch, the
	// others follow by name. View.Away goes by their numbers. Empty until first
	// indexed and for a repository without commits.
	Branches []Branch `json:"branches,omitempty"`
	// Generation counts the switches of the searchable state; 0 is never.
	Generation uint64 `json:"generation,omitempty"`
	// Shards are those that hold live documents of this repository.
	Shards []uint32 `json:"shards,omitempty"`
	// Created is when the repository was added; zero for one added before that
	// was kept.
	Created time.Time `json:"created,omitzero"`
	// LastFetched is when the source was last looked at with success, as far as it
	// is written; Fetched knows better.
	LastFetched time.Time `json:"last_fetched,omitzero"`
	fetched     *fetchedAt
	// LastIndexed is when Generation was last switched.
	LastIndexed time.Time `json:"last_indexed,omitzero"`
	// LastError is why the last sync failed, empty after a success.
	LastError string `json:"last_error,omitempty"`

	// Admission names the rules under which the documents were taken in. With other
	// rules, or "", the next sync takes all of them in again.
	Admission string `json:"admission,omitempty"`

	// Documents, TextBytes and Skipped count the generation's documents, their
	// searchable text, and those whose content cannot be searched.
	Documents int   `json:"documents,omitempty"`
	TextBytes int64 `json:"text_bytes,omitempty"`
	Skipped   int   `json:"skipped,omitempty"`

	// History is the indexed part of its commits.
	History History `json:"history,omitzero"`

	// The other facts.

	// BranchGlobs say which branches are indexed beside the default branch, in
	// the syntax of git.RefGlob.
	BranchGlobs []string           `json:"branch_globs,omitempty"`
	Stars       int                `json:"stars,omitempty"`
	Description string             `json:"description,omitempty"`
	Topics      []string           `json:"topics,omitempty"`
	Metadata    map[string]*string `json:"metadata,omitempty"`

	// Origin is the repository at its code host, nil for one that no host lists, and
	// Gone since when the host does not list it any more: no search finds it then, and
	// only site admins see it, until it is removed or listed again. Only FollowHost
	// changes them, and the name and source of such a repository.
	Origin *Origin   `json:"origin,omitempty"`
	Gone   time.Time `json:"gone,omitzero"`

	// Readers may see the repository, as may site admins, and no other user;
	// nil is everyone. SetReaders and FollowHost change it.
	Readers *Readers `json:"readers,omitempty"`
}

// Branch is a branch and the commit of it that is indexed, in hex.
type Branch struct {
	Name   string `json:"name"`
	Commit string `json:"commit"`
}

// shareTexts makes r hold texts once that it has twice, or has like most others. A
// server holds a hundred thousand records in memory.
func (r *Repository) shareTexts() {
	if at := strings.Index(r.Source, r.Name); at >= 0 {
		r.Name = r.Source[at : at+len(r.Name)]
	}
	if r.History.Tip == r.Commit() {
		r.History.Tip = r.Commit()
	}
	if r.Origin != nil {
		o := *r.Origin // which an older record may hold, too
		o.Kind, o.URL = shared(o.Kind), shared(o.URL)
		r.Origin = &o
	}
	r.Admission, r.History.Depth = shared(r.Admission), shared(r.History.Depth)
}

// shareLists does the same in lists that no other record has.
func (r *Repository) shareLists() {
	for i := range r.Branches {
		r.Branches[i].Name = shared(r.Branches[i].Name)
	}
	for i := range r.Topics {
		r.Topics[i] = shared(r.Topics[i])
	}
}

func shared(s string) string { return unique.Make(s).Value() }

// Indexed reports whether the repository has a searchable generation.
func (r *Repository) Indexed() bool { return r.Generation > 0 }

// Commit returns the indexed commit of the default branch, or "".
func (r *Repository) Commit() string {
	if len(r.Branches) == 0 {
		return ""
	}
	return r.Branches[0].Commit
}
