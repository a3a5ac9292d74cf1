package config

import (
	"fmt"
	"strings"
)

// Markdown returns the table of all settings as it stands in docs/configure.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| setting | default | live | what it does |\n|---|---|---|---|\n")
	for _, k := range All() {
		def := k.Default
		if !strings.Contains(def, " ") {
			def = "`" + def + "`"
		}
		live := ""
		if k.Live() {
			live = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Name, def, live, k.About)
	}
	return b.String()
}
