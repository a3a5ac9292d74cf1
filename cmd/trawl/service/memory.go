package service

import (
	"runtime/debug"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/stream"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/shard"
)

// The setting memory is divided among all large users of memory, so that the
// process as a whole stays within it. The remainder is for matches on their way
// to clients and for garbage, which the runtime keeps within the limit.
const (
	// ProgramBytes are what the program's own file has in memory at most, its code and
	// its constants, which the runtime does not count. Of 65 MiB that are mapped 56 are
	// resident while repositories are indexed: the system maps what is near a page, too.
	ProgramBytes = 68 << 20
	// fixedBytes is the memory beside the caches, whatever the setting is: the
	// program, the engine's buffers, some searches, the table of trigrams of a
	// shard that is written.
	fixedBytes = 216 << 20

	leastListBytes = 24 << 20
	mostListBytes  = 256 << 20
	// leastLargeBytes is one file as large as max-text-bytes is by default.
	leastLargeBytes = 32 << 20
	mostLargeBytes  = 256 << 20

	// leastPageBytes is one answer as large as GraphQL makes them.
	leastPageBytes = 48 << 20
	mostPageBytes  = 256 << 20

	// bytesPerSearch is the memory of a running search: candidates and verified
	// matches that wait for their turn, automata, a buffer, a compressor.
	// Sixteen at once held 3 to 6 MB each.
	bytesPerSearch = 16 << 20
	leastSearches  = 8

	// mostGitBytes is the most that git's processes take together.
	mostGitBytes = 256 << 20
)

// shares is the setting memory, divided.
type shares struct {
	// runtime is the limit of the Go runtime, all but what it does not count.
	runtime int64
	// caches, lists and large are those of store.Options.
	caches, lists, large int64
	// searches is how many run at once, and how many answers are compressed.
	searches int
	// git is what git's processes take together, beside the setting: they are
	// processes of their own.
	git int64
	// pages is what pages and GraphQL answers hold while they are made.
	pages int64
	// answers is what answers whose clients read slowly wait in, beyond the least
	// that each has.
	answers int64
}

func divide(memory int64) shares {
	s := shares{
		caches:   max(memory*3/4-fixedBytes, memory/4),
		lists:    min(max(memory/6, leastListBytes), mostListBytes),
		large:    min(max(memory/8, leastLargeBytes), mostLargeBytes),
		searches: max(int(memory/bytesPerSearch), leastSearches),
		answers:  memory / 32,
		pages:    min(max(memory/8, leastPageBytes), mostPageBytes),
		git:      min(max(memory/8, git.LeastBudget), mostGitBytes),
	}
	s.runtime = max(memory-ProgramBytes-outside(s.caches), memory/2)
	return s
}

// LimitMemory has the runtime keep the whole process within the setting
// memory, given in bytes.
func LimitMemory(memory int64) {
	debug.SetMemoryLimit(divide(memory).runtime)
	boundGarbage()
}

// LimitAnswers has the server keep to the shares of answers that are made and
// that are on their way.
func LimitAnswers(s *httpapi.Server, memory int64, processors int) {
	shares := divide(memory)
	s.Admission = httpapi.NewAdmission(processors, shares.pages)
	s.Compressors = shares.searches
	s.Streams.SharedBytes, s.Streams.Open = shares.answers, stream.MostOpen(shares.caches/2)
}

// Lend makes the caches smaller by so many bytes until they are given back.
func (s *Service) Lend(bytes int64) (giveBack func()) { return s.store.Budget().Borrow(bytes) }

// outside is the memory of the caches outside the runtime's own.
func outside(caches int64) int64 {
	// The allocator of C keeps a part of what was freed.
	return shard.ForeignBytes(caches) * 5 / 4
}
