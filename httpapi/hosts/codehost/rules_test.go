package codehost_test

import (
	"encoding/json"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

func TestRules(t *testing.T) {
	repo := codehost.Repository{ID: "7", NodeID: "R_x", Path: "lab/kiln", Stars: 12, Fork: true, Archived: true, Private: true, SizeBytes: 2e9, Topics: []string{"clay"}}
	other := codehost.Repository{ID: "8", Path: "lab/glaze"}
	for _, tt := range []struct {
		rule        string
		repo, other bool // which it applies to
	}{
		{`{"name": "Lab/Kiln"}`, true, false},
		{`{"id": 7}`, true, false},
		{`{"id": "R_x"}`, true, false},
		{`{"pattern": "^lab/k"}`, true, false},
		{`{"pattern": "^lab/"}`, true, true},
		{`{"archived": true}`, true, false},
		{`{"forks": true}`, true, false},
		{`{"private": true}`, true, false},
		{`{"topic": "clay"}`, true, false},
		{`{"size": "> 1 GB"}`, true, false},
		{`{"size": "<= 2000 MB"}`, true, true},
		{`{"size": ">= 2 GiB"}`, false, false},
		{`{"stars": "< 12"}`, false, true},
		// all that a rule says has to apply
		{`{"pattern": "^lab/", "stars": ">=12", "size": "> 1 KiB"}`, true, false},
	} {
		var rule codehost.Rule
		if err := json.Unmarshal([]byte(tt.rule), &rule); err != nil {
			t.Fatal(err)
		}
		include, err := codehost.CompileRules([]codehost.Rule{rule}, nil)
		if err != nil {
			t.Fatal(err)
		}
		exclude, err := codehost.CompileRules(nil, []codehost.Rule{rule})
		if err != nil {
			t.Fatal(err)
		}
		if include.Takes(&repo) != tt.repo || include.Takes(&other) != tt.other || exclude.Takes(&repo) == tt.repo || exclude.Takes(&other) == tt.other {
			t.Errorf("%s: includes %t and %t, excludes %t and %t; want %t and %t", tt.rule,
				include.Takes(&repo), include.Takes(&other), !exclude.Takes(&repo), !exclude.Takes(&other), tt.repo, tt.other)
		}
	}
	both, err := codehost.CompileRules([]codehost.Rule{{Pattern: "^lab/"}}, []codehost.Rule{{Forks: true}})
	if err != nil || both.Takes(&repo) || !both.Takes(&other) {
		t.Errorf("what is excluded is taken, or not all else: %v", err)
	}
}
