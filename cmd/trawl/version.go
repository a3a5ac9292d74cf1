package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/store"
)

const versionHelp = `Usage: trawl version

Version prints the version of this program, the commit it was built from, and
the format of the data directories that it writes. It reads those of that number
and lower.

  trawl version`

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version", Long: versionHelp, Args: arguments(0, 0, "no argument"),
		RunE: func(*cobra.Command, []string) error {
			info, _ := debug.ReadBuildInfo() // nil in a binary built without modules
			_, err := fmt.Fprint(a.stdout, versionText(info))
			return err
		},
	}
}

// versionText tells what a build is.
func versionText(info *debug.BuildInfo) string {
	version, revision, dirty := "unknown", "", ""
	if info != nil {
		version = info.Main.Version
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				dirty = ", modified"
			}
		}
	}
	text := "trawl " + version
	if revision != "" {
		text += fmt.Sprintf(" (commit %.12s%s)", revision, dirty)
	}
	return fmt.Sprintf("%s\nstore format %d\n%s %s/%s\n", text, store.FormatNewest, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
