package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is a size. It prints as the largest binary unit that divides it.
type Bytes int64

// units are tried in order, so that a longer name comes before its suffix.
var units = []struct {
	name string
	size float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40},
	{"b", 1},
}

// ParseBytes reads a size such as 512MiB, 1.5 GiB, 64k or 4096. KB, MB, GB and
// TB are decimal, everything else is binary.
func ParseBytes(text string) (Bytes, error) {
	number, unit := strings.ToLower(strings.TrimSpace(text)), 1.0
	for _, u := range units {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(rest), u.size
			break
		}
	}
	// ParseFloat reads more than people mean by a number.
	if number == "" || strings.Trim(number, "0123456789.") != "" {
		return 0, notSize(text)
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || f*unit >= math.MaxInt64 {
		return 0, notSize(text)
	}
	return Bytes(f * unit), nil
}

func notSize(text string) error {
	return fmt.Errorf("%q is no size: write 512MiB, 2GiB or a number of bytes", text)
}

// String writes the size so that ParseBytes reads it back.
func (b Bytes) String() string {
	for i, unit := range []string{"TiB", "GiB", "MiB", "KiB"} {
		size := Bytes(1) << (10 * (4 - i))
		if b >= size && b%size == 0 {
			return strconv.FormatInt(int64(b/size), 10) + unit
		}
	}
	return strconv.FormatInt(int64(b), 10)
}
