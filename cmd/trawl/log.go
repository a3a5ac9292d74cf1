package main

import (
	"io"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/progress"
)

// output is where a command tells what it does, on standard error: a log, and
// a display of syncs that shares the terminal with it.
type output struct {
	log     zerolog.Logger
	display *progress.Display
}

// serviceOutput is for a command that runs until it is stopped: what it does
// is all in its log.
func (a *app) serviceOutput(set config.Settings) output {
	terminal := isTerminal(a.stderr)
	console := set.LogFormat == "console" || set.LogFormat == "auto" && terminal
	if console && terminal {
		d := progress.Bars(a.stderr, time.Now)
		return output{newLog(d, set, true, true), d}
	}
	log := newLog(a.stderr, set, console, false)
	return output{log, progress.Log(log, a.stderr, time.Now)}
}

// taskOutput is for a command that does something and ends: what it does is
// shown for people, and the log tells of trouble only, unless asked for more.
func (a *app) taskOutput(set config.Settings) output {
	if set.LogLevel == "info" {
		set.LogLevel = "warn"
	}
	if isTerminal(a.stderr) {
		d := progress.Bars(a.stderr, time.Now)
		return output{newLog(d, set, set.LogFormat != "json", true), d}
	}
	d := progress.Lines(a.stderr, time.Now)
	return output{newLog(d, set, set.LogFormat != "json", false), d}
}

// newLog makes the one logger of a command.
func newLog(w io.Writer, set config.Settings, console, color bool) zerolog.Logger {
	// The settings hold no level that does not parse.
	level, err := zerolog.ParseLevel(set.LogLevel)
	if err != nil {
		panic("trawl: unchecked log level " + set.LogLevel)
	}
	if console {
		w = zerolog.ConsoleWriter{Out: w, NoColor: !color, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(zerolog.SyncWriter(w)).Level(level).With().Timestamp().Logger()
}
