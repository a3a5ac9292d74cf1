package bench

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// protocolAgent has the tools of trawl's server of the Model Context Protocol.
type protocolAgent struct{ session *mcp.ClientSession }

func newProtocolAgent(ctx context.Context, t *trawl) (*protocolAgent, error) {
	cmd := exec.CommandContext(ctx, t.binary, "mcp", "--data", t.data)
	cmd.Env = t.env()
	session, err := mcp.NewClient(&mcp.Implementation{Name: selfName, Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return nil, fmt.Errorf("trawl mcp: %w", err)
	}
	return &protocolAgent{session}, nil
}

func (*protocolAgent) name() string { return "trawl" }

func (a *protocolAgent) close() error { return a.session.Close() }

// searches asks the question as it is, and then for its words.
func (a *protocolAgent) searches(q Question) []func(context.Context) (string, error) {
	all := []func(context.Context) (string, error){func(ctx context.Context) (string, error) {
		return a.call(ctx, "natural_search", map[string]any{"question": q.Text, "repository": exactly(q.Repository)})
	}}
	for n := len(q.Terms); n > 0; n-- {
		all = append(all, func(ctx context.Context) (string, error) {
			return a.call(ctx, "keyword_search", map[string]any{"query": strings.Join(q.Terms[:n], " "), "repository": exactly(q.Repository)})
		})
	}
	return all
}

// exactly is the pattern of one repository's name.
func exactly(name string) string { return "^" + regexp.QuoteMeta(name) + "$" }

func (a *protocolAgent) read(ctx context.Context, q Question, path string, first, last int) (string, error) {
	return a.call(ctx, "read_file", map[string]any{"repository": q.Repository, "path": path, "start_line": first, "end_line": last})
}

func (a *protocolAgent) call(ctx context.Context, tool string, arguments map[string]any) (string, error) {
	res, err := a.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return "", fmt.Errorf("%s: %w", tool, err)
	}
	var b strings.Builder
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String(), nil // an error tells the agent what to do instead
}

// The lines of a tool's answer: a title with repository and path, and lines with numbers.
var (
	toolTitle = regexp.MustCompile(`^## (\S+) (.+?)(?: at [0-9a-f]{12}, lines .*)?$`)
	toolLine  = regexp.MustCompile(`^(\d+)[:-] `)
)

func (*protocolAgent) cited(text string) (all []citation) {
	path := ""
	for line := range strings.Lines(text) {
		if m := toolTitle.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			path = m[2]
		} else if m := toolLine.FindStringSubmatch(line); m != nil && path != "" {
			all = appendCitation(all, path, m[1])
		}
	}
	return all
}

func appendCitation(all []citation, path, line string) []citation {
	n, err := strconv.Atoi(line)
	if err != nil {
		return all // longer than any line number
	}
	return append(all, citation{path, n})
}

// shellAgent has rg and sed in a shell, in the directory with the files.
type shellAgent struct{ tree string }

func (shellAgent) name() string { return "rg" }

// rg searches all files for words, in an order that stays, and cuts long lines.
const rg = "rg --no-config --no-ignore --hidden --sort path --max-columns 300 --max-columns-preview -F"

// searches asks for lines with all words, for the lines of files with all words that have
// one of them, and the same with fewer words.
func (a shellAgent) searches(q Question) (all []func(context.Context) (string, error)) {
	add := func(command string) {
		all = append(all, func(ctx context.Context) (string, error) { return a.run(ctx, command, q.Terms...) })
	}
	for n := len(q.Terms); n > 0; n-- {
		lines, files, any := rg+` -in -e "$1" .`, rg+` -il0 -e "$1" .`, ` -e "$1"`
		for i := 2; i <= n; i++ {
			word := fmt.Sprintf(`-e "$%d"`, i)
			lines += " | rg -i -F " + word
			files += " | xargs -0r " + rg + " -il0 " + word
			any += " " + word
		}
		add(lines)
		if n > 1 {
			add(files + " | xargs -0r " + rg + " -Hin" + any)
		}
	}
	return all
}

func (a shellAgent) read(ctx context.Context, _ Question, path string, first, last int) (string, error) {
	return a.run(ctx, fmt.Sprintf(`awk '%d <= FNR && FNR <= %d { print FILENAME ":" FNR ":" $0 }' "$1"`, first, last), "./"+path)
}

// run returns what a command with words prints, cut as tools for shells do it.
func (a shellAgent) run(ctx context.Context, command string, words ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", slices.Concat([]string{"-c", command, "sh"}, words)...)
	cmd.Dir, cmd.Env = a.tree, cleanEnv()
	out, err := cmd.Output()
	// rg and xargs end with 1 and 123 where nothing is found.
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && (exit.ExitCode() == 1 || exit.ExitCode() == 123) {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", command, withStderr(err))
	}
	text := string(out[:min(len(out), answerBytes)])
	if cut := strings.LastIndexByte(text, '\n'); len(out) > answerBytes && cut >= 0 {
		text = text[:cut+1]
	}
	return strings.ToValidUTF8(text, "?"), nil
}

var shellLine = regexp.MustCompile(`^\./([^:]+):(\d+):`)

func (shellAgent) cited(text string) (all []citation) {
	for line := range strings.Lines(text) {
		if m := shellLine.FindStringSubmatch(line); m != nil {
			all = appendCitation(all, m[1], m[2])
		}
	}
	return all
}
