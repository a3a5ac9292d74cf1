package web_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// luminance is that of a colour "#rrggbb" or "#rgb", as WCAG has it.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	if len(colour) == len("#rgb") {
		colour = string([]byte{'#', colour[1], colour[1], colour[2], colour[2], colour[3], colour[3]})
	}
	n, err := strconv.ParseUint(colour[1:], 16, 32)
	if err != nil || len(colour) != len("#rrggbb") {
		t.Fatalf("%q is no colour", colour)
	}
	sum := 0.0
	for shift, share := range map[int]float64{16: 0.2126, 8: 0.7152, 0: 0.0722} {
		v := float64(n>>shift&0xff) / 255
		if v <= 0.03928 {
			sum += share * v / 12.92
			continue
		}
		sum += share * math.Pow((v+0.055)/1.055, 2.4)
	}
	return sum
}

// Code can be read on all grounds that its lines have: those of a file, and those of lines
// of a diff that came and went.
func TestCodeContrast(t *testing.T) {
	style, err := os.ReadFile("assets/style.css")
	if err != nil {
		t.Fatal(err)
	}
	colours := map[string][2]string{}
	for _, m := range regexp.MustCompile(`--([\w-]+):light-dark\((#\w+),(#\w+)\)`).FindAllSubmatch(style, -1) {
		colours[string(m[1])] = [2]string{string(m[2]), string(m[3])}
	}
	for _, ink := range []string{"ink", "dim", "good", "bad", "code-c", "code-p", "code-k", "code-t", "code-s", "code-n", "code-f"} {
		for _, ground := range []string{"ground", "sheet", "plus", "minus"} {
			for mode, name := range []string{"light", "dark"} {
				if colours[ink][mode] == "" || colours[ground][mode] == "" {
					t.Fatalf("style.css has no --%s or no --%s", ink, ground)
				}
				a, b := luminance(t, colours[ink][mode]), luminance(t, colours[ground][mode])
				if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 4.5 {
					t.Errorf("%s: --%s on --%s has a contrast of %.2f, want 4.5", name, ink, ground, ratio)
				}
			}
		}
	}
}
