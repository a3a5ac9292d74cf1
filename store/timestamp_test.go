package store

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// TestTimestamp: a record reads the same with a Timestamp as with a time.Time.
func TestTimestamp(t *testing.T) {
	type record struct {
		At time.Time `json:"at,omitzero"`
	}
	type small struct {
		At Timestamp `json:"at,omitzero"`
	}
	for _, at := range []time.Time{{}, time.Unix(0, 1).UTC(), time.Date(2026, 11, 28, 9, 30, 0, 123456789, time.UTC)} {
		want, err := json.Marshal(record{at})
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(small{TimestampOf(at)})
		if err != nil || string(got) != string(want) {
			t.Errorf("%v is written %s, want %s (%v)", at, got, want, err)
		}
		var back small
		if err := json.Unmarshal(want, &back); err != nil || back.At.Time() != at {
			t.Errorf("%s is read as %v (%v)", want, back.At.Time(), err)
		}
	}
	if got := TimestampOf(time.Unix(-5, 0)); got != 0 {
		t.Errorf("a time before 1970 is %d, want none", got)
	}
	var back small
	for _, wrong := range []string{`{"at":"yesterday"}`, `{"at":5}`} {
		if err := json.Unmarshal([]byte(wrong), &back); err == nil {
			t.Errorf("%s is read as %v", wrong, back.At.Time())
		}
	}
}

// TestRecordIsSmall: a server keeps a hundred thousand records. Beyond 512 bytes the
// allocator gives each 576, and BenchmarkCatalogueMemory reports more than 1 kB.
func TestRecordIsSmall(t *testing.T) {
	if size := reflect.TypeFor[Repository]().Size(); size > 512 {
		t.Errorf("a record takes %d bytes, want at most 512", size)
	}
}
