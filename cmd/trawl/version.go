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

// build describes the build of this program.
type build struct{ version, revision, goVersion string }

func buildOf() build {
	info, _ := debug.ReadBuildInfo() // nil in a binary built without modules
	return buildFrom(info)
}

func buildFrom(info *debug.BuildInfo) build {
	b := build{version: "unknown", goVersion: runtime.Version()}
	if info == nil {
		return b
	}
	b.version = info.Main.Version
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			b.revision = fmt.Sprintf("%.12s", s.Value) + b.revision
		case s.Key == "vcs.modified" && s.Value == "true":
			b.revision += ", modified"
		}
	}
	return b
}

// versionText describes a build.
func versionText(info *debug.BuildInfo) string {
	b := buildFrom(info)
	text := "trawl " + b.version
	if b.revision != "" {
		text += " (commit " + b.revision + ")"
	}
	return fmt.Sprintf("%s\nstore format %d\n%s %s/%s\n", text, store.FormatNewest, b.goVersion, runtime.GOOS, runtime.GOARCH)
}
