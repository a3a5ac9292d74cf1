package code

import "testing"

func TestSubmoduleURL(t *testing.T) {
	const text = "[submodule \"clay\"]\n\tpath = vendor/clay\n\turl = https://example.org/clay.git\n" +
		"[submodule \"first\"]\n\tURL=../first.git\n\tbranch = main\n\tpath=first\n" +
		"[submodule \"none\"]\n\tpath = none\n" +
		"[submodule \"odd\"]\r\n\tpath = \"a \\\"b\\\"\"\r\n\turl = \"git@example.org:odd.git\"\r\n" +
		"[submodule \"twice\"]\n\tpath = twice\n\turl = one\n[submodule \"twice\"]\n\tpath = twice\n\turl = two\n" +
		"[submodule \"told\"] ; of what\n\tpath = told # here\n\turl = \"https://example.org/#\"a#b\n\tignore\n[core]\n\tpath = core\n\turl = core\n[submodule]\n\tpath = bare\n\turl = bare\n"
	for path, want := range map[string]string{
		"vendor/clay": "https://example.org/clay.git", "first": "../first.git", "none": "", `a "b"`: "git@example.org:odd.git", "twice": "two", "": "", "clay": "",
		"told": "https://example.org/#a", "core": "", "bare": "",
	} {
		if got := submoduleURL([]byte(text), path); got != want {
			t.Errorf("%q comes from %q, want %q", path, got, want)
		}
	}
}

// A text that git would not read says what stands before its mistake.
func TestSubmoduleURLOfABrokenText(t *testing.T) {
	const text = "[submodule \"a\"]\n\tpath = a\n\turl = first\n[submodule \"b\n\tpath = b\n\turl = second\n"
	if a, b := submoduleURL([]byte(text), "a"), submoduleURL([]byte(text), "b"); a != "first" || b != "" {
		t.Errorf("a comes from %q, b from %q", a, b)
	}
}

func FuzzSubmoduleURL(f *testing.F) {
	f.Add([]byte("[submodule \"a\"]\n\tpath = a\n\turl = \"b\\\"\"\n"), "a")
	f.Add([]byte("[\"]\\=\r\n;#"), "")
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		if url := submoduleURL(text, path); len(url) > 3*len(text) {
			t.Errorf("%d bytes are an address of %d", len(text), len(url))
		}
	})
}
