package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/httpapi/oidc"
)

// File is a configuration file that was read. Its values are not parsed yet.
type File struct {
	Path         string
	Repositories []Repository
	// CodeHosts are external services that the file declares.
	CodeHosts []CodeHost
	// RateLimits are those of GraphQL requests; 0 is the default.
	RateLimits cost.Limits
	// Backup is nil if the file has none.
	Backup *Backup
	// Providers are the services that people sign in at.
	Providers []oidc.Provider

	values map[string]value
}

// value is a scalar of the file.
type value struct {
	text string
	line int
}

// repositoriesKey, codeHostsKey, rateLimitsKey, backupKey and oidcKey are the keys whose values are not
// scalars.
const repositoriesKey = "repositories"

// ReadFile reads the configuration file at path.
func ReadFile(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	return ParseFile(path, data)
}

// ParseFile reads the text of a configuration file. Paths in it are relative
// to its directory. An unknown key, one that stands twice, and a value of the
// wrong kind are errors.
func ParseFile(path string, data []byte) (*File, error) {
	f := &File{Path: path, values: map[string]value{}}
	var doc, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return f, nil
	case err != nil:
		return nil, f.syntaxError(err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, f.errorAt(more.Line, "the file holds more than one document; keep one")
	}
	root := resolve(doc.Content[0])
	if isNull(root) {
		return f, nil
	}
	err := f.mapping(root, known(), func(key string, v *yaml.Node) error {
		switch key {
		case repositoriesKey:
			return f.repositories(v)
		case codeHostsKey:
			return f.codeHosts(v)
		case rateLimitsKey:
			return f.rateLimits(v)
		case backupKey:
			return f.backup(v)
		case oidcKey:
			return f.providers(v)
		}
		text, err := f.scalar(key, v)
		switch key {
		case "data", "authority-password-file", "objects", "secrets-key-file", "smtp-password-file":
			text = f.relative(text)
		}
		f.values[key] = value{text, v.Line}
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// known returns the keys of the file.
func known() []string {
	keys := []string{repositoriesKey, codeHostsKey, rateLimitsKey, backupKey, oidcKey}
	for _, k := range All() {
		keys = append(keys, k.Name)
	}
	return keys
}

// mapping calls each with the entries of n, whose keys are among known.
func (f *File) mapping(n *yaml.Node, known []string, each func(key string, v *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return f.errorAt(n.Line, "expected keys with values, such as %s: …", known[0])
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := resolve(n.Content[i])
		if key.Kind != yaml.ScalarNode || !slices.Contains(known, key.Value) {
			return f.unknown(n.Content[i].Line, key.Value, known)
		}
		if first, ok := seen[key.Value]; ok {
			return f.errorAt(key.Line, "%s stands here again, it is in line %d already", key.Value, first)
		}
		seen[key.Value] = key.Line
		if err := each(key.Value, resolve(n.Content[i+1])); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) unknown(line int, key string, known []string) error {
	if near := nearest(key, known); near != "" {
		return f.errorAt(line, "unknown key %q: did you mean %q?", key, near)
	}
	return f.errorAt(line, "unknown key %q: known are %s", key, strings.Join(known, ", "))
}

func (f *File) scalar(key string, n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || isNull(n) {
		return "", f.errorAt(n.Line, "%s: expected one value; give one or remove the key", key)
	}
	return n.Value, nil
}

func (f *File) list(key string, n *yaml.Node) ([]*yaml.Node, error) {
	if isNull(n) {
		return nil, nil
	}
	if n.Kind != yaml.SequenceNode {
		return nil, f.errorAt(n.Line, "%s: expected a list, each entry behind a dash", key)
	}
	out := make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		out[i] = resolve(c)
	}
	return out, nil
}

// resolve follows an alias to what it stands for.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func (f *File) errorAt(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", f.Path, line, fmt.Sprintf(format, args...))
}

// yamlLine matches the line number in the parser's errors.
var yamlLine = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)

func (f *File) syntaxError(err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n")
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		if line, err := strconv.Atoi(m[1]); err == nil {
			return f.errorAt(line, "not YAML: %s", m[2])
		}
	}
	return fmt.Errorf("%s: not YAML: %s", f.Path, strings.TrimPrefix(text, "yaml: "))
}
