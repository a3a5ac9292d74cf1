package print

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// IndentedJSON returns a JSON value over several lines, with a newline behind it.
// With color, names and texts are told apart; with terminal, texts do nothing to a
// terminal.
func IndentedJSON(raw []byte, color, terminal bool) ([]byte, error) {
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(raw), "", "  "); err != nil {
		return nil, fmt.Errorf("read an answer that is no JSON: %w", err)
	}
	out.WriteByte('\n')
	text := out.Bytes()
	if terminal {
		text = HarmlessJSON(text)
	}
	if color {
		text = colorJSON(text)
	}
	return text, nil
}

// colorJSON colours the texts of valid JSON: names, which a colon follows, and values.
func colorJSON(text []byte) []byte {
	var out []byte
	for len(text) > 0 {
		start := bytes.IndexByte(text, '"')
		if start < 0 {
			return append(out, text...)
		}
		end := stringEnd(text, start)
		style := styleNumber
		if bytes.HasPrefix(text[end:], []byte{':'}) {
			style = stylePath
		}
		out = append(append(out, text[:start]...), style...)
		out = append(append(out, text[start:end]...), styleReset...)
		text = text[end:]
	}
	return out
}

// stringEnd is where the string ends whose first quote is at start.
func stringEnd(text []byte, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
