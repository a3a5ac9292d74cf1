package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/trawlsearch/trawl/httpapi/client"
	"github.com/trawlsearch/trawl/httpapi/export"
	"github.com/trawlsearch/trawl/httpapi/stream"
	"github.com/trawlsearch/trawl/httpapi/stream/event"
)

// exportPath is where an answer is had as a file.
const exportPath = "/.api/search/export"

// exportFormat is what an answer may be written as.
type exportFormat struct {
	name, contentType string
	writer            func(io.Writer) exportWriter
}

var exportFormats = map[string]exportFormat{
	"csv":   {"search.csv", "text/csv; charset=utf-8; header=present", func(to io.Writer) exportWriter { return &exportTable{export.NewTable(to, nil)} }},
	"jsonl": {"search.jsonl", "application/jsonl", func(to io.Writer) exportWriter { return exportLines{to} }},
}

// exportWriter writes an answer.
type exportWriter interface {
	// matches writes those of an event, JSON objects of the stream.
	matches(data []byte) error
	// end writes what there is to say when no more follows.
	end(exportEnd) error
}

// exportEnd is the end of an answer: the progress and the alert of its stream, and
// why it failed if it did.
type exportEnd struct {
	Progress json.RawMessage `json:"progress,omitempty"`
	Alert    json.RawMessage `json:"alert,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// serveExport answers a search as a file that is written while it is searched. It is
// a stream whose events are written in another form, so all that holds for streams
// holds for it. What goes wrong before the first result is an error of the request;
// later the end of the file says so.
func (s searchRoutes) serveExport(w http.ResponseWriter, r *http.Request) error {
	format, ok := exportFormats[r.URL.Query().Get("format")]
	if !ok {
		return &Error{Status: http.StatusBadRequest, Message: "format must be csv or jsonl"}
	}
	p, err := stream.DecodeParams(r)
	if err != nil {
		return &Error{Status: http.StatusBadRequest, Message: err.Error()}
	}
	p.Chunks = true
	if r.URL.Query().Get("cl") == "" {
		p.ContextLines = 0
	}
	release, err := s.admit(w, r)
	if err != nil {
		return err
	}
	defer release()
	x := &exporter{open: func() *stream.Response {
		h := w.Header()
		b := s.stream.NewResponse(w, r)
		h["Content-Type"] = []string{format.contentType}
		h.Set("Content-Disposition", `attachment; filename="`+format.name+`"`)
		return b
	}}
	x.writer = format.writer(x)
	defer x.release()
	sum := &recordOf(r.Context()).search
	s.stream.Run(w.Header(), r, p, x, sum)
	switch {
	case x.response != nil || x.last.Error == "" && sum.Outcome != stream.Refused:
		return nil
	case sum.Outcome == stream.Refused:
		return &Error{Status: http.StatusBadRequest, Message: x.refusal()}
	}
	return &Error{Status: http.StatusInternalServerError, Message: x.last.Error}
}

// exporter writes the events of a stream as a file. It is used by one goroutine at a
// time.
type exporter struct {
	// open begins the answer, once there is something to write; response is nil before.
	open     func() *stream.Response
	response *stream.Response
	// writer writes to this exporter, which sends what has come together.
	writer exportWriter
	text   []byte
	last   exportEnd
}

// Write implements io.Writer.
func (x *exporter) Write(p []byte) (int, error) {
	x.text = append(x.text, p...)
	if len(x.text) < event.FullBytes {
		return len(p), nil
	}
	return len(p), x.write()
}

// Send implements event.Output.
func (x *exporter) Send(text []byte) error {
	name, data := event.Split(text)
	switch name {
	case "matches":
		if err := x.writer.matches(data); err != nil {
			return err
		}
		return x.write()
	case "progress":
		x.last.Progress = bytes.Clone(data)
	case "alert":
		x.last.Alert = bytes.Clone(data)
	case "error":
		var e event.Failure
		if err := json.Unmarshal(data, &e); err != nil {
			return err
		}
		x.last.Error = e.Message
	}
	return nil
}

func (x *exporter) write() error {
	if x.response == nil {
		x.response = x.open()
	}
	err := x.response.Send(x.text)
	if x.text = x.text[:0]; cap(x.text) > 4*event.UsualBytes { // a huge match made it grow
		x.text = nil
	}
	return err
}

// Flush makes what was written leave.
func (x *exporter) Flush() error {
	if x.response == nil {
		return nil
	}
	return x.response.Flush()
}

// End writes the end, unless nothing was written and there is an error, which the
// status of the answer tells.
func (x *exporter) End() error {
	if x.response == nil && (x.last.Error != "" || x.last.Progress == nil) {
		return nil
	}
	if err := x.writer.end(x.last); err != nil {
		return err
	}
	if err := x.write(); err != nil {
		return err
	}
	return x.response.End()
}

func (x *exporter) release() {
	if x.response != nil {
		x.response.Release()
	}
}

// refusal is why a query was not run.
func (x *exporter) refusal() string {
	var alert client.Alert
	if x.last.Error == "" && json.Unmarshal(x.last.Alert, &alert) == nil {
		return alert.Title + ": " + alert.Description
	}
	return x.last.Error
}

// exportLines writes JSON Lines: the matches of the stream, and an object of type end.
type exportLines struct{ to io.Writer }

func (l exportLines) matches(data []byte) error {
	var all []json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	for _, m := range all {
		if _, err := l.to.Write(append(m, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func (l exportLines) end(last exportEnd) error {
	return json.NewEncoder(l.to).Encode(struct {
		Type string `json:"type"`
		exportEnd
	}{"end", last})
}

// exportTable writes rows: results, and what was not searched.
type exportTable struct{ table *export.Table }

func (t *exportTable) matches(data []byte) error {
	var all []client.Match
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	for _, m := range all {
		if err := t.table.WriteMatch(export.FromClient(m)); err != nil {
			return err
		}
	}
	return t.table.Flush()
}

func (t *exportTable) end(last exportEnd) error {
	var p client.Progress
	if last.Progress != nil {
		if err := json.Unmarshal(last.Progress, &p); err != nil {
			return err
		}
	}
	for _, s := range p.Skipped {
		if err := t.table.Write(export.Row{Type: "skipped", Text: s.Title + ": " + s.Message}); err != nil {
			return err
		}
	}
	if last.Error != "" {
		if err := t.table.Write(export.Row{Type: "error", Text: last.Error}); err != nil {
			return err
		}
	}
	return t.table.Flush()
}
