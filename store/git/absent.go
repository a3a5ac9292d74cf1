package git

import (
	"regexp"
	"strings"
)

// absent reports, of each revision, whether it surely names nothing: it is a plain
// name of a ref, and there is none in any of the places where git looks for that. It
// takes no process. Of what is not in plain files, and where there is no repository,
// nothing is sure.
func (g *runner) absent(revs []string) []bool {
	out := make([]bool, len(revs))
	files, err := g.refFiles()
	if err != nil {
		return out
	}
	// packed are the revisions, by the refs that they may name and that have no file.
	packed := map[string][]int{}
	for i, rev := range revs {
		if out[i] = isPlainName(rev) && !files.hasFile(refsNamed(rev)); out[i] {
			for _, ref := range refsNamed(rev) {
				packed[ref] = append(packed[ref], i)
			}
		}
	}
	if len(packed) == 0 {
		return out
	}
	err = files.eachPacked("refs/", func(ref, _ string) error {
		for _, i := range packed[ref] {
			out[i] = false
		}
		return nil
	})
	if err != nil {
		clear(out)
	}
	return out
}

// hasFile reports whether any of some refs may have a file, whatever is in it.
func (r refFiles) hasFile(refs []string) bool {
	for _, ref := range refs {
		if _, err := r.stat(ref); !isNoFile(err) {
			return true
		}
	}
	return false
}

// refsNamed returns the refs that a name may stand for (gitrevisions(7), "<refname>").
func refsNamed(name string) []string {
	return []string{name, "refs/" + name, "refs/tags/" + name, headsPrefix + name, "refs/remotes/" + name, "refs/remotes/" + name + "/HEAD"}
}

// otherName matches names that may stand for an object, by its id or in the words of
// git describe, or for a ref of another worktree.
var otherName = regexp.MustCompile(`^[0-9A-Fa-f]+$|-g[0-9A-Fa-f]+$|^main-worktree/`)

// isPlainName reports whether a revision can name nothing but a ref.
func isPlainName(rev string) bool {
	return isPlainRef(headsPrefix+rev) && !strings.Contains(rev, "{") && !otherName.MatchString(rev)
}
