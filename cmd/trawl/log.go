package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/store/redact"
)

// output is the output of a command on standard error: a log, and a display of
// syncs that shares the terminal with it.
type output struct {
	log     zerolog.Logger
	display *progress.Display
	// watched says that a person reads the log as it is written.
	watched bool
	// level is that of the log of a service, nil for others.
	level *logLevel
}

// serviceOutput is for a command that runs until it is stopped: what it does
// is all in its log, whose level can be changed.
func (a *app) serviceOutput(set config.Settings) output {
	out := a.serviceOutputAt(set)
	out.level = newLogLevel(set.LogLevel)
	out.log = out.log.Level(zerolog.TraceLevel).Hook(out.level)
	return out
}

// logLevel is a level that changes while a service runs. It is safe for concurrent use.
type logLevel struct{ least atomic.Int32 }

func newLogLevel(text string) *logLevel {
	l := &logLevel{}
	l.set(text)
	return l
}

func (l *logLevel) set(text string) { l.least.Store(int32(parseLevel(text))) }

// Run implements zerolog.Hook.
func (l *logLevel) Run(e *zerolog.Event, level zerolog.Level, _ string) {
	if int32(level) < l.least.Load() {
		e.Discard()
	}
}

// parseLevel reads a level of the settings, which hold none that does not parse.
func parseLevel(text string) zerolog.Level {
	level, err := zerolog.ParseLevel(text)
	if err != nil {
		panic("trawl: unchecked log level " + text)
	}
	return level
}

func (a *app) serviceOutputAt(set config.Settings) output {
	terminal := isTerminal(a.stderr)
	console := set.LogFormat == "console" || set.LogFormat == "auto" && terminal
	if console && terminal {
		d := terminalDisplay(a.stderr)
		return output{log: newLog(d, set, true, true), display: d, watched: true}
	}
	log := newLog(a.stderr, set, console, false)
	return output{log: log, display: progress.Log(log, a.stderr, time.Now)}
}

// taskOutput is for a command that does a task and ends: its progress is shown
// for people, and the log has only errors, unless asked for more.
func (a *app) taskOutput(set config.Settings) output {
	if set.LogLevel == "info" {
		set.LogLevel = "warn"
	}
	if isTerminal(a.stderr) {
		d := terminalDisplay(a.stderr)
		return output{log: newLog(d, set, set.LogFormat != "json", true), display: d, watched: true}
	}
	d := progress.Lines(a.stderr, time.Now)
	return output{log: newLog(d, set, set.LogFormat != "json", false), display: d}
}

// terminalDisplay returns bars, or lines for a terminal that has no size to draw
// bars in, as under some CI systems and editors.
func terminalDisplay(w io.Writer) *progress.Display {
	if f, ok := w.(*os.File); ok {
		if width, height, err := term.GetSize(int(f.Fd())); err != nil || width == 0 || height == 0 {
			return progress.Lines(w, time.Now)
		}
	}
	return progress.Bars(w, time.Now)
}

// newLog makes the one logger of a command.
func newLog(w io.Writer, set config.Settings, console, color bool) zerolog.Logger {
	if console {
		w = zerolog.ConsoleWriter{Out: w, NoColor: !color, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(withoutSecrets{zerolog.SyncWriter(w)}).Level(parseLevel(set.LogLevel)).With().Timestamp().Logger()
}

// withoutSecrets takes the secrets of URLs out of each line of a log.
type withoutSecrets struct{ io.Writer }

// Write writes one line, which is a JSON object.
func (w withoutSecrets) Write(line []byte) (int, error) {
	if !bytes.Contains(line, []byte("://")) {
		return w.Writer.Write(line)
	}
	if _, err := w.Writer.Write(redactLine(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}

// redactLine returns a JSON value with the secrets of URLs taken out of its texts.
func redactLine(line []byte) []byte {
	var out []byte
	copied, before := 0, 0
	d := json.NewDecoder(bytes.NewReader(line))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return append(out, line[copied:]...)
		}
		if err != nil {
			return []byte(redact.Text(string(line)))
		}
		end := int(d.InputOffset())
		if text, ok := token.(string); ok && redact.Text(text) != text {
			shown, err := json.Marshal(redact.Text(text))
			if err != nil {
				panic("trawl: a text that is no JSON: " + err.Error())
			}
			begin := before + bytes.IndexByte(line[before:end], '"')
			out = append(append(out, line[copied:begin]...), shown...)
			copied = end
		}
		before = end
	}
}
