package compress

import "testing"

func TestAccepts(t *testing.T) {
	tests := []struct {
		header string
		want   bool
	}{
		// named
		{"gzip", true},
		{"GZIP", true},
		{"x-gzip", true},
		{"br, gzip;q=0.5", true},
		{"deflate,gzip", true},
		{"gzip;q=nonsense", true},

		// refused
		{"", false},
		{"identity", false},
		{"br, deflate", false},
		{"gzip;q=0", false},
		{"gzip; q=0.0", false},

		// a wildcard stands for what is not named
		{"*", true},
		{"*;q=0", false},
		{"gzip;q=0, *", false},
		{"*, gzip;q=0", false},
		{"*;q=0, gzip", true},
	}
	for _, tt := range tests {
		if got := Accepts(tt.header); got != tt.want {
			t.Errorf("Accepts(%q) = %v, want %v", tt.header, got, tt.want)
		}
	}
}
