package git

import "strings"

const headsPrefix = "refs/heads/"

// Heads is the state of a repository's branches.
type Heads struct {
	// Default is the branch that HEAD names. Its name is "" if HEAD is detached,
	// its commit "" if the branch does not exist yet.
	Default Branch
	// Branches are the ids of all branches by their full names, nil if they were
	// not asked for.
	Branches map[string]string
}

// ReadHeads returns the state of the branches of the repository in dir, the
// folder that Open takes or a mirror, without a process and within a millisecond
// for most. With all it reads every branch, else the one HEAD names.
//
// It does not check anything: neither that the ids are those of commits that are
// there, nor whose the files are. So its answer is good for a comparison with
// what git said before, and for nothing else. ok is false when only git can
// tell: when there is no such repository, or its refs are not in plain files.
func ReadHeads(dir string, all bool) (h Heads, ok bool) {
	files, err := plainRefFiles(dir)
	if err != nil {
		return Heads{}, false
	}
	h, err = files.heads(all)
	return h, err == nil
}

// Head returns the branch that HEAD names, with its commit, as ReadHeads tells. ok is false
// when only git can tell.
func (r *Repo) Head() (b Branch, ok bool) {
	files, err := plainGitDir(r.git.gitDir)
	if err != nil {
		return Branch{}, false
	}
	h, err := files.heads(false)
	return h.Default, err == nil
}

func (r refFiles) heads(all bool) (h Heads, err error) {
	ref, commit, err := r.head()
	if err != nil {
		return Heads{}, err
	}
	h.Default = Branch{Name: strings.TrimPrefix(ref, headsPrefix), Commit: commit}
	if all {
		if h.Branches, err = r.all(headsPrefix); err != nil {
			return Heads{}, err
		}
		if ref != "" {
			h.Default.Commit = h.Branches[ref]
		}
		return h, nil
	}
	if ref != "" {
		h.Default.Commit, err = r.one(ref)
	}
	return h, err
}
