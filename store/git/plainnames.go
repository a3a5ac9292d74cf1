package git

import (
	"regexp"
	"strings"
)

// plainName is what the files of refs tell of a revision.
type plainName struct {
	// known says that all is in refs. Then id is that of the branch of the name, whatever
	// object that is and whether or not it is there, or "" if there is no ref of the name.
	known bool
	id    string
	// refs are the refs that there are of the name, with their ids if these are known.
	refs []namedRef
}

type namedRef struct{ name, id string }

// plainNames tells of revisions what is known without a process: that a plain name is the
// one of a branch and of nothing else, or that there is no ref in any of the places where git
// looks for it. Nothing is known of what is not in plain files, and where there is no repository.
func (g *runner) plainNames(revs []string) []plainName {
	out := make([]plainName, len(revs))
	files, err := g.refFiles()
	if err != nil {
		return out
	}
	// packed are the revisions, by the refs that they may name and that have no file.
	packed := map[string][]int{}
	for i, rev := range revs {
		if out[i].known = checkRev(rev) == nil && isPlainName(rev); !out[i].known {
			continue
		}
		for _, ref := range refsNamed(rev) {
			if _, err := files.stat(ref); isNoFile(err) {
				packed[ref] = append(packed[ref], i)
				continue
			}
			id, err := files.branch(ref)
			out[i].known = out[i].known && err == nil
			out[i].refs = append(out[i].refs, namedRef{ref, id})
		}
	}
	if len(packed) > 0 {
		// Names that nobody asks for may be such as only git judges.
		err = files.eachPacked(func(ref []byte) bool { return packed[string(ref)] != nil }, func(ref, id string) error {
			for _, i := range packed[ref] {
				out[i].refs = append(out[i].refs, namedRef{ref, id})
			}
			return nil
		})
	}
	for i := range out {
		n := &out[i]
		switch {
		case err != nil:
			n.known = false
		case len(n.refs) == 1:
			n.id = n.refs[0].id
			n.known = n.known && n.id != "" && strings.HasPrefix(n.refs[0].name, headsPrefix)
		case len(n.refs) > 1:
			n.known = false
		}
	}
	return out
}

// branch returns the id in the file of a branch, "" for what is no branch or has gone.
func (r refFiles) branch(ref string) (string, error) {
	if !strings.HasPrefix(ref, headsPrefix) {
		return "", nil
	}
	return r.loose(ref)
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
