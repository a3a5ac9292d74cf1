package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/redact"
)

// repositoryData is what the page of a repository shows.
type repositoryData struct {
	frame
	Row repositoryRow
	// Sync is about its syncs.
	Sync syncView
	// Host is where its code host has it, "" if no host keeps it; HostReaders says that
	// the host names its readers, too, and Gone that it does not list it any more.
	Host              string
	HostReaders, Gone bool
	Facts             factsForm
	// FactsWere and ReadersWere stand for what is there: a form that was filled in over
	// another state is not taken.
	FactsWere, ReadersWere string
	Metadata               []metadataRow
	MoreMetadata           int
	// Key and Value are what was filled in for the metadata.
	Key, Value string
	// Readers is what was filled in, or who may see the repository.
	Readers string
	// Declared are the readers that the configuration file names, nil for none.
	Declared []string
	// Long says which forms are not there, since what they would hold is too long for one.
	LongFacts, LongReaders bool
	// List is the path of the list.
	List string

	filled filledRepository
}

// filledRepository says which form of the page was filled in.
type filledRepository byte

const (
	factsFilled filledRepository = 1 + iota
	metadataFilled
	readersFilled
)

// factsForm is what is filled in about facts, lists with one entry a line.
type factsForm struct {
	Stars, Description, Topics, Branches string
	Fork, Archived, Private              bool
}

// metadataRow is a key with its value; a tag has none.
type metadataRow struct {
	Key, Value string
	Tag        bool
}

func newFactsForm(r *store.Repository) factsForm {
	return factsForm{
		Stars: strconv.Itoa(r.Stars), Description: r.Description, Topics: strings.Join(r.Topics, "\n"), Branches: strings.Join(r.BranchGlobs, "\n"),
		Fork: r.Fork, Archived: r.Archived, Private: r.Private,
	}
}

// markOf stands for a text.
func markOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// factsMark stands for what the form of the facts of r has.
func factsMark(r *store.Repository) string {
	f := newFactsForm(r)
	if r.Origin != nil {
		f = factsForm{Branches: f.Branches}
	}
	return markOf(fmt.Sprintf("%+v", f))
}

// unchanged refuses a form that was filled in over something else than what there is now,
// which would put back what another site admin has changed.
func (v *visit) unchanged(now string) error {
	if was, ok := v.form.Values["was"]; ok && was != now {
		return &identity.RuleError{Text: "This was changed meanwhile. The page shows what is there now: change it again"}
	}
	return nil
}

// mostFormBytes is how much a form may hold before it is changed: forms are bounded as
// they are sent.
const mostFormBytes = 10 << 10

func tooLong(texts ...string) bool {
	return len(url.QueryEscape(strings.Join(texts, ""))) > mostFormBytes
}

// errNoRepository is the answer if there is none with the number of the path.
var errNoRepository = &httpapi.Error{Status: http.StatusNotFound, Message: "there is no such repository"}

// repository finds the one of the path.
func (v *visit) repository() (*store.Repository, error) {
	if v.Repositories == nil {
		return nil, errOpening
	}
	all, err := v.Repositories.List(v.r.Context())
	if err != nil {
		return nil, err
	}
	id := v.number()
	i := slices.IndexFunc(all, func(r *store.Repository) bool { return r.ID == id })
	if i < 0 {
		return nil, errNoRepository
	}
	return all[i], nil
}

func (d *repositoryData) fill(v *visit) error {
	r, err := v.repository()
	if err != nil {
		return err
	}
	if d.Row, err = newRepositoryRow(v, r); err != nil {
		return err
	}
	d.Sync = newSyncView(v, r)
	d.List = v.area.Server.Path(repositoriesPath)
	if o := r.Origin; o != nil {
		d.Host, d.HostReaders, d.Gone = brief(redact.URL(r.Source)), o.Readers, r.IsGone()
	}
	facts := newFactsForm(r)
	d.FactsWere = factsMark(r)
	switch {
	case d.filled != factsFilled:
		d.Facts = facts
	case d.Host != "":
		facts.Branches = d.Facts.Branches
		d.Facts = facts
	}
	d.LongFacts = tooLong(facts.Description, facts.Topics, facts.Branches)
	keys, more := few(slices.Sorted(maps.Keys(r.Metadata)))
	d.MoreMetadata = more
	for _, key := range keys {
		row := metadataRow{Key: key, Tag: r.Metadata[key] == nil}
		if !row.Tag {
			row.Value = brief(*r.Metadata[key])
		}
		d.Metadata = append(d.Metadata, row)
	}
	names, err := v.Registry.FormatReaders(r.Readers)
	if err != nil {
		return err
	}
	text := strings.Join(names, "\n")
	d.ReadersWere = markOf(text)
	d.LongReaders = tooLong(text)
	if d.filled != readersFilled {
		d.Readers = text
	}
	d.Declared, _ = few(v.Registry.DeclaredReaders(r.Name))
	return nil
}

// syncNow has the repository synced soon.
func syncNow(v *visit) (answer, error) {
	r, err := v.repository()
	if err != nil {
		return answer{}, err
	}
	return answer{did: "sync"}, v.SyncRepository(v.r.Context(), r.Name)
}

// reindex has all of the repository read again.
func reindex(v *visit) (answer, error) {
	r, err := v.repository()
	if err != nil {
		return answer{}, err
	}
	return answer{did: "reindex"}, v.ReindexRepository(r.Name)
}

// lines are the texts of a form that has one a line.
func lines(text string) []string {
	out := []string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// readFacts reads the form of the facts of r. A text that the form does not have stays.
func (v *visit) readFacts(r *store.Repository) factsForm {
	f := newFactsForm(r)
	for name, text := range map[string]*string{"stars": &f.Stars, "description": &f.Description, "topics": &f.Topics, "branches": &f.Branches} {
		if filled, ok := v.form.Values[name]; ok {
			*text = unbroken(filled)
		}
	}
	f.Fork, f.Archived, f.Private = v.form.Values["fork"] != "", v.form.Values["archived"] != "", v.form.Values["private"] != ""
	return f
}

// changeFacts changes the facts that were filled in otherwise than they are. Of one that
// a code host keeps, the form has the branches only.
func changeFacts(v *visit) (answer, error) {
	r, err := v.repository()
	if err != nil {
		return answer{}, err
	}
	if err := v.unchanged(factsMark(r)); err != nil {
		return answer{}, err
	}
	f := v.readFacts(r)
	d := &repositoryData{Facts: f, filled: factsFilled}
	var c store.FactsChange
	if branches := lines(f.Branches); !slices.Equal(branches, r.BranchGlobs) {
		c.Branches = &branches
	}
	if r.Origin == nil {
		if err := f.change(r, &c); err != nil {
			return answer{data: d}, err
		}
	}
	if !c.Empty() {
		err = v.EditFacts(v.r.Context(), r, c)
	}
	return answer{did: "saved", data: filledIf(d, err)}, err
}

// filledIf is the page that shows what was filled in, if it was not taken.
func filledIf(d *repositoryData, err error) content {
	if err == nil {
		return nil
	}
	return d
}

// unbroken undoes what browsers do to ends of lines.
func unbroken(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// change adds to c what was filled in otherwise than r is.
func (f factsForm) change(r *store.Repository, c *store.FactsChange) error {
	stars, err := strconv.Atoi(strings.TrimSpace(f.Stars))
	if err != nil {
		return &identity.RuleError{Text: "Stars: " + strconv.Quote(brief(f.Stars)) + " is no number"}
	}
	if topics := lines(f.Topics); !slices.Equal(topics, r.Topics) {
		c.Topics = &topics
	}
	differ(&c.Stars, r.Stars, stars)
	differ(&c.Description, r.Description, f.Description)
	differ(&c.Fork, r.Fork, f.Fork)
	differ(&c.Archived, r.Archived, f.Archived)
	differ(&c.Private, r.Private, f.Private)
	return nil
}

func differ[T comparable](to **T, from, value T) {
	if from != value {
		*to = &value
	}
}

// putMetadata adds a key, or changes its value; without a value it is a tag.
func putMetadata(v *visit) (answer, error) {
	r, err := v.repository()
	if err != nil {
		return answer{}, err
	}
	d := &repositoryData{Key: v.value("key"), Value: v.value("value"), filled: metadataFilled}
	var value *string
	if d.Value != "" {
		value = &d.Value
	}
	_, there := r.Metadata[d.Key]
	err = v.PutMetadata(v.r.Context(), r, d.Key, value, there)
	return answer{did: "saved", data: filledIf(d, err)}, err
}

// removeMetadata takes a key away.
func removeMetadata(v *visit) (answer, error) {
	r, err := v.repository()
	if err != nil {
		return answer{}, err
	}
	return answer{did: "saved"}, v.RemoveMetadata(v.r.Context(), r, v.form.Values["key"])
}

// changeReaders says who may see the repository.
func changeReaders(v *visit) (answer, error) {
	r, err := v.repository()
	if err != nil {
		return answer{}, err
	}
	names, err := v.Registry.FormatReaders(r.Readers)
	if err != nil {
		return answer{}, err
	}
	if err := v.unchanged(markOf(strings.Join(names, "\n"))); err != nil {
		return answer{}, err
	}
	d := &repositoryData{Readers: unbroken(v.form.Values["readers"]), filled: readersFilled}
	err = v.SetReaders(r, lines(d.Readers))
	return answer{did: "readers", data: filledIf(d, err)}, err
}
