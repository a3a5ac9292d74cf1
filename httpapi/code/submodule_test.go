package code

import "testing"

func TestSubmoduleURL(t *testing.T) {
	const text = "[submodule \"clay\"]\n\tpath = vendor/clay\n\turl = https://example.org/clay.git\n" +
		"[submodule \"first\"]\n\tURL=../first.git\n\tbranch = main\n\tpath=first\n" +
		"[submodule \"none\"]\n\tpath = none\n" +
		"[submodule \"odd\"]\r\n\tpath = \"a \\\"b\\\"\"\r\n\turl = \"git@example.org:odd.git\"\r\n" +
		"[submodule \"twice\"]\n\tpath = twice\n\turl = one\n[submodule \"twice\"]\n\tpath = twice\n\turl = two"
	for path, want := range map[string]string{
		"vendor/clay": "https://example.org/clay.git", "first": "../first.git", "none": "", `a "b"`: "git@example.org:odd.git", "twice": "two", "": "", "clay": "",
	} {
		if got := submoduleURL([]byte(text), path); got != want {
			t.Errorf("%q comes from %q, want %q", path, got, want)
		}
	}
}
