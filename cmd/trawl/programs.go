package main

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/httpapi/settings"
	"github.com/trawlsearch/trawl/store/ctags"
	"github.com/trawlsearch/trawl/store/git"
)

// versionsKept is how long the versions of programs are remembered: they change with the
// packages of the machine.
const versionsKept = 10 * time.Minute

// programVersions remembers the versions of the programs that the server runs. The zero
// value knows none. It is safe for concurrent use.
type programVersions struct {
	mu  sync.Mutex
	at  time.Time
	all []settings.Program
}

// get returns the versions. What failed is asked again at the next call.
func (v *programVersions) get() []settings.Program {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.all != nil && time.Since(v.at) < versionsKept {
		return v.all
	}
	all, err := programs(context.Background())
	if v.at, v.all = time.Now(), all; err != nil {
		v.all = nil
	}
	return all
}

// programs asks the programs that the server runs for their versions. With an error the
// version of one says so.
func programs(ctx context.Context) ([]settings.Program, error) {
	gitVersion, failed := git.Version(ctx)
	if failed != nil {
		gitVersion = "that cannot be run"
	}
	ctagsVersion := "not found: symbols are not read"
	if path, err := ctags.Find(); err == nil {
		if ctagsVersion, err = ctags.Version(path); err != nil {
			ctagsVersion, failed = "that cannot be run", err
		}
	}
	return []settings.Program{{Name: "git", Version: gitVersion}, {Name: "universal-ctags", Version: ctagsVersion}, {Name: "Go", Version: strings.TrimPrefix(runtime.Version(), "go")}}, failed
}
