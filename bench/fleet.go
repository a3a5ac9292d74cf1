package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path"
	"path/filepath"
)

// fleet is a set of generated repositories: equal fields give equal objects.
// Each repository is a function of the seed and its number, so that any can be
// made without the others.
//
// The number of files is log-normal: half of the repositories have at most
// medianFiles, one in a thousand has more than a thousand. Of a hundred
// repositories two are empty, without a commit, and eight are forks, which have
// the commits of another one and one more. Each has two commits or more, and
// one in ten has two more branches. The text is that of sourceText.
type fleet struct {
	seed uint64
	n    int
	// dir is where the repositories lie.
	dir string
	// text has the vocabulary.
	text *textWriter
}

// The sizes of generated repositories.
const (
	medianFiles = 8
	// spreadFiles is the standard deviation of the logarithm of the number.
	spreadFiles = 1.6
	mostFiles   = 20_000
)

// The words that a fleet holds in known numbers. Made-up words have no x.
const (
	// everyRepositoryWord stands on one line of each repository with a commit.
	everyRepositoryWord = "xevery_repository"
	// absentWord stands nowhere.
	absentWord = "xabsent_from_all"
)

// uniqueWord stands on one line of the default branch of the i-th repository.
func uniqueWord(i int) string { return fmt.Sprintf("xonly_%06d_here", i) }

// branchWord stands on branches of the i-th repository that are not the default
// one.
func branchWord(i int) string { return fmt.Sprintf("xbranch_%06d_here", i) }

func newFleet(seed uint64, n int, dir string) *fleet {
	return &fleet{seed: seed, n: n, dir: dir, text: newWriter(seed)}
}

// fleetRepository describes a repository before it is made.
type fleetRepository struct {
	number int
	name   string
	empty  bool
	// parent is the number of the repository that this one is a fork of, or -1.
	parent int
	// files is how many there are beside the readme, commits how many make them.
	files, commits int
	branches       bool
	language       int
	// rng draws the text.
	rng *rand.Rand
}

// repository describes the i-th repository.
func (f *fleet) repository(i int) fleetRepository {
	rng := rand.New(rand.NewPCG(f.seed, uint64(i)+1))
	kind := rng.IntN(100)
	r := fleetRepository{
		number: i, parent: -1,
		files:    min(mostFiles, int(math.Exp(math.Log(medianFiles)+spreadFiles*rng.NormFloat64()))),
		commits:  2 + min(rng.IntN(5), rng.IntN(5)),
		branches: rng.IntN(10) == 0,
		language: rng.IntN(len(sourceLanguages)),
		rng:      rng,
	}
	words := f.text.words
	r.name = fmt.Sprintf("group%d/%s-%d", i/groupRepositories, words[(i*31)%len(words)], i)
	switch {
	case i == 0:
	case kind < 2:
		r.empty, r.branches = true, false
	case kind < 10:
		r.parent = f.forked(rng.IntN(i))
		r.files = rng.IntN(4)
		r.commits = 1
	}
	return r
}

// forked returns the last repository up to i that is neither empty nor a fork.
func (f *fleet) forked(i int) int {
	for ; i > 0; i-- {
		if kind := rand.New(rand.NewPCG(f.seed, uint64(i)+1)).IntN(100); kind >= 10 {
			break
		}
	}
	return i
}

// groupRepositories is how many repositories share the first part of a name.
const groupRepositories = 25

// dirOf returns where the repository lies: below folderOf, by its name.
func (f *fleet) dirOf(r fleetRepository) string {
	return filepath.Join(f.folderOf(r), filepath.FromSlash(r.name)+".git")
}

// folderOf returns the folder of the repository's group. The groups are spread
// over 256 folders, so that none has more than some hundred entries.
func (f *fleet) folderOf(r fleetRepository) string {
	return filepath.Join(f.dir, fmt.Sprintf("%02x", r.number/groupRepositories%256))
}

// filePath spreads the files of a repository over folders.
func (f *fleet) filePath(i int, l sourceLanguage, rng *rand.Rand) string {
	words := f.text.words
	folder := path.Join("src", words[i/400%len(words)], words[i/20%len(words)])
	if i < 10 {
		folder = "src"
	}
	return path.Join(folder, fmt.Sprintf("%s_%d%s", words[rng.IntN(len(words))], i, l.ending))
}
