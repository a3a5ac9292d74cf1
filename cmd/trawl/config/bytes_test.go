package config_test

import (
	"testing"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
)

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]config.Bytes{
		// numbers
		"0": 0, "4096": 4096, "12b": 12,
		// binary, with and without the i
		"1KiB": 1 << 10, "64k": 64 << 10, "512MiB": 512 << 20, "2g": 2 << 30, "1TiB": 1 << 40,
		// decimal
		"1KB": 1000, "5MB": 5e6, "1GB": 1e9,
		// as people write
		" 1.5 GiB ": 3 << 29, "2GIB": 2 << 30,
	} {
		if got, err := config.ParseBytes(text); got != want || err != nil {
			t.Errorf("ParseBytes(%q): got %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1e9", "0x10", "1 2", "1..2", "inf", "99999999999TiB", "1MiBs", "1_000"} {
		if got, err := config.ParseBytes(text); err == nil {
			t.Errorf("ParseBytes(%q): got %d, want an error", text, got)
		}
	}
}

func TestBytesString(t *testing.T) {
	for b, want := range map[config.Bytes]string{0: "0", 1: "1", 1000: "1000", 1 << 10: "1KiB", 3 << 19: "1536KiB", 512 << 20: "512MiB", 1 << 40: "1TiB"} {
		if got := b.String(); got != want {
			t.Errorf("%d: got %q, want %q", int64(b), got, want)
		}
		if back, err := config.ParseBytes(want); back != b || err != nil {
			t.Errorf("ParseBytes(%q): got %d, %v; want %d back", want, back, err, int64(b))
		}
	}
}
