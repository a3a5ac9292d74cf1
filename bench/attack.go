package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/internal/tcpproxy"
)

// AttackConfig describes a run of Attack.
type AttackConfig struct {
	// Trawl is the binary, Data a data directory with repositories in it, Memory
	// the setting of that name. A repository that is expensive in every way is
	// made in Work and added to Data for the run; Scale is its size, 1 being about
	// 700 MB.
	Trawl, Data, Memory, Work string
	Scale                     float64
	// For is how long each attack lasts, Rate how many queries a second another
	// client sends meanwhile, AttackRate how many requests a second attack.
	For              time.Duration
	Rate, AttackRate float64
	// Connections is how many are opened by those attacks that open many.
	Connections int
	// Words are what the other client looks for.
	Words []string
	// Only, if set, is a part of the names of attacks to run.
	Only string
	// Note, if set, hears how far it is.
	Note func(string)
}

// The addresses of the attacker and of the other client. Slots are shared among
// addresses where no user signs in.
const (
	attackerHost  = "127.0.0.2"
	bystanderHost = "127.0.0.1"
)

// assault is one run of Attack.
type assault struct {
	AttackConfig
	addr string
	pid  int
	// limit is the setting memory in bytes.
	limit    int64
	repo     *hostileRepo
	operator *operatorClient
}

// Attack starts a server and attacks it in one way after the other, while
// another client asks plain queries.
func Attack(ctx context.Context, c AttackConfig) (*AttackReport, error) {
	if c.Note == nil {
		c.Note = func(string) {}
	}
	limit, err := parseSize(c.Memory)
	if err != nil {
		return nil, err
	}
	c.Note("making the hostile repository")
	repo, err := newHostileRepo(ctx, filepath.Join(c.Work, hostileName+".git"), c.Scale)
	if err != nil {
		return nil, err
	}
	addr, err := tcpproxy.FreeAddress()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(c.Trawl, "serve", "--data", c.Data, "--listen", addr, "--memory", c.Memory, "--symbols=false",
		"--sync-interval", "24h", "--log-format", "json", "--log-level", "error")
	cmd.Env = cleanEnv()
	client := newClient()
	defer client.CloseIdleConnections()
	p, err := startProcess(ctx, "trawl serve", cmd, func(ctx context.Context) bool { return answersOK(ctx, &client, "http://"+addr+"/readyz") })
	if err != nil {
		return nil, err
	}
	a := &assault{AttackConfig: c, addr: addr, pid: cmd.Process.Pid, limit: limit, repo: repo}
	report := &AttackReport{For: c.For, Connections: c.Connections, MemoryBytes: limit}
	err = a.addAll(ctx, func() error { return a.all(ctx, report) })
	return report, errors.Join(err, p.stop())
}

// addAll adds what the server needs for the attacks, does something, and removes
// it again.
func (a *assault) addAll(ctx context.Context, do func() error) error {
	secret, err := operatorOf(a.Data)
	if err != nil {
		return err
	}
	a.operator = &operatorClient{client: newClient(), base: "http://" + a.addr, operator: secret}
	defer a.operator.client.CloseIdleConnections()
	removeBystander, err := a.addBystander(ctx)
	if err != nil {
		return err
	}
	remove, err := a.addRepository(ctx)
	if err != nil {
		return errors.Join(err, removeBystander())
	}
	return errors.Join(do(), remove(), removeBystander())
}

// addRepository has the server index the hostile repository, with its history,
// and returns what removes it again.
func (a *assault) addRepository(ctx context.Context) (remove func() error, err error) {
	a.Note("indexing it")
	operator := a.operator
	remove = func() error {
		return operator.call(context.WithoutCancel(ctx), http.MethodDelete, "repositories", url.Values{"name": {hostileName}}, nil, nil)
	}
	if err := operator.call(ctx, http.MethodPost, "repositories", nil, map[string]string{"source": hostileName + "=" + a.repo.dir}, nil); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, indexWithin, errors.New("the hostile repository is not indexed in time"))
	defer cancel()
	if err := operator.call(ctx, http.MethodPost, "repositories/sync", url.Values{"name": {hostileName}}, nil, &lastLine{}); err != nil {
		return nil, errors.Join(err, remove())
	}
	for _, wanted := range []string{`"the last file" type:file`, `"the last file" type:diff index:only`} {
		for found := false; !found; {
			if !pause(ctx, 100*time.Millisecond) {
				return nil, errors.Join(context.Cause(ctx), remove())
			}
			answer, err := a.search(ctx, "repo:^"+hostileName+"$ "+wanted)
			if err != nil {
				return nil, errors.Join(err, remove())
			}
			found = answer.Results > 0
		}
	}
	return remove, nil
}

// indexWithin is how long indexing the hostile repository may take.
const indexWithin = 10 * time.Minute

// everything is a query that reads all text, or what there is time for, and finds
// little of it.
const everything = `type:file /[^a]{40}z$/`

// all runs the attacks, after the other client had the server for itself and
// filled its caches: what they take is not an attack's.
func (a *assault) all(ctx context.Context, report *AttackReport) error {
	for _, query := range append([]string{everything}, a.Words...) {
		if _, err := a.ask(query + " count:all timeout:20s"); err != nil {
			return fmt.Errorf("fill the caches: %w", err)
		}
	}
	a.beside(ctx, func(ctx context.Context) { pause(ctx, a.For) }) // nothing is warm before
	alone := a.beside(ctx, func(ctx context.Context) { pause(ctx, 2*a.For) })
	report.Alone, report.AlonePages, report.AloneSyncs = alone.queries, alone.pages, alone.syncs
	for _, at := range a.attacks() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !strings.Contains(at.name, a.Only) {
			continue
		}
		a.Note(at.name)
		r := AttackResult{Name: at.name, Wants: at.wants}
		before := residentBytes(a.pid)
		other := a.beside(ctx, func(ctx context.Context) { a.run(ctx, at, &r) })
		r.Others, r.Pages, r.Syncs, r.Failed = other.queries, other.pages, other.syncs, other.failed
		r.PeakBytes, r.GrowthBytes = other.most, max(other.most-before, 0)
		r.EndsIn = a.settle(ctx)
		report.Attacks = append(report.Attacks, r)
	}
	return nil
}

// settle waits until the server is idle, once no client has a connection, and
// returns how long that took.
func (a *assault) settle(ctx context.Context) time.Duration {
	const window = 200 * time.Millisecond
	start := time.Now()
	for time.Since(start) < settleWithin {
		ticks := cpuTicks(a.pid)
		if !pause(ctx, window) {
			break
		}
		// The collector and the engine may still do a little.
		if used := cpuTicks(a.pid) - ticks; used <= 6 && countBelow(a.pid) == 0 {
			return time.Since(start) - window
		}
	}
	return time.Since(start)
}

// settleWithin is how long the server is watched after an attack.
const settleWithin = 20 * time.Second

// bystander is how the other client was served.
type bystander struct {
	queries, pages, syncs Percentiles
	// failed counts what was not answered. most is the most that the server was
	// resident with, in bytes.
	failed int
	most   int64
}

// pageEvery is how many queries the other client asks for each page.
const pageEvery = 4

// beside does something for some time while the other client asks for matches
// and pages, and a small repository is synced.
func (a *assault) beside(ctx context.Context, do func(context.Context)) (out bystander) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var queries, pages, syncs []time.Duration
	var mu sync.Mutex // guards queries, pages, syncs and out.failed
	var group sync.WaitGroup
	note := func(into *[]time.Duration, d time.Duration, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			a.Note("another client: " + err.Error())
			out.failed++
		}
		*into = append(*into, d)
	}
	ask := func(n int) {
		into, d, err := &queries, time.Duration(0), error(nil)
		if n%pageEvery == pageEvery-1 {
			into = &pages
			d, err = a.look([]string{"/-/blob/small.txt", "/-/raw/small.txt"}[n/pageEvery%2])
		} else {
			d, err = a.ask(a.Words[n%len(a.Words)] + " count:50")
		}
		note(into, d, err)
	}
	group.Go(func() {
		for n := 0; pause(ctx, time.Duration(float64(time.Second)/a.Rate)); n++ {
			group.Go(func() { ask(n) })
		}
	})
	group.Go(func() {
		for pause(ctx, syncEvery) {
			d, err := a.sync()
			note(&syncs, d, err)
		}
	})
	group.Go(func() {
		for pause(ctx, sampleEvery) {
			out.most = max(out.most, residentBytes(a.pid))
		}
	})
	do(ctx)
	cancel()
	group.Wait()
	out.queries, out.pages, out.syncs = percentiles(queries), percentiles(pages), percentiles(syncs)
	return out
}

// ask asks as the other client does.
func (a *assault) ask(query string) (time.Duration, error) {
	start := time.Now()
	_, err := a.search(context.Background(), query)
	return time.Since(start), err
}

func (a *assault) search(ctx context.Context, query string) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	asker := newAsker("http://"+a.addr, "")
	defer asker.close()
	return asker.search(ctx, query, "keyword", func([]byte) error { return nil })
}

// look asks for a page of the hostile repository, to its end.
func (a *assault) look(path string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askWithin)
	defer cancel()
	start := time.Now()
	asker := newAsker("http://"+a.addr, "")
	defer asker.close()
	resp, err := asker.get(ctx, asker.base+"/"+hostileName+path)
	if err != nil {
		return time.Since(start), err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return time.Since(start), err
}

// run attacks until the time is up.
func (a *assault) run(ctx context.Context, at attack, r *AttackResult) {
	raw := at.request() // some take a while to make
	ctx, cancel := context.WithTimeout(ctx, a.For)
	defer cancel()
	if at.connections > 0 {
		a.hold(ctx, at, r)
		return
	}
	var took []time.Duration
	var mu sync.Mutex // guards took and r
	var group sync.WaitGroup
	slots := make(chan struct{}, 4) // requests that do not end are not made without end
	for pause(ctx, time.Duration(float64(time.Second)/a.AttackRate)) {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			continue
		}
		group.Go(func() {
			defer func() { <-slots }()
			d, answer := a.send(ctx, raw)
			mu.Lock()
			defer mu.Unlock()
			r.tell(answer)
			if strings.HasPrefix(answer, refused) {
				took = append(took, d)
			}
		})
	}
	group.Wait()
	r.Refused = percentiles(took)
}

func (a *assault) dial(ctx context.Context) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(attackerHost)}}
	return d.DialContext(ctx, "tcp", a.addr)
}

// send sends a request and returns how long its answer took, and what it was.
func (a *assault) send(ctx context.Context, raw []byte) (time.Duration, string) {
	conn, err := a.dial(ctx)
	var late net.Error
	switch {
	case err != nil && (ctx.Err() != nil || errors.As(err, &late) && late.Timeout()): // its time ends just before ctx
		return 0, unfinished
	case err != nil:
		return 0, "not connected: " + err.Error()
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()
	start := time.Now()
	go func() { _, _ = conn.Write(raw) }() // the server may answer before it has all
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return time.Since(start), unanswered(ctx)
	}
	defer resp.Body.Close()
	tail := &tail{}
	_, err = io.Copy(tail, resp.Body)
	return time.Since(start), answerKind(ctx, resp.StatusCode, tail.String(), err)
}

// unanswered describes a request that got no answer.
func unanswered(ctx context.Context) string {
	if ctx.Err() != nil {
		return unfinished
	}
	return refused + ", connection closed"
}

// unfinished is the kind of a request whose client left before its answer,
// since the time of the attack was up.
const unfinished = "still at work when its client left"

// refused begins the text for requests that the server does not serve.
const refused = "refused"

// answerKind returns the kind of an answer, by its status and its end.
func answerKind(ctx context.Context, status int, end string, err error) string {
	switch {
	case status != http.StatusOK:
		return fmt.Sprintf("%s, %d", refused, status)
	case err != nil && ctx.Err() != nil:
		return "still answering when its client left"
	case err != nil:
		return "cut off: " + err.Error()
	case strings.Contains(end, "Unable To Process Query"), strings.Contains(end, `"errors":[`), strings.Contains(end, "event: error"):
		return refused + ", 200 with why"
	}
	var reasons []string
	for _, part := range strings.Split(end, `"reason":"`)[1:] {
		reason, _, _ := strings.Cut(part, `"`)
		reasons = append(reasons, reason)
	}
	if len(reasons) > 0 {
		return "partial, " + strings.Join(reasons, " and ")
	}
	return "answered"
}

// hold opens connections, sends what the attack begins with on each, and reads
// as fast as it says.
func (a *assault) hold(ctx context.Context, at attack, r *AttackResult) {
	raw := at.request()
	n := min(at.connections, a.Connections)
	var mu sync.Mutex // guards r
	var group sync.WaitGroup
	defer group.Wait()
	for range n {
		conn, err := a.dial(ctx)
		if err != nil {
			mu.Lock()
			r.tell("not connected")
			mu.Unlock()
			break
		}
		group.Go(func() {
			defer conn.Close()
			answer := a.keep(ctx, conn, raw, at.bytesPerSecond)
			mu.Lock()
			defer mu.Unlock()
			r.tell(answer)
		})
	}
	<-ctx.Done()
}

// keep keeps one connection.
func (a *assault) keep(ctx context.Context, conn net.Conn, raw []byte, bytesPerSecond int) string {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()
	if err := conn.(*net.TCPConn).SetReadBuffer(windowBytes); err != nil {
		return err.Error()
	}
	if _, err := conn.Write(raw); err != nil {
		return unanswered(ctx)
	}
	head := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(conn, head); err != nil {
		if ctx.Err() != nil {
			return "open without an answer"
		}
		return refused + ", connection closed"
	}
	if status := string(head[len("HTTP/1.1 "):]); status != strconv.Itoa(http.StatusOK) {
		return refused + ", " + status
	}
	for pause(ctx, time.Second) {
		if bytesPerSecond > 0 {
			if _, err := io.CopyN(io.Discard, conn, int64(bytesPerSecond)); err != nil && ctx.Err() == nil {
				return "stream ended"
			}
		}
	}
	return "stream open"
}

// residentBytes returns the resident memory of a process, 0 where it is
// unknown.
func residentBytes(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
