package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/trawlsearch/trawl/cmd/trawl/print"
	"github.com/trawlsearch/trawl/store/redact"
)

var (
	// errNothing says that a search was fine and found nothing.
	errNothing = errors.New("nothing found")
	// errFound says that something is damaged, and has been printed.
	errFound = errors.New("something is damaged")
	// errTold says that what went wrong has been printed already.
	errTold = errors.New("some of it could not be done")
)

// exitCode prints an error that has not been printed yet, as one line.
func exitCode(err error, stderr io.Writer) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNothing), errors.Is(err, errFound):
		return 1
	case errors.Is(err, errTold):
		return 2
	}
	complain(stderr, err)
	return 2
}

// complain prints an error as one line, without passwords. Part of it may be what
// a server said, which is not to control the terminal.
func complain(stderr io.Writer, err error) {
	text := print.Line(strings.ReplaceAll(redact.Text(err.Error()), "\n", "; "))
	_, _ = fmt.Fprintf(stderr, "trawl: %s\n", text) // an error here cannot be reported
}

// app is what the commands have in common: where they read and write.
type app struct {
	stdout, stderr io.Writer
}

// run runs one command line.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	a := &app{stdout, stderr}
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(&input{ctx, stdin})
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return errors.New("interrupted")
	}
	return err
}

const rootHelp = `trawl searches the code of many git repositories.

It keeps the text of each repository's default branch and an index of it in one
data directory, answers over HTTP, and says when an answer is incomplete. A
first try, in any git repository:

  trawl serve                       index this repository and serve it
  trawl search 'TODO file:\.go$'    in another terminal

Exit status: 0 if something was found or done, 1 if nothing was found, 2 if
something went wrong.`

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:               "trawl",
		Short:             "search the code of many git repositories",
		Long:              rootHelp,
		Args:              cobra.ArbitraryArgs,
		RunE:              unknownCommand,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
	}
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(helpTemplate)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(a.serveCommand(), a.indexCommand(), a.searchCommand(), a.apiCommand(), a.mcpCommand(), a.repoCommand(), a.statusCommand(), a.checkCommand(),
		a.userCommand(), a.orgCommand(), a.tokenCommand(), a.oauthAppCommand(), a.backupCommand(), a.clusterCommand(), a.auditCommand(), a.migrateCommand(), a.manCommand(), a.versionCommand(), settingsTopic())
	return root
}

const helpTemplate = `{{.Long}}
{{if .HasAvailableSubCommands}}
Commands:
{{range .Commands}}{{if or .IsAvailableCommand (eq .Name "help")}}  {{rpad .CommandPath .CommandPathPadding}}  {{.Short}}
{{end}}{{end}}{{if not .HasParent}}
"trawl COMMAND --help" describes a command, and "trawl help settings" lists the
settings of a configuration file.
{{end}}{{end}}{{if and .Runnable .HasAvailableLocalFlags}}
Flags:
{{trimTrailingWhitespaces .LocalFlags.FlagUsages}}
{{end}}`

// unknownCommand answers a command that has subcommands and is given none of
// them.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	hint := fmt.Sprintf(`"%s --help" lists them`, cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %q?", cmd.CommandPath()+" "+near[0])
	}
	return fmt.Errorf("there is no command %q: %s", cmd.CommandPath()+" "+args[0], hint)
}

func flagError(cmd *cobra.Command, err error) error {
	hint := fmt.Sprintf(`"%s --help" lists the flags`, cmd.CommandPath())
	if cmd.Name() == "search" {
		hint += `; put -- before a query that begins with a dash`
	}
	return fmt.Errorf("%w: %s", err, hint)
}

// arguments refuses a wrong number of arguments with words of its own.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf(`%s needs %s: "%s --help" has an example`, cmd.CommandPath(), what, cmd.CommandPath())
		case most >= 0 && len(args) > most:
			return fmt.Errorf(`%s takes %s only, not %q: "%s --help" has an example`, cmd.CommandPath(), what, args[most], cmd.CommandPath())
		}
		return nil
	}
}

// isTerminal reports whether a person watches what is written to w.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
