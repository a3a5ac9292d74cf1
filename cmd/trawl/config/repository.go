package config

import (
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

// Repository is one entry of the list of repositories.
type Repository struct {
	Source ingest.Source
	// Facts are the facts that the entry states.
	Facts store.FactsChange
	// Readers are the readers of the repository, as identity.Registry reads
	// them; nil if the entry has none.
	Readers []string
}

// Readers are the readers of those repositories that have some, by name.
func Readers(repos []Repository) map[string][]string {
	out := map[string][]string{}
	for _, r := range repos {
		if r.Readers != nil {
			out[r.Source.Name] = r.Readers
		}
	}
	return out
}

func (f *File) repositories(n *yaml.Node) error {
	entries, err := f.list(repositoriesKey, n)
	if err != nil {
		return err
	}
	names := make(map[string]bool, len(entries))
	for _, e := range entries {
		r, err := f.repository(e)
		if err != nil {
			return err
		}
		if names[r.Source.Name] {
			return f.errorAt(e.Line, "there are two repositories called %q: give one of them another name", r.Source.Name)
		}
		names[r.Source.Name] = true
		f.Repositories = append(f.Repositories, r)
	}
	return nil
}

func (f *File) repository(n *yaml.Node) (Repository, error) {
	var r Repository
	var name, source string
	err := f.mapping(n, append([]string{"source", "name", readersKey}, facts...), func(key string, v *yaml.Node) (err error) {
		switch key {
		case "name":
			name, err = f.scalar(key, v)
		case "source":
			source, err = f.scalar(key, v)
		case readersKey:
			r.Readers, err = f.readers(v)
		default:
			err = f.fact(&r.Facts, key, v)
		}
		return err
	})
	if err != nil {
		return r, err
	}
	if source == "" {
		return r, f.errorAt(n.Line, "this repository has no source: give a path or a URL")
	}
	if r.Source, err = ingest.ParseSource(f.typed(name, source)); err != nil {
		return r, f.errorAt(n.Line, "%v", err)
	}
	if name != "" && r.Source.Name != name {
		return r, f.errorAt(n.Line, "%q cannot be the name of a repository: use letters, digits, dots, dashes and slashes", name)
	}
	return r, nil
}

// readersKey lists who may see a repository.
const readersKey = "readers"

// readers reads one reader or a list of them. The registry checks later whether
// they exist.
func (f *File) readers(n *yaml.Node) ([]string, error) {
	if n.Kind == yaml.ScalarNode && !isNull(n) {
		return []string{n.Value}, nil
	}
	list, err := f.texts(readersKey, n)
	if err == nil && len(list) == 0 {
		err = f.errorAt(n.Line, "readers: say who: everyone, nobody, or a list of user:NAME and org:NAME")
	}
	return list, err
}

// typed writes an entry as a person would on the command line, a relative path
// being one from the file's directory.
func (f *File) typed(name, source string) string {
	if s, err := ingest.ParseSource(source); err == nil && !s.Remote && !filepath.IsAbs(source) {
		source = filepath.Join(filepath.Dir(f.Path), source)
	}
	if name == "" {
		return source
	}
	return name + "=" + source
}

// texts reads a list of texts.
func (f *File) texts(key string, n *yaml.Node) ([]string, error) {
	entries, err := f.list(key, n)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		name, err := f.scalar(key, e)
		if err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, nil
}
