package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trawlsearch/trawl/store"
)

// plainFacts are the facts about a repository that are one value each.
var plainFacts = []string{"stars", "fork", "archived", "private", "description"}

// facts are the names of all facts.
var facts = append(slices.Clone(plainFacts), "topics", "branches", "metadata")

// setPlainFact reads the value of one of plainFacts into c.
func setPlainFact(c *store.FactsChange, name, text string) error {
	switch name {
	case "stars":
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return fmt.Errorf("stars: %q is no number of stars: write 0 or more", text)
		}
		c.Stars = &n
		return nil
	case "description":
		c.Description = &text
		return nil
	}
	var yes bool
	switch strings.ToLower(text) {
	case "true", "yes":
		yes = true
	case "false", "no":
	default:
		return fmt.Errorf("%s: %q is neither true nor false", name, text)
	}
	switch name {
	case "fork":
		c.Fork = &yes
	case "archived":
		c.Archived = &yes
	case "private":
		c.Private = &yes
	}
	return nil
}

// metadataPrefix begins the name of one key of the metadata.
const metadataPrefix = "metadata."

// SetFact adds to c a fact as it is typed: stars=41, topics=a,b,
// metadata.team=kiln, or metadata.legacy for a tag, which has no value.
func SetFact(c *store.FactsChange, typed string) error {
	name, text, hasValue := strings.Cut(typed, "=")
	switch {
	case strings.HasPrefix(name, metadataPrefix):
		return setMetadata(c, name[len(metadataPrefix):], text)
	case !slices.Contains(facts, name):
		return unknownFact(name)
	case name == "metadata":
		return fmt.Errorf("metadata: name the key, as in %steam=kiln", metadataPrefix)
	case !hasValue:
		return fmt.Errorf("%s: give a value, as in %s=…, or take it away with --unset %s", name, name, name)
	case name == "topics":
		c.Topics = commaList(text)
		return nil
	case name == "branches":
		c.Branches = commaList(text)
		return nil
	}
	return setPlainFact(c, name, text)
}

// commaList reads texts between commas.
func commaList(text string) *[]string {
	out := []string{}
	for t := range strings.SplitSeq(text, ",") {
		if t = strings.TrimSpace(t); t != "" {
			out = append(out, t)
		}
	}
	return &out
}

func setMetadata(c *store.FactsChange, key, value string) error {
	if key == "" {
		return fmt.Errorf("metadata: name the key, as in %steam=kiln", metadataPrefix)
	}
	if c.Metadata == nil {
		c.Metadata = map[string]*string{}
	}
	c.Metadata[key] = nil
	if value != "" {
		c.Metadata[key] = &value
	}
	return nil
}

// UnsetFact adds to c that a fact is to be taken away: a plain one gets its
// zero value, metadata loses all keys and metadata.team that one.
func UnsetFact(c *store.FactsChange, name string) error {
	switch {
	case strings.HasPrefix(name, metadataPrefix):
		c.RemoveMetadata = append(c.RemoveMetadata, name[len(metadataPrefix):])
	case name == "metadata":
		c.ClearMetadata = true
	case name == "topics":
		c.Topics = &[]string{}
	case name == "branches":
		c.Branches = &[]string{}
	case name == "stars":
		return setPlainFact(c, name, "0")
	case name == "description":
		return setPlainFact(c, name, "")
	case slices.Contains(facts, name):
		return setPlainFact(c, name, "false")
	default:
		return unknownFact(name)
	}
	return nil
}

func unknownFact(name string) error {
	if near := nearest(name, facts); near != "" {
		return fmt.Errorf("unknown fact %q: did you mean %q?", name, near)
	}
	return fmt.Errorf("unknown fact %q: known are %s", name, strings.Join(facts, ", "))
}

// fact reads a fact of an entry of the file.
func (f *File) fact(c *store.FactsChange, name string, n *yaml.Node) error {
	switch name {
	case "topics":
		topics, err := f.texts(name, n)
		c.Topics = &topics
		return err
	case "branches":
		globs, err := f.texts(name, n)
		c.Branches = &globs
		return err
	case "metadata":
		c.ClearMetadata = true
		return f.metadata(c, n)
	}
	text, err := f.scalar(name, n)
	if err != nil {
		return err
	}
	if err := setPlainFact(c, name, text); err != nil {
		return f.errorAt(n.Line, "%v", err)
	}
	return nil
}

// metadata reads keys of the user's choice; one without a value is a tag.
func (f *File) metadata(c *store.FactsChange, n *yaml.Node) error {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return f.errorAt(n.Line, "metadata: expected keys with values, such as team: kiln")
	}
	c.Metadata = map[string]*string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := resolve(n.Content[i]), resolve(n.Content[i+1])
		if key.Kind != yaml.ScalarNode || key.Value == "" {
			return f.errorAt(key.Line, "metadata: this key is no text")
		}
		if _, ok := c.Metadata[key.Value]; ok {
			return f.errorAt(key.Line, "metadata: %q stands here twice", key.Value)
		}
		c.Metadata[key.Value] = nil
		if isNull(value) {
			continue
		}
		text, err := f.scalar("metadata", value)
		if err != nil {
			return err
		}
		c.Metadata[key.Value] = &text
	}
	return nil
}
