package config_test

import (
	"reflect"
	"testing"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/store"
)

func TestTypedFacts(t *testing.T) {
	for _, c := range []struct {
		set, unset []string
		want       store.FactsChange
	}{
		// one value each
		{[]string{"stars=41"}, nil, store.FactsChange{Stars: to(41)}},
		{[]string{"fork=true", "archived=no", "private=Yes"}, nil, store.FactsChange{Fork: to(true), Archived: to(false), Private: to(true)}},
		{[]string{"description=a=b, c"}, nil, store.FactsChange{Description: to("a=b, c")}},
		{[]string{"description="}, nil, store.FactsChange{Description: to("")}},

		// several
		{[]string{"topics=clay, kiln-control,"}, nil, store.FactsChange{Topics: &[]string{"clay", "kiln-control"}}},
		{[]string{"branches=release/*, v2"}, nil, store.FactsChange{Branches: &[]string{"release/*", "v2"}}},
		{nil, []string{"branches"}, store.FactsChange{Branches: &[]string{}}},
		{[]string{"topics="}, nil, store.FactsChange{Topics: &[]string{}}},
		{[]string{"metadata.team=kiln", "metadata.a.b=c=d", "metadata.legacy", "metadata.old="}, nil,
			store.FactsChange{Metadata: map[string]*string{"team": to("kiln"), "a.b": to("c=d"), "legacy": nil, "old": nil}}},

		// taken away
		{nil, []string{"stars", "fork", "archived", "private", "description", "topics", "metadata"}, store.FactsChange{
			Stars: to(0), Fork: to(false), Archived: to(false), Private: to(false), Description: to(""), Topics: &[]string{}, ClearMetadata: true}},
		{[]string{"metadata.a=b"}, []string{"metadata.c", "metadata.d.e"},
			store.FactsChange{RemoveMetadata: []string{"c", "d.e"}, Metadata: map[string]*string{"a": to("b")}}},
	} {
		var got store.FactsChange
		for _, typed := range c.set {
			if err := config.SetFact(&got, typed); err != nil {
				t.Errorf("set %q: %v", typed, err)
			}
		}
		for _, name := range c.unset {
			if err := config.UnsetFact(&got, name); err != nil {
				t.Errorf("unset %q: %v", name, err)
			}
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("set %q, unset %q:\n got %+v\nwant %+v", c.set, c.unset, got, c.want)
		}
	}
}

func TestTypedFactErrors(t *testing.T) {
	for typed, want := range map[string]string{
		"star=1":     `unknown fact "star": did you mean "stars"?`,
		"licence=no": `unknown fact "licence": known are stars, fork, archived, private, description, topics, branches, metadata`,
		"":           `unknown fact "": known are stars, fork, archived, private, description, topics, branches, metadata`,
		"stars":      "stars: give a value, as in stars=…, or take it away with --unset stars",
		"stars=1.5":  `stars: "1.5" is no number of stars: write 0 or more`,
		"stars=-1":   `stars: "-1" is no number of stars: write 0 or more`,
		"fork=1":     `fork: "1" is neither true nor false`,
		"metadata=a": "metadata: name the key, as in metadata.team=kiln",
		"metadata.":  "metadata: name the key, as in metadata.team=kiln",
	} {
		if err := config.SetFact(&store.FactsChange{}, typed); err == nil || err.Error() != want {
			t.Errorf("set %q: got %v, want %s", typed, err, want)
		}
	}
	if err := config.UnsetFact(&store.FactsChange{}, "topic"); err == nil || err.Error() != `unknown fact "topic": did you mean "topics"?` {
		t.Errorf("unset topic: got %v", err)
	}
}
