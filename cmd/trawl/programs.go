package main

import (
	"context"
	"runtime"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/settings"
	"github.com/trawlsearch/trawl/store/ctags"
	"github.com/trawlsearch/trawl/store/git"
)

// programs asks the programs that the server runs for their versions.
func programs(ctx context.Context) []settings.Program {
	gitVersion, err := git.Version(ctx)
	if err != nil {
		gitVersion = "that cannot be run"
	}
	ctagsVersion := "not found: symbols are not read"
	if path, err := ctags.Find(); err == nil {
		if ctagsVersion, err = ctags.Version(path); err != nil {
			ctagsVersion = "that cannot be run"
		}
	}
	return []settings.Program{{Name: "git", Version: gitVersion}, {Name: "universal-ctags", Version: ctagsVersion}, {Name: "Go", Version: strings.TrimPrefix(runtime.Version(), "go")}}
}
