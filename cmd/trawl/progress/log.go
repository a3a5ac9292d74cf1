package progress

import (
	"io"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/store/ingest"
)

// Log returns a display for a program without a terminal: it writes the
// progress as lines of a log. Writes go to w as they are. An error is the
// caller's to log.
func Log(log zerolog.Logger, w io.Writer, now func() time.Time) *Display {
	return &Display{now: now, view: &logView{&lineView{w: w}, log}}
}

type logView struct {
	*lineView
	log zerolog.Logger
}

func (v *logView) start(name string) taskView {
	return &logTask{v.log.With().Str("repo", name).Logger()}
}

type logTask struct{ log zerolog.Logger }

func (t *logTask) report(p ingest.Progress, fresh bool) {
	text, known := phases[p.Phase]
	if !fresh || !known {
		return
	}
	// A sync that finds nothing new is over before its progress matters.
	if p.Phase != "index" {
		t.log.Debug().Msg(text)
		return
	}
	t.log.Info().Int("done", p.Done).Int("total", p.Total).Int64("bytes", p.Bytes).Msg(text)
}

func (t *logTask) done(s Summary) {
	if s.Note != "" {
		t.log.Info().Str("done", s.Note).Int64("took_ms", s.Took.Milliseconds()).Msg("ended")
		return
	}
	level := zerolog.InfoLevel
	if !s.changed() {
		level = zerolog.DebugLevel
	}
	t.log.WithLevel(level).Int("documents", s.Documents).Int("added", s.Added).Int("removed", s.Removed).
		Int64("took_ms", s.Took.Milliseconds()).Msg("synced")
}

func (t *logTask) fail(error) {}
