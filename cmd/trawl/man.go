package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

const manHelp = `Usage: trawl man DIR

Man writes a manual page for each command into a directory, as it does the one
about settings. They say what --help says.

  trawl man /usr/local/share/man/man1
  trawl completion bash >/etc/bash_completion.d/trawl`

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "write manual pages", Long: manHelp, Args: arguments(1, 1, "a directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := makePublic(args[0]); err != nil {
				return fmt.Errorf("write manual pages: %w", err)
			}
			return writeManuals(a.rootCommand(), args[0])
		},
	}
}

// writeManuals writes the pages of a command and of all below it.
func writeManuals(cmd *cobra.Command, dir string) error {
	cmd.DisableAutoGenTag = true
	if cmd.IsAvailableCommand() || cmd.IsAdditionalHelpTopicCommand() || !cmd.HasParent() {
		if err := writeManual(cmd, dir); err != nil {
			return err
		}
	}
	for _, c := range cmd.Commands() {
		if err := writeManuals(c, dir); err != nil {
			return err
		}
	}
	return nil
}

func writeManual(cmd *cobra.Command, dir string) error {
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	cmd.Long = manualText(cmd.Long)
	var page bytes.Buffer
	err := doc.GenMan(cmd, &doc.GenManHeader{Title: strings.ToUpper(name), Section: "1", Source: "trawl " + buildOf().version, Manual: "trawl"}, &page)
	if err == nil {
		err = writePage(filepath.Join(dir, name+".1"), page.Bytes())
	}
	if err != nil {
		return fmt.Errorf("manual page of %s: %w", cmd.CommandPath(), err)
	}
	return nil
}

// makePublic makes a directory that all users of the machine can read, unless
// there is one.
func makePublic(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	return errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(dir, 0o755))
}

// writePage writes a file that all users of the machine can read. main has the
// umask keep files private.
func writePage(path string, text []byte) error {
	return errors.Join(os.WriteFile(path, text, 0o644), os.Chmod(path, 0o644))
}

// manualText turns a help text into the Markdown that manual pages are made of.
// Indented lines are examples and stay as they are; the line with the usage is
// the synopsis, which is made anew.
func manualText(help string) string {
	var out strings.Builder
	for line := range strings.Lines(help) {
		switch {
		case strings.HasPrefix(line, "Usage: "):
		case strings.HasPrefix(line, "  "):
			out.WriteString("    " + line[2:])
		default:
			out.WriteString(escapeMarkdown.Replace(line))
		}
	}
	return strings.TrimLeft(out.String(), "\n")
}

var escapeMarkdown = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "<", `\<`, "[", `\[`)
