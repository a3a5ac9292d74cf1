package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// AgentsConfig says what agents are asked. The zero value of a field means its default.
type AgentsConfig struct {
	// Trawl is the binary; required.
	Trawl string
	// Repositories is a directory with a git directory for each repository of the set, by
	// its name; required. They are only read.
	Repositories string
	// Set is what is asked; required.
	Set QuestionSet
	// Calls is how many calls an agent makes for a question at most; 20.
	Calls int
	// Work is a directory for clones, files and the index; required.
	Work string
	// Note, if set, hears how far it is.
	Note func(string)
}

// An agent looks for the answer of a question with the tools that it has. What it does is
// fixed, and no model, so that only the tools differ: it searches for words, fewer each
// time, and opens the first file that a search shows at the first line that is shown.
type agent interface {
	name() string
	// searches are those that it makes for a question, the first first.
	searches(q Question) []func(context.Context) (string, error)
	// read returns lines of a file, and cited the lines of files that a text shows.
	read(ctx context.Context, q Question, path string, first, last int) (string, error)
	cited(text string) []citation
}

// citation is a line of a file that an answer shows.
type citation struct {
	path string
	line int
}

const (
	// mostCalls is how many calls an agent makes for a question by default.
	mostCalls = 20
	// answerBytes are the most of an answer that an agent takes.
	answerBytes = 16_000
	// linesAround is how many lines before and behind one an agent opens.
	linesAround = 100
)

// Agents has agents answer questions: one with the tools of trawl's Model Context
// Protocol, one with rg and sed in a shell. It counts their calls and what they read.
func Agents(ctx context.Context, c AgentsConfig) (_ *AgentsReport, err error) {
	if c.Trawl == "" || c.Repositories == "" || c.Work == "" || len(c.Set.Questions) == 0 {
		return nil, errors.New("agents: a trawl binary, repositories, a directory and questions are needed")
	}
	c.Calls = cmp.Or(c.Calls, mostCalls)
	if c.Note == nil {
		c.Note = func(string) {}
	}
	for _, dir := range []*string{&c.Work, &c.Trawl, &c.Repositories} {
		if *dir, err = filepath.Abs(*dir); err != nil {
			return nil, fmt.Errorf("agents: %w", err)
		}
	}
	report := &AgentsReport{Version: ReportVersion, Started: time.Now().UTC(), Machine: thisMachine(), Calls: c.Calls, Commits: c.Set.Commits}
	if err := c.ask(ctx, report); err != nil {
		return nil, fmt.Errorf("agents: %w", err)
	}
	return report, nil
}

func (c *AgentsConfig) ask(ctx context.Context, report *AgentsReport) (err error) {
	if err := c.write(ctx); err != nil {
		return err
	}
	t := trawl{binary: c.Trawl, data: filepath.Join(c.Work, "data"), symbols: true}
	report.Trawl = t.version(ctx)
	var named []string
	for _, name := range sortedKeys(c.Set.Commits) {
		named = append(named, name+"="+c.clone(name).dir)
	}
	c.Note("indexing")
	if _, err := t.index(ctx, named...); err != nil {
		return err
	}
	protocol, err := newProtocolAgent(ctx, &t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, protocol.close()) }()
	for _, q := range c.Set.Questions {
		c.Note("asking " + q.Name)
		if err := q.check(c.tree(q.Repository)); err != nil {
			return err
		}
		facts := AgentsFacts{Question: q}
		for _, a := range []agent{protocol, shellAgent{c.tree(q.Repository)}} {
			effort, err := pursue(ctx, a, q, c.Calls)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", q.Name, a.name(), err)
			}
			facts.Efforts = append(facts.Efforts, effort)
		}
		report.Questions = append(report.Questions, facts)
	}
	return nil
}

// clone is the repository of that name as it is at the commit of the set, and tree the
// directory with its files.
func (c *AgentsConfig) clone(name string) gitRepo {
	return gitRepo{dir: filepath.Join(c.Work, "clones", name+".git")}
}

func (c *AgentsConfig) tree(name string) string { return filepath.Join(c.Work, "trees", name) }

// write makes clones and trees.
func (c *AgentsConfig) write(ctx context.Context) error {
	for _, name := range sortedKeys(c.Set.Commits) {
		c.Note("writing " + name)
		clone, tree, commit := c.clone(name), c.tree(name), c.Set.Commits[name]
		if err := os.MkdirAll(tree, 0o755); err != nil {
			return err
		}
		if _, err := (gitRepo{}).run(ctx, "clone", "--quiet", "--bare", "--shared", filepath.Join(c.Repositories, name), clone.dir); err != nil {
			return err
		}
		files := gitRepo{dir: tree, env: []string{"GIT_DIR=" + clone.dir, "GIT_WORK_TREE=" + tree, "GIT_INDEX_FILE=" + filepath.Join(clone.dir, "index")}}
		for _, step := range []struct {
			repo gitRepo
			args []string
		}{
			{clone, []string{"update-ref", "refs/heads/asked", commit}},
			{clone, []string{"symbolic-ref", "HEAD", "refs/heads/asked"}},
			{files, []string{"read-tree", "--reset", "-u", commit}},
		} {
			if _, err := step.repo.run(ctx, step.args...); err != nil {
				return fmt.Errorf("%s at %s: %w", name, commit, err)
			}
		}
	}
	return nil
}

// check fails if a line that answers is not there: the set would judge something else.
func (q *Question) check(tree string) error {
	for _, a := range q.Answers {
		text, err := os.ReadFile(filepath.Join(tree, filepath.FromSlash(a.Path)))
		if err != nil {
			return fmt.Errorf("%s: %w", q.Name, err)
		}
		lines := strings.Split(string(text), "\n")
		if a.Line > len(lines) || strings.TrimSpace(lines[a.Line-1]) != a.Text {
			return fmt.Errorf("%s: line %d of %s is not %q", q.Name, a.Line, a.Path, a.Text)
		}
	}
	return nil
}

// pursue has an agent look for the answer of a question.
func pursue(ctx context.Context, a agent, q Question, calls int) (AgentsEffort, error) {
	e := AgentsEffort{Agent: a.name()}
	var opened []string
	take := func(text string, err error) ([]citation, error) {
		e.Calls++
		e.Bytes += len(text)
		cited := a.cited(text)
		e.Found = e.Found || slices.ContainsFunc(cited, q.answeredBy)
		return cited, err
	}
	for _, search := range a.searches(q) {
		if e.Found || e.Calls >= calls {
			break
		}
		cited, err := take(search(ctx))
		if err != nil {
			return e, err
		}
		i := slices.IndexFunc(cited, func(c citation) bool { return !slices.Contains(opened, c.path) })
		if e.Found || i < 0 || e.Calls >= calls {
			continue
		}
		opened = append(opened, cited[i].path)
		if _, err := take(a.read(ctx, q, cited[i].path, max(1, cited[i].line-linesAround), cited[i].line+linesAround)); err != nil {
			return e, err
		}
	}
	return e, nil
}

func (q *Question) answeredBy(c citation) bool {
	return slices.ContainsFunc(q.Answers, func(a AnswerLine) bool { return a.Path == c.path && a.Line == c.line })
}
