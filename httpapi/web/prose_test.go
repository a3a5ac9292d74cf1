package web

import "testing"

func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "one": "<p>one</p>", "one\n\ntwo\n": "<p>one</p><p>two</p>",
		"say `a<b` or `c`":     "<p>say <code>a&lt;b</code> or <code>c</code></p>",
		"of\n* `a`\n* b\nlast": "<p>of</p><ul><li><code>a</code></li><li>b</li></ul><p>last</p>",
		"* x":                  "<ul><li>x</li></ul>", "an open `tick": "<p>an open <code>tick</code></p>",
		"<script>`<i>`": "<p>&lt;script&gt;<code>&lt;i&gt;</code></p>", "*not a list": "<p>*not a list</p>",
	} {
		if got := string(prose(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
