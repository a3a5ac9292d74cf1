package config

import "testing"

func TestMemTotal(t *testing.T) {
	for text, want := range map[string]int64{
		"MemFree: 1 kB\nMemTotal:       16316412 kB\nX: 2 kB\n": 16316412 << 10,
		"MemTotal: many kB\n": 0,
		"":                    0,
	} {
		if got := memTotal(text); got != want {
			t.Errorf("memTotal(%q): got %d, want %d", text, got, want)
		}
	}
	if memoryBytes() <= 0 {
		t.Error("memoryBytes: got nothing on a system that tells")
	}
}
