package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/print"
	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/client"
)

const apiHelp = `Usage: trawl api [flags] [DOCUMENT]

Api runs a GraphQL document and prints the answer as indented JSON, on a terminal
in colours and through a pager ($TRAWL_PAGER, $PAGER or less). The document
is the argument, or the file of --file, or comes from the standard input. It is
run over the data directory, through the server that has it open if there is one,
by the operator, who sees and may do everything; --server asks any server that
speaks the API, with the access token in $TRAWL_TOKEN if there is one.

A variable is given as --var NAME=VALUE, whose value is JSON if it can be read as
such and text otherwise, so the text 123 is '"123"'; or with others as one object of JSON in --vars.

With --paginate the document is run again as long as its pageInfo says that there
is more, with the endCursor as the variable of that name, and each answer is
printed. The document takes $endCursor: String, and asks for
pageInfo { hasNextPage endCursor } of one list.

Exit status: 0 if the answer has no errors, 2 otherwise; it is printed either way.

  trawl api '{ repositories(first: 5) { nodes { name } } }'
  trawl api --file blame.graphql --var path=main.go --var 'rev="1"'
  trawl api --paginate 'query($endCursor: String) { repositories(first: 100,
    after: $endCursor) { nodes { name } pageInfo { hasNextPage endCursor } } }'
  echo '{ site { productVersion } }' | trawl api --server https://trawl.example.org`

// apiFlags are the flags of trawl api, as typed.
type apiFlags struct {
	server, file, operation, variables, color, pager string
	each                                             []string
	paginate                                         bool
}

// apiJob is a document as it will be run, and how its answers are written.
type apiJob struct {
	doc             client.Document
	paginate        bool
	out             io.Writer
	color, terminal bool
}

func (a *app) apiCommand() *cobra.Command {
	var f apiFlags
	cmd := &cobra.Command{Use: "api", Short: "run a GraphQL document", Long: apiHelp, Args: arguments(0, 1, "a document")}
	settings := settingFlags(cmd, searchSettings...)
	server := serverFlag(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.file, "file", "", "read the document from `FILE`, - being the standard input")
	flags.StringVar(&f.operation, "operation", "", "run the operation `NAME` of a document with several")
	flags.StringVar(&f.variables, "vars", "", "the variables, as one object of `JSON`")
	flags.StringArrayVar(&f.each, "var", nil, "one variable, `NAME=VALUE`; may be given several times")
	flags.BoolVar(&f.paginate, "paginate", false, "run the document again for each page of its list")
	flags.StringVar(&f.color, "color", "auto", "`WHEN` to use colours: always, never, or auto for terminals")
	flags.StringVar(&f.pager, "pager", "auto", "`WHEN` to use a pager: never, or auto for terminals")
	completeFlag(cmd, "color", "auto", "always", "never")
	completeFlag(cmd, "pager", "auto", "never")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if err := errors.Join(oneOf("--color", f.color, "auto", "always", "never"), oneOf("--pager", f.pager, "auto", "never")); err != nil {
			return err
		}
		if f.server, err = server(); err != nil {
			return err
		}
		set, err := settings()
		if err != nil {
			return err
		}
		doc, err := f.document(args, cmd.InOrStdin())
		if err != nil {
			return err
		}
		if f.paginate && !strings.Contains(doc.Query, "$"+cursorVariable) {
			return errors.New("--paginate: the document has no variable $" + cursorVariable + `: "trawl api --help" has an example`)
		}
		terminal := isTerminal(a.stdout)
		job := apiJob{doc: doc, paginate: f.paginate, terminal: terminal, color: chosen(f.color, terminal && !plainTerminal())}
		return f.hinted(a.paged(f.pager == "auto", func(out, _ io.Writer) error {
			job.out = out
			return a.api(cmd.Context(), set, f.server, job)
		}))
	}
	return cmd
}

// hinted adds to an error about a variable how a text that JSON can read is given.
func (f apiFlags) hinted(err error) error {
	for _, text := range f.each {
		name, value, _ := strings.Cut(text, "=")
		if err != nil && textWanted(err.Error(), name, value) {
			return fmt.Errorf("%w; to give it as a text, write --var '%s=\"%s\"'", err, name, value)
		}
	}
	return err
}

// textWanted reports whether a message says that a variable is a text and that its
// value, as typed, is none.
func textWanted(message, name, value string) bool {
	_, about, ok := strings.Cut(message, fmt.Sprintf("Variable %q has invalid value %s.", name, value))
	return ok && (strings.Contains(about, `type "String`) || strings.Contains(about, `type "ID`))
}

// document reads what is to be run.
func (f apiFlags) document(args []string, stdin io.Reader) (client.Document, error) {
	doc := client.Document{OperationName: f.operation}
	var err error
	if doc.Variables, err = f.parseVariables(); err != nil {
		return doc, err
	}
	switch {
	case len(args) > 0 && f.file != "":
		return doc, errors.New("the document is given twice: leave out the argument or --file")
	case len(args) > 0:
		doc.Query = args[0]
	case f.file != "" && f.file != "-":
		text, err := os.ReadFile(f.file)
		if err != nil {
			return doc, fmt.Errorf("--file: %w", err)
		}
		doc.Query = string(text)
	default:
		text, err := io.ReadAll(stdin)
		if err != nil {
			return doc, fmt.Errorf("read the document from the standard input: %w", err)
		}
		doc.Query = string(text)
	}
	if strings.TrimSpace(doc.Query) == "" {
		return doc, errors.New("there is no document: give one as argument, with --file, or on the standard input")
	}
	// JSON would carry other bytes as U+FFFD, and a text or name would be another.
	if !utf8.ValidString(doc.Query) {
		return doc, errors.New("the document is not UTF-8")
	}
	return doc, nil
}

// parseVariables reads --vars and then each --var.
func (f apiFlags) parseVariables() (map[string]any, error) {
	all := map[string]any{}
	if !utf8.ValidString(f.variables) {
		return nil, fmt.Errorf("--vars: %q is not UTF-8", f.variables)
	}
	if f.variables != "" {
		if err := decodeJSON(f.variables, &all); err != nil || all == nil {
			return nil, fmt.Errorf(`--vars: %q is no object of JSON, such as {"name": "value"}`, f.variables)
		}
	}
	for _, text := range f.each {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--var: %q is no NAME=VALUE", text)
		}
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("--var: %q is not UTF-8", text)
		}
		var v any
		if err := decodeJSON(value, &v); err != nil {
			v = value
		}
		all[name] = v
	}
	return all, nil
}

// decodeJSON reads one value of JSON, with its numbers as they stand.
func decodeJSON(text string, into any) error {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if dec.More() {
		return errors.New("more than one value")
	}
	return nil
}

// api runs the document where the flags say.
func (a *app) api(ctx context.Context, set config.Settings, server string, job apiJob) (err error) {
	if server != "" {
		p, end := serverParams()
		defer end()
		return job.run(ctx, server, p)
	}
	s, err := openSession(ctx, set, service.Options{Log: a.taskOutput(set).log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	// Who may read the data directory may do everything with it.
	return job.run(ctx, s.Base, client.Params{HTTP: s.HTTP, Header: http.Header{auth.OperatorHeader: {s.Token}}})
}

// cursorVariable is the variable that --paginate sets, as with gh.
const cursorVariable = "endCursor"

// run prints the answer to the document, or to each of its pages.
func (j apiJob) run(ctx context.Context, base string, p client.Params) error {
	for before := ""; ; {
		body, err := j.answer(ctx, base, p)
		if err != nil || !j.paginate {
			return err
		}
		cursor, more := nextPage(body)
		switch {
		case !more:
			return nil
		case cursor == "" || cursor == before:
			return fmt.Errorf("--paginate: there are more pages, and %s is %q again", cursorVariable, cursor)
		}
		before = cursor
		j.doc.Variables[cursorVariable] = cursor
	}
}

// answer prints the answer to the document, and returns it.
func (j apiJob) answer(ctx context.Context, base string, p client.Params) ([]byte, error) {
	answer, err := client.GraphQL(ctx, base, p, j.doc)
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, searchHint(err))
	}
	text, err := print.IndentedJSON(answer.Body, j.color, j.terminal)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", base, err)
	}
	if _, err := j.out.Write(text); err != nil {
		return nil, err
	}
	if n := len(answer.Errors); n > 0 {
		return nil, fmt.Errorf("the answer has %s: %s", progress.Counted(n, "error"), answer.Errors[0])
	}
	return answer.Body, nil
}

// nextPage returns the cursor of the first pageInfo in an answer that has more
// pages, in the order of the names on the way.
func nextPage(body []byte) (cursor string, more bool) {
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return "", false
	}
	return nextIn(value)
}

func nextIn(value any) (cursor string, more bool) {
	switch v := value.(type) {
	case []any:
		for _, each := range v {
			if cursor, more = nextIn(each); more {
				return cursor, true
			}
		}
	case map[string]any:
		if info, ok := v["pageInfo"].(map[string]any); ok && info["hasNextPage"] == true {
			cursor, _ := info["endCursor"].(string)
			return cursor, true
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if cursor, more = nextIn(v[name]); more {
				return cursor, true
			}
		}
	}
	return "", false
}
