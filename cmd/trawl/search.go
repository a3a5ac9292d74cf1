package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/print"
	"github.com/trawlsearch/trawl/cmd/trawl/remote"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/client"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

const searchHelp = `Usage: trawl search [flags] QUERY

Search prints what a query finds, as it is found. A terminal is shown each
document's name above its lines, in colours, through a pager, and of a long line
the part around its first match. A pipe gets whole lines, each as
REPOSITORY/PATH:LINE:TEXT. Documents found by their path are
REPOSITORY/PATH, repositories REPOSITORY, and commits a line about each with
what was found below it. Notes on standard error say which files and
repositories were skipped, and how to search them.

It reads the data directory, through the server that has it open if there is
one; --server asks any server that speaks the streaming search API, with the
access token in $TRAWL_TOKEN if there is one.

Words of the query may be given as one argument or as several; the shell needs
quotes around characters of its own. Put -- before a query that begins with a
dash. Words are read as on the search page, so that each of them is found
anywhere; --pattern-type standard finds the text as it stands.

The pager is $TRAWL_PAGER, $PAGER or less. "trawl completion --help" makes the
shell complete filters, and repositories and branches while a server runs.

Exit status: 0 if something was found, 1 if nothing was, 2 on trouble.

  trawl search repo:kiln lang:go errors.New
  trawl search --pattern-type regexp 'func \w+Glaze\(' -C 2
  trawl search 'repo:kiln type:diff after:"1 week ago" glaze'
  trawl search -l select:file glaze | xargs -d '\n' -n 1 echo
  trawl search --json 'type:repo fork:yes' | jq -r .repository
  trawl search --csv --count all glaze > glaze.csv

--csv prints a table with a row for each result. A cell that a spreadsheet would
run as a formula has an apostrophe before it, and a text of more than 1,000
characters is cut around the result; --json has all as it is.

With --brute every document is read and compared by Go's regexp package, without
the index: slow, and the same answer. --explain prints for each commit how much
was searched, what was skipped and why, and where the time went.`

// searchFlags are the flags of trawl search, as typed.
type searchFlags struct {
	server, patternType, count, color     string
	heading, hyperlinks, pager            string
	context, before, after                int
	json, csv, files, counts              bool
	brute, explain, beforeSaid, afterSaid bool
}

func (a *app) searchCommand() *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use: "search", Short: "print what a query finds", Long: searchHelp,
		Args: arguments(1, -1, "a query"),
	}
	settings := settingFlags(cmd, searchSettings...)
	server := serverFlag(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.patternType, "pattern-type", "keyword", "how to read the query: `TYPE` is keyword, standard, literal or regexp")
	flags.StringVar(&f.count, "count", "", "stop after `N` results, or at none with all; the same as count:N in the query")
	flags.IntVarP(&f.context, "context", "C", 0, "show `N` lines around each match")
	flags.IntVarP(&f.before, "before-context", "B", 0, "show `N` lines before each match")
	flags.IntVarP(&f.after, "after-context", "A", 0, "show `N` lines after each match")
	flags.BoolVarP(&f.files, "files-with-matches", "l", false, "print the name of each document, repository or commit only")
	flags.BoolVarP(&f.counts, "count-matches", "c", false, "print the number of results in each document, repository or commit")
	flags.BoolVar(&f.json, "json", false, "print each match as one line of JSON, as the API sends it")
	flags.BoolVar(&f.csv, "csv", false, "print a table of comma-separated values with a row for each result")
	flags.StringVar(&f.color, "color", "auto", "`WHEN` to use colours: always, never, or auto for terminals")
	flags.StringVar(&f.heading, "heading", "auto", "`WHEN` to print names above lines and not in them: always, never, or auto for terminals")
	flags.StringVar(&f.hyperlinks, "hyperlinks", "auto", "`WHEN` names lead to the server's pages: always, never, or auto for terminals with colours")
	flags.StringVar(&f.pager, "pager", "auto", "`WHEN` to use a pager: never, or auto for terminals")
	flags.BoolVar(&f.brute, "brute", false, "search without the index")
	flags.BoolVar(&f.explain, "explain", false, "print what was looked at and the steps of the search to standard error")
	cmd.ValidArgsFunction = completeQuery(server, settings)
	for _, name := range []string{"color", "heading", "hyperlinks"} {
		completeFlag(cmd, name, "auto", "always", "never")
	}
	completeFlag(cmd, "pager", "auto", "never")
	completeFlag(cmd, "pattern-type", "keyword", "standard", "literal", "regexp")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if f.server, err = server(); err != nil {
			return err
		}
		set, err := settings()
		if err != nil {
			return err
		}
		f.beforeSaid, f.afterSaid = flags.Changed("before-context"), flags.Changed("after-context")
		s, err := f.build(strings.Join(args, " "))
		if err != nil {
			return err
		}
		return a.search(cmd.Context(), set, s)
	}
	return cmd
}

// searchJob is a search as it will be run, made from flags that were checked.
type searchJob struct {
	flags  searchFlags
	params client.Params
	// links is the address that names lead to, "" for none.
	links string
	// out is where matches go, and notes where people read what was skipped.
	out, notes io.Writer
}

// build checks the flags and makes the request of them.
func (f searchFlags) build(text string) (searchJob, error) {
	pt, err := syntax.ParsePatternType("", f.patternType)
	switch {
	case f.patternType == "" || err != nil:
		return searchJob{}, fmt.Errorf("--pattern-type: %q is not keyword, standard, literal or regexp", f.patternType)
	case f.context < 0 || f.before < 0 || f.after < 0:
		return searchJob{}, errors.New("--context: the number of lines cannot be negative")
	case f.server != "" && f.brute:
		return searchJob{}, errors.New("--brute reads the data directory itself: leave out --server")
	}
	if err := f.checkForms(); err != nil {
		return searchJob{}, err
	}
	if f.count != "" {
		if _, err := query.ParseCount(f.count); err != nil {
			return searchJob{}, fmt.Errorf("--count: %q is neither a number from 1 nor all", f.count)
		}
		text = syntax.WithFilter(syntax.WithoutFilter(text, pt, "count"), "count", f.count)
	}
	// As grep has it, -C gives what -A and -B leave open.
	if !f.beforeSaid {
		f.before = f.context
	}
	if !f.afterSaid {
		f.after = f.context
	}
	around := max(f.before, f.after)
	if f.csv || f.files || f.counts {
		around = 0 // not shown
	}
	return searchJob{flags: f, params: client.Params{Query: text, PatternType: f.patternType, Chunks: true, ContextLines: &around}}, nil
}

// checkForms refuses flags that say two things, and unknown words.
func (f searchFlags) checkForms() error {
	var forms []string
	for _, form := range []struct {
		said bool
		flag string
	}{{f.json, "--json"}, {f.csv, "--csv"}, {f.files, "-l"}, {f.counts, "-c"}} {
		if form.said {
			forms = append(forms, form.flag)
		}
	}
	if len(forms) > 1 {
		return fmt.Errorf("%s print different things: choose one", strings.Join(forms, " and "))
	}
	return errors.Join(oneOf("--color", f.color, "auto", "always", "never"), oneOf("--heading", f.heading, "auto", "always", "never"),
		oneOf("--hyperlinks", f.hyperlinks, "auto", "always", "never"), oneOf("--pager", f.pager, "auto", "never"))
}

func oneOf(flag, value string, words ...string) error {
	for _, w := range words {
		if value == w {
			return nil
		}
	}
	return fmt.Errorf("%s: %q is not one of %s", flag, value, strings.Join(words, ", "))
}

// search runs the job. It has ended, and its session too, when a pager waits for
// the user.
func (a *app) search(ctx context.Context, set config.Settings, job searchJob) error {
	f := job.flags
	return a.paged(f.pager == "auto" && !f.json && !f.csv, func(out, notes io.Writer) error {
		job.out, job.notes = out, notes
		return a.searchThere(ctx, set, job)
	})
}

// searchThere runs the job where the flags say.
func (a *app) searchThere(ctx context.Context, set config.Settings, job searchJob) (err error) {
	if job.flags.server != "" {
		p, end := serverParams()
		defer end()
		job.params.HTTP, job.params.Header = p.HTTP, p.Header
		job.links = job.flags.server
		return a.stream(ctx, job, job.flags.server)
	}
	if err := checkQuery(job.params); err != nil {
		return err
	}
	out := a.taskOutput(set)
	o := service.Options{Log: out.log, Brute: job.flags.brute}
	s, err := openSession(ctx, set, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if s.local == nil && job.flags.brute {
		return fmt.Errorf("--brute reads the data directory itself, which the server at %s has open: stop it first", s.Base)
	}
	if s.local != nil {
		if err := a.anythingToSearch(ctx, s.Client); err != nil {
			return err
		}
	} else {
		job.links = s.public
	}
	job.params.HTTP = s.HTTP
	// Who may read the data directory may search all of it.
	job.params.Header = http.Header{auth.OperatorHeader: {s.Token}}
	return a.stream(ctx, job, s.Base)
}

// anythingToSearch fails when there is no repository, so that an empty answer
// is not taken for one about code.
func (a *app) anythingToSearch(ctx context.Context, c *remote.Client) error {
	all, err := remote.Get(ctx, c, admin.ListRepositories)
	if err == nil && len(all) == 0 {
		err = errors.New("there are no repositories yet: add some with trawl index PATH-OR-URL")
	}
	return err
}

// searchHint says what to do about a server that did not search, if that is
// known.
func searchHint(err error) string {
	var refused *client.StatusError
	switch {
	case errors.As(err, &refused) && refused.Status == http.StatusUnauthorized:
		return " Put an access token into $" + tokenVariable + ": trawl token create makes one, and so does the page of settings."
	case errors.Is(err, syscall.ECONNREFUSED):
		return ": no server listens there"
	}
	return ""
}

// checkQuery reports where a query is broken, with more detail than an answer
// has.
func checkQuery(p client.Params) error {
	pt, err := syntax.ParsePatternType("", p.PatternType)
	if err == nil {
		_, err = syntax.Parse(p.Query, pt)
	}
	var broken *query.SyntaxError
	if !errors.As(err, &broken) {
		return err
	}
	text := "query"
	if broken.Span.End > broken.Span.Start && broken.Span.End <= len(p.Query) {
		column := len([]rune(p.Query[:broken.Span.Start])) + 1
		text = fmt.Sprintf("query, column %d, at %q", column, query.Shorten(p.Query[broken.Span.Start:broken.Span.End]))
	}
	text += ": " + broken.Error()
	if broken.Hint != "" {
		text += "; try: " + query.Shorten(broken.Hint)
	}
	return errors.New(text)
}

// stream asks the server at base and prints its answer.
func (a *app) stream(ctx context.Context, job searchJob, base string) error {
	var (
		alert    *client.Alert
		progress *client.Progress
	)
	matches := print.NewMatches(job.out, job.printOptions(isTerminal(a.stdout)))
	err := client.Stream(ctx, base, job.params, client.Handler{
		Matches:  matches.Write,
		Progress: func(p client.Progress) error { progress = &p; return nil },
		Alert:    func(al client.Alert) error { alert = &al; return nil },
	})
	var status *client.StatusError
	switch {
	case errors.As(err, &status):
		return fmt.Errorf("search at %s: %w%s", base, err, searchHint(err))
	case err != nil:
		return fmt.Errorf("%w%s", err, searchHint(err))
	case progress == nil: // it was refused
		return refusal(alert)
	}
	if err := matches.Close(); err != nil {
		return err
	}
	print.Notes(job.notes, alert, *progress, matches.Count())
	if job.flags.explain {
		a.explain(ctx, job.notes, base, progress.Trace, job.params)
	}
	if matches.Count() == 0 {
		return errNothing
	}
	return nil
}

// refusal is the error of a query that the server did not run.
func refusal(alert *client.Alert) error {
	if alert == nil {
		return errors.New("the server gave no answer")
	}
	return fmt.Errorf("%s: %s", alert.Title, alert.Description)
}

// printOptions is how matches are written where a terminal shows them, or not.
func (j searchJob) printOptions(terminal bool) print.Options {
	f := j.flags
	o := print.Options{
		Color: chosen(f.color, terminal && !plainTerminal()), Terminal: terminal, Heading: chosen(f.heading, terminal),
		Before: f.before, After: f.after,
	}
	// The console of Linux shows addresses in place of links.
	if chosen(f.hyperlinks, terminal && o.Color && os.Getenv("TERM") != "linux") {
		o.Links = j.links
	}
	switch {
	case f.json:
		o.Form = print.JSON
	case f.csv:
		o.Form = print.CSV
	case f.files:
		o.Form = print.Files
	case f.counts:
		o.Form = print.Counts
	}
	return o
}

// chosen reports whether a flag with the value always, never or auto is on, of which
// auto has a value of its own.
func chosen(when string, auto bool) bool { return when == "always" || when == "auto" && auto }

// plainTerminal reports whether the user wants no colours, by the convention of
// https://no-color.org, or has a terminal without.
func plainTerminal() bool { return os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" }
