package store_test

import (
	"slices"
	"testing"

	"github.com/trawlsearch/trawl/store"
)

func TestRunsAndUnsearchable(t *testing.T) {
	var m store.MemoryShard
	for _, d := range []struct {
		repository uint32
		reason     store.Reason
	}{{7, store.Searchable}, {7, store.ReasonBinary}, {3, store.Searchable}, {7, store.ReasonTooLarge}, {7, store.Searchable}} {
		m.Add(store.Document{Repository: d.repository, Path: "f", OID: make([]byte, 20), Reason: d.reason}, nil)
	}
	v, err := m.View()
	if err != nil {
		t.Fatal(err)
	}
	docs, err := v.Documents()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := docs.Runs(), []store.Run{{7, 0, 2}, {3, 2, 3}, {7, 3, 5}}; !slices.Equal(got, want) {
		t.Errorf("runs %v, want %v", got, want)
	}
	if got, want := docs.Unsearchable(), []uint16{1, 3}; !slices.Equal(got, want) {
		t.Errorf("unsearchable %v, want %v", got, want)
	}
}
