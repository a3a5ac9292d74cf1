package bench

import (
	"bytes"
	"encoding/json"
	"sync"
	"time"
)

// endings reads the log of a server for requests that have ended. The server
// writes the line of a request when everything that it had begun has ended.
type endings struct {
	mu   sync.Mutex // guards all below
	line []byte     // the beginning of one
	// by holds ends that came before they were waited for, wanted the waiters
	// for ends that have not come.
	by     map[string]ending
	wanted map[string]chan ending
	most   int
}

// ending is how and when the line of a request was there.
type ending struct {
	at      time.Time
	outcome string
}

func newEndings() *endings {
	return &endings{by: map[string]ending{}, wanted: map[string]chan ending{}}
}

// Write takes what the server logs.
func (e *endings) Write(p []byte) (int, error) {
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.line = append(e.line, p...)
	for {
		line, rest, whole := bytes.Cut(e.line, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		e.read(line, now)
		e.line = append([]byte(nil), rest...)
	}
}

func (e *endings) read(line []byte, now time.Time) {
	var fields struct {
		ID      string `json:"query_id"`
		Outcome string `json:"outcome"`
		Most    int    `json:"most_held"`
	}
	if json.Unmarshal(line, &fields) != nil || fields.ID == "" || fields.Outcome == "" {
		return // of something else
	}
	e.most = max(e.most, fields.Most)
	end := ending{now, fields.Outcome}
	if c := e.wanted[fields.ID]; c != nil {
		c <- end
		delete(e.wanted, fields.ID)
		return
	}
	if len(e.by) > 10_000 { // of streams and queries that no client waits for
		clear(e.by)
	}
	e.by[fields.ID] = end
}

// of returns a channel that receives the end of a request, once.
func (e *endings) of(id string) <-chan ending {
	c := make(chan ending, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	if end, over := e.by[id]; over {
		c <- end
		delete(e.by, id)
		return c
	}
	e.wanted[id] = c
	return c
}

// mostHeld is the most that the server says waited for one client.
func (e *endings) mostHeld() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.most
}
