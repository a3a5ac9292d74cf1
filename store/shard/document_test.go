package shard_test

import (
	"slices"
	"testing"

	"github.com/trawlsearch/trawl/store/shard"
)

func TestRunsAndUnsearchable(t *testing.T) {
	var m shard.Memory
	for _, d := range []struct {
		repository uint32
		reason     shard.Reason
	}{{7, shard.Searchable}, {7, shard.ReasonBinary}, {3, shard.Searchable}, {7, shard.ReasonTooLarge}, {7, shard.Searchable}} {
		m.Add(shard.Document{Repository: d.repository, Path: "f", OID: make([]byte, 20), Reason: d.reason}, nil)
	}
	v, err := m.View()
	if err != nil {
		t.Fatal(err)
	}
	docs, err := v.Documents()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := docs.Runs(), []shard.Run{{7, 0, 2}, {3, 2, 3}, {7, 3, 5}}; !slices.Equal(got, want) {
		t.Errorf("runs %v, want %v", got, want)
	}
	if got, want := docs.Unsearchable(), []uint16{1, 3}; !slices.Equal(got, want) {
		t.Errorf("unsearchable %v, want %v", got, want)
	}
}
