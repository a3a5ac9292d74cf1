package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/network"
	protocol "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/trawlsearch/trawl/internal/tcpproxy"
)

// PagesConfig is a server whose pages are looked at in a browser.
type PagesConfig struct {
	// Trawl is the binary, Data a data directory with repositories in it, Memory
	// the setting of that name, Browser a Chromium.
	Trawl, Data, Memory, Browser string
	// File is the path of the page of a file on the server.
	File string
	// Few is a query whose first result is waited for, All one with a long answer.
	Few, All string
	// Runs is how often the home page, the file and Few are opened, each time with
	// nothing in the browser's cache.
	Runs int
	// Note, if set, hears how far it is.
	Note func(string)
}

// pages is one run.
type pages struct {
	PagesConfig
	// door is where the browser asks; it sees when answers begin.
	door *pageDoor
	// browser is where tabs are opened.
	browser context.Context
	report  PagesReport
}

// Pages starts a server and a browser, and measures pages as a person sees them: what
// is transferred, when it is painted, what keeps the page from answering, and what it
// takes in memory.
func Pages(ctx context.Context, c PagesConfig) (_ *PagesReport, err error) {
	if c.Note == nil {
		c.Note = func(string) {}
	}
	addr, err := tcpproxy.FreeAddress()
	if err != nil {
		return nil, err
	}
	// Those who look at a page seldom do so on the machine of the server: the browser goes first.
	cmd := exec.Command("nice", "-n", "10", c.Trawl, "serve", "--data", c.Data, "--listen", addr, "--memory", c.Memory, "--symbols=false",
		"--history-messages", "0", "--sync-interval", "24h", "--log-level", "warn")
	cmd.Env = cleanEnv()
	client := newClient()
	defer client.CloseIdleConnections()
	server, err := startProcess(ctx, "trawl serve", cmd, func(ctx context.Context) bool {
		return answersOK(ctx, &client, "http://"+addr+"/readyz")
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	door, err := openPageDoor(addr)
	if err != nil {
		return nil, err
	}
	defer door.close()
	profile, err := os.MkdirTemp("", "trawl-pages")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(profile)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(c.Browser), chromedp.NoSandbox,
		chromedp.WindowSize(1280, 860), chromedp.WSURLReadTimeout(readyWithin), chromedp.UserDataDir(profile))
	allocator, stop := chromedp.NewExecAllocator(ctx, options...)
	defer stop()
	browser, cancel := chromedp.NewContext(allocator)
	defer cancel()
	if err := chromedp.Do(browser); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Browser, err)
	}
	p := &pages{PagesConfig: c, door: door, browser: browser}
	p.report = PagesReport{FilePage: c.File, FewQuery: c.Few, AllQuery: c.All}
	return &p.report, p.run()
}

func (p *pages) run() error {
	for n := range p.Runs {
		p.Note(fmt.Sprintf("run %d of %d", n+1, p.Runs))
		for _, visit := range []struct {
			name  string
			paths []string
			loads *PageLoads
		}{
			{"home page", []string{homePage}, &p.report.Home},
			{"page of a file", []string{p.File}, &p.report.File},
			{"page of a file, from the home page", []string{homePage, p.File}, &p.report.Followed},
		} {
			load, err := p.load(visit.paths...)
			if err != nil {
				return fmt.Errorf("%s: %w", visit.name, err)
			}
			visit.loads.add(load)
		}
		after, err := p.firstResult()
		if err != nil {
			return fmt.Errorf("first result: %w", err)
		}
		p.report.FirstResults = append(p.report.FirstResults, after)
	}
	slices.Sort(p.report.FirstResults)
	p.Note(p.All)
	if err := p.whole(); err != nil {
		return fmt.Errorf("the whole answer: %w", err)
	}
	return nil
}

// pageTab is a page in a browser context of its own, with nothing in its cache.
type pageTab struct {
	ctx    context.Context
	cancel func()
	// transferred is how many bytes came over the wire.
	transferred atomic.Int64
}

// homePage is the path of the home page.
const homePage = "/search"

// pageWithin bounds what is waited for in a page.
const pageWithin = 5 * time.Minute

// watchTasks is run before the scripts of a page. It keeps the times for which the page
// did not answer (Long Tasks API: tasks of more than 50 ms), and when the first result
// was painted, by the clock of the machine.
const watchTasks = `
	window.longTasks = []
	new PerformanceObserver(list => longTasks.push(...list.getEntries().map(e => e.duration))).observe({type: "longtask", buffered: true})
	window.firstResult = new Promise(painted => new MutationObserver((_, seen) => {
		if (!document.querySelector("#results > article")) return
		seen.disconnect()
		requestAnimationFrame(() => setTimeout(() => painted(performance.timeOrigin + performance.now())))
	}).observe(document, {childList: true, subtree: true}))`

// open opens a tab in which a script is run before those of pages.
func (p *pages) open(ctx context.Context, before string) (*pageTab, error) {
	ctx, cancel := context.WithTimeout(ctx, pageWithin)
	ctx, stop := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	t := &pageTab{ctx: ctx, cancel: func() { stop(); cancel() }}
	_, err := chromedp.Call(ctx, protocol.AddScriptToEvaluateOnNewDocument, protocol.AddScriptToEvaluateOnNewDocumentParams{Source: before})
	if err == nil {
		// Else the page's process keeps what it transfers for developers, which people who
		// look at a page have not asked it for: tens of megabytes.
		_, err = chromedp.Call(ctx, network.Disable, cdp.Empty{})
	}
	if err == nil {
		_, err = chromedp.Call(ctx, css.Disable, cdp.Empty{})
	}
	if err == nil {
		_, err = chromedp.Call(ctx, dom.Disable, cdp.Empty{})
	}
	if err != nil {
		t.cancel()
		return nil, err
	}
	return t, nil
}

// countTransferred has what the page transfers counted.
func (t *pageTab) countTransferred() error {
	err := chromedp.Listen(t.ctx, func(event any) {
		if e, ok := event.(*network.EventLoadingFinished); ok {
			t.transferred.Add(int64(e.EncodedDataLength))
		}
	})
	if err == nil {
		_, err = chromedp.Call(t.ctx, network.Enable, network.EnableParams{})
	}
	return err
}

// in returns what an expression comes to in a page.
func in[T any](t *pageTab, expression string) (T, error) {
	v, err := chromedp.Run(t.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		err = fmt.Errorf("%s: %w", expression, err)
	}
	return v, err
}

// load opens pages one after the other in a tab, each when all of the one before is
// painted, and returns what the last took.
func (p *pages) load(paths ...string) (load PageLoad, err error) {
	t, err := p.open(p.browser, "")
	if err != nil {
		return load, err
	}
	defer t.cancel()
	if err := t.countTransferred(); err != nil {
		return load, err
	}
	for _, path := range paths {
		if load, err = t.load(p.door.url + path); err != nil {
			return load, err
		}
	}
	return load, nil
}

// load opens a page and waits until all of it is painted.
func (t *pageTab) load(address string) (PageLoad, error) {
	t.transferred.Store(0)
	if err := chromedp.Do(t.ctx, chromedp.Navigate(address)); err != nil {
		return PageLoad{}, err
	}
	painted, err := in[[]float64](t, `(async () => {
		while (document.readyState !== "complete") await new Promise(next => setTimeout(next, 2))
		const [visit] = performance.getEntriesByType("navigation")
		if (visit.responseStatus !== 200) throw new Error("status " + visit.responseStatus)
		await new Promise(next => requestAnimationFrame(() => setTimeout(next)))
		const whole = performance.now()
		while (!performance.getEntriesByName("first-contentful-paint").length) await new Promise(next => setTimeout(next, 2))
		return [performance.getEntriesByName("first-contentful-paint")[0].startTime, whole, visit.responseEnd]
	})()`)
	if err != nil {
		return PageLoad{}, err
	}
	return PageLoad{t.transferred.Load(), inMilliseconds(painted[0]), inMilliseconds(painted[1]), inMilliseconds(painted[2])}, nil
}

func inMilliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

// firstResult returns how long after the server sent the first result it was painted.
func (p *pages) firstResult() (time.Duration, error) {
	t, err := p.open(p.browser, watchTasks)
	if err != nil {
		return 0, err
	}
	defer t.cancel()
	p.door.forget()
	if err := chromedp.Do(t.ctx, chromedp.Navigate(p.door.url+"/search?q="+url.QueryEscape(p.Few))); err != nil {
		return 0, err
	}
	painted, err := in[float64](t, "firstResult")
	if err != nil {
		return 0, err
	}
	sent := p.door.firstMatch()
	if sent.IsZero() {
		return 0, fmt.Errorf("the page shows a result of %q before any was sent", p.Few)
	}
	return time.UnixMicro(int64(painted * 1000)).Sub(sent), nil
}

// whole opens an answer of very many results, waits for its end and goes to the last.
func (p *pages) whole() error {
	t, err := p.open(p.browser, watchTasks)
	if err != nil {
		return err
	}
	defer t.cancel()
	ctx, stop := context.WithCancel(t.ctx)
	memory := make(chan int64, 1)
	go func() { memory <- p.mostMemory(ctx) }()
	err = p.wholeAnswer(t)
	stop()
	p.report.PageBytes = <-memory
	return err
}

// waitAll waits for the end of an answer, and is what the page then says of it.
const waitAll = `(async () => {
	while (!document.getElementById("told").textContent) await new Promise(next => setTimeout(next, 20))
	return document.getElementById("told").textContent
})()`

func (p *pages) wholeAnswer(t *pageTab) error {
	start := time.Now()
	if err := chromedp.Do(t.ctx, chromedp.Navigate(p.door.url+"/search?q="+url.QueryEscape(p.All))); err != nil {
		return err
	}
	told, err := in[string](t, waitAll)
	if err != nil {
		return err
	}
	p.report.All, p.report.AllTold = time.Since(start), told
	p.Note(told)
	// through the list as people go: page by page, along the scroll bar, to its end
	start = time.Now()
	if _, err := in[bool](t, `(async () => {
		const wait = n => new Promise(next => setTimeout(next, n))
		for (let k = 0; k < 40; k++) { scrollBy({top: 0.9 * innerHeight}); await wait(50) }
		for (let k = 1; k < 40; k++) { scrollTo({top: k / 40 * document.documentElement.scrollHeight, behavior: "instant"}); await wait(100) }
		return true
	})()`); err != nil {
		return err
	}
	for range 10 {
		if err := chromedp.Do(t.ctx, chromedp.KeyEvent(kb.End)); err != nil {
			return err
		}
		if p.report.LastReached, err = in[bool](t, lastSeen); err != nil || p.report.LastReached {
			break
		}
	}
	p.report.Scrolled = time.Since(start)
	if err != nil {
		return err
	}
	if !p.report.LastReached {
		where, err := in[string](t, whereIsIt)
		if err != nil {
			return err
		}
		if where == notPainted {
			return ErrNotPainted
		}
		p.Note("the last result is not reached: " + where)
	}
	p.report.Results, err = in[int](t, `Number([...document.querySelectorAll("#results > article")].at(-1).ariaPosInSet)`)
	if err != nil {
		return err
	}
	tasks, err := in[[]float64](t, "longTasks")
	if err != nil {
		return err
	}
	for _, ms := range tasks {
		p.report.LongTasks = append(p.report.LongTasks, inMilliseconds(ms))
	}
	slices.Sort(p.report.LongTasks)
	p.report.HeapBytes, err = in[int64](t, "performance.memory.usedJSHeapSize")
	return err
}

// lastSeen waits up to ten seconds for the end of the last result to be in the window,
// which is then the end of the page.
const lastSeen = `(async () => {
	for (let k = 0; k < 500; k++) {
		const last = [...document.querySelectorAll("#results > article")].at(-1), box = last?.getBoundingClientRect()
		if (box && !document.querySelector("article.blank") && box.bottom <= innerHeight && box.bottom > 0 && scrollY >= document.documentElement.scrollHeight - 2 * innerHeight) return true
		await new Promise(next => setTimeout(next, 20))
	}
	return false
})()`

// ErrNotPainted says that the browser painted nothing, which tells nothing about a page.
var ErrNotPainted = errors.New("the browser has painted nothing for ten seconds")

// whereIsIt tells where a list stands that was not scrolled to its end, or notPainted.
const (
	notPainted = "not painted"
	whereIsIt  = `(async () => {
		const painted = await Promise.race([new Promise(next => requestAnimationFrame(() => next(true))), new Promise(next => setTimeout(next, 10000))])
		if (!painted) return "` + notPainted + `"
		const shown = [...document.querySelectorAll("#results > article")].map(a => a.ariaPosInSet + (a.classList.contains("blank") ? " blank" : ""))
		const { scrollHeight } = document.documentElement, focused = document.activeElement
		return ` + "`at ${scrollY} of ${scrollHeight}, window of ${innerHeight}, results ${shown}, focus in ${focused?.tagName} ${focused?.id}`" + `
	})()`
)

// mostMemory returns the most anonymous memory that a process of pages took until ctx is
// done, 0 where that cannot be read.
func (p *pages) mostMemory(ctx context.Context) (most int64) {
	every := time.NewTicker(100 * time.Millisecond)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return most
		case <-every.C:
		}
		info, err := chromedp.CallBrowser(ctx, systeminfo.GetProcessInfo, cdp.Empty{})
		if err != nil {
			continue
		}
		for _, process := range info.ProcessInfo {
			if strings.EqualFold(process.Type, "renderer") {
				most = max(most, sampleTree(int(process.ID)).anon)
			}
		}
	}
}
