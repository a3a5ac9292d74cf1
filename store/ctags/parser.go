package ctags

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// Errors of one text. The parser goes on with the next.
var (
	// ErrUnknownLanguage: ctags has no parser for such a file.
	ErrUnknownLanguage = errors.New("language unknown to ctags")
	// ErrTooSlow: the text took longer than Options.Budget.
	ErrTooSlow = errors.New("ctags took too long")
	// ErrCrashed: ctags ended, for want of memory or over a fault of its own, or
	// answered what makes no sense.
	ErrCrashed = errors.New("ctags crashed")
	// ErrTooMany: the text has more than MaxSymbols.
	ErrTooMany = errors.New("too many symbols")
)

// Limits on what is taken from one text.
const (
	// MaxSymbols is the most symbols of one text, so that none takes more than
	// some 100 MB of memory. A megabyte of generated macros has some 8,000.
	MaxSymbols = 1 << 20
	// MaxNameBytes is the longest name or container; longer ones are dropped.
	MaxNameBytes = 512
	maxLineBytes = 64 << 10
)

// Symbol is a definition in a text.
type Symbol struct {
	Name string
	// Kind is the word of ctags, such as "function" or "member".
	Kind string
	// Scope is the name of what holds the symbol, ScopeKind its kind; both may
	// be empty.
	Scope, ScopeKind string
	// Language is as ctags calls it.
	Language string
	// Line counts from 1.
	Line int
}

// Options are the bounds of a process. The zero value means the defaults.
type Options struct {
	// Budget is how long one text may take; 0 is 10 s.
	Budget time.Duration
	// MemoryBytes is how much memory the process may map; 0 is 1 GiB, negative
	// is no limit.
	MemoryBytes int64
}

func (o Options) withDefaults() Options {
	o.Budget = cmp.Or(o.Budget, 10*time.Second)
	o.MemoryBytes = cmp.Or(o.MemoryBytes, 1<<30)
	return o
}

// Program is a universal-ctags and what it knows.
type Program struct {
	path      string
	sandbox   bool
	languages *languages
}

// Open asks the ctags at path what it can do.
func Open(path string) (*Program, error) {
	features, err := list(path, "--list-features")
	if err != nil {
		return nil, err
	}
	maps, err := list(path, "--list-maps")
	if err != nil {
		return nil, err
	}
	return &Program{path: path, sandbox: hasFeature(features, "sandbox"), languages: newLanguages(maps)}, nil
}

// Start returns a parser. Its process starts with the first text.
func (p *Program) Start(o Options) *Parser {
	return &Parser{program: p, opts: o.withDefaults()}
}

// Parser is a ctags process that is kept running, and started again after a
// text that killed it. It is not safe for concurrent use. Close it.
type Parser struct {
	program *Program
	opts    Options

	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// Parse returns the symbols of a text in the order in which ctags finds them.
// Only the file's name is used of the path, to find the language.
func (p *Parser) Parse(ctx context.Context, path string, text []byte) ([]Symbol, error) {
	name, known := p.program.languages.nameFor(path, text)
	if !known {
		return nil, ErrUnknownLanguage
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(text) == 0 {
		return nil, nil // no process answers for nothing
	}
	if p.cmd == nil {
		if err := p.start(); err != nil {
			return nil, err
		}
	}
	budget, cancel := context.WithTimeoutCause(ctx, p.opts.Budget, ErrTooSlow)
	defer cancel()
	cmd := p.cmd
	stop := context.AfterFunc(budget, func() { _ = cmd.Process.Kill() }) // it may have ended by itself
	symbols, err := p.ask(name, text)
	if !stop() && err == nil {
		err = context.Cause(budget) // killed as it finished
	}
	if err == nil {
		return symbols, nil
	}
	_ = p.Close() // of a process that is being killed
	if cause := context.Cause(budget); cause != nil {
		err = cause
	}
	return nil, err
}

// request is a command of ctags's interactive mode; the text follows it.
type request struct {
	Command  string `json:"command"`
	Filename string `json:"filename"`
	Size     int    `json:"size"`
}

// ask sends one text and reads the answer.
func (p *Parser) ask(name string, text []byte) ([]Symbol, error) {
	line, err := json.Marshal(request{"generate-tags", name, len(text)})
	if err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCrashed, err)
	}
	if _, err := p.in.Write(text); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCrashed, err)
	}
	var symbols []Symbol
	words := map[string]string{}
	for {
		a, err := p.answer()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCrashed, err)
		}
		switch a.Type {
		case "completed":
			return symbols, nil
		case "error":
			if a.Fatal {
				return nil, fmt.Errorf("%w: it says %q", ErrCrashed, a.Message)
			}
		case "tag":
			if len(symbols) == MaxSymbols {
				return nil, ErrTooMany
			}
			if s, ok := a.symbol(words); ok {
				symbols = append(symbols, s)
			}
		}
	}
}

// answer is one line that ctags writes.
type answer struct {
	Type      string `json:"_type"`
	Name      string `json:"name"`
	Language  string `json:"language"`
	Line      int    `json:"line"`
	Kind      string `json:"kind"`
	Scope     string `json:"scope"`
	ScopeKind string `json:"scopeKind"`
	Message   string `json:"message"`
	Fatal     bool   `json:"fatal"`
}

// symbol keeps the words that repeat once each.
func (a answer) symbol(words map[string]string) (Symbol, bool) {
	if a.Name == "" || len(a.Name) > MaxNameBytes || len(a.Scope) > MaxNameBytes || a.Line < 1 {
		return Symbol{}, false
	}
	once := func(s string) string {
		if kept, ok := words[s]; ok {
			return kept
		}
		words[s] = s
		return s
	}
	return Symbol{
		Name: a.Name, Kind: once(a.Kind), Scope: once(a.Scope), ScopeKind: once(a.ScopeKind),
		Language: once(a.Language), Line: a.Line,
	}, true
}

// answer reads the next line that is not too long to be taken.
func (p *Parser) answer() (answer, error) {
	for {
		line, err := p.out.ReadSlice('\n')
		long := false
		for errors.Is(err, bufio.ErrBufferFull) {
			long = true
			_, err = p.out.ReadSlice('\n')
		}
		if err != nil {
			return answer{}, err
		}
		if long {
			continue
		}
		var a answer
		return a, json.Unmarshal(line, &a)
	}
}

// Close ends the process. The parser may be used again.
func (p *Parser) Close() error {
	if p.cmd == nil {
		return nil
	}
	_ = p.in.Close()         // its end of the pipe may be gone
	_ = p.cmd.Process.Kill() // it may have ended
	err := p.cmd.Wait()
	p.cmd, p.in, p.out = nil, nil, nil
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil // that it was killed is no news
	}
	return err
}
