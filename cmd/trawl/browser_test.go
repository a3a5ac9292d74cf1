package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/trawlsearch/trawl/cmd/trawl/serverfile"
	"github.com/trawlsearch/trawl/internal/needs"
)

// browserPatience is how long a page may take to show what it is to show, on
// a machine that does much besides.
const browserPatience = 90 * time.Second

// chromium finds the browser. The one without windows comes first, as it starts in a
// third of the time.
func chromium(t *testing.T) string {
	t.Helper()
	return needs.Program(t, "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
}

// sharedBrowser is the browser of all tests of a process, since a start takes as long
// as a test. Each test has a browser context of its own in it: cookies, storage
// and cache.
var sharedBrowser struct {
	start sync.Once
	ctx   context.Context
	err   error
	// end ends the browser and removes its files. It is nil if none was started.
	end func()
}

// newBrowser returns a browser that has kept nothing of other tests.
func newBrowser(t *testing.T, path string) context.Context {
	t.Helper()
	b := &sharedBrowser
	b.start.Do(func() {
		profile, err := os.MkdirTemp("", "trawl-browser")
		if err != nil {
			b.err = err
			return
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
			chromedp.WindowSize(1280, 860), chromedp.WSURLReadTimeout(browserPatience), chromedp.UserDataDir(profile))
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, cancel := chromedp.NewContext(allocator)
		b.ctx, b.err = ctx, chromedp.Do(ctx)
		b.end = func() {
			_ = chromedp.Cancel(ctx) // waits for its end
			cancel()
			stop()
			_ = os.RemoveAll(profile)
		}
	})
	if b.err != nil {
		t.Fatalf("start %s: %v", path, b.err)
	}
	browser, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(browser); err != nil {
		t.Fatalf("open a browser context: %v", err)
	}
	return browser
}

// site is a server and the browser that looks at it.
type site struct {
	*testing.T
	url, data string
	// browser is where tabs are opened.
	browser context.Context
}

// newSite serves repositories, and what more is said, until the test is over.
func newSite(t *testing.T, args ...string) *site {
	t.Helper()
	path := chromium(t)
	keepMemoryLimit(t)
	s := &site{T: t, data: filepath.Join(t.TempDir(), "data")}
	t.Setenv("TRAWL_DATA", s.data)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	var said bytes.Buffer
	go func() {
		args := append([]string{"serve", "--listen", "127.0.0.1:0", "--log-level", "error"}, args...)
		ended <- run(ctx, args, strings.NewReader(""), io.Discard, &said)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil || said.Len() > 0 {
			t.Errorf("serve ended with %v, and logged\n%s", err, &said)
		}
	})
	awaitReady(t, s.data)
	f, err := serverfile.Read(s.data)
	if err != nil {
		t.Fatal(err)
	}
	s.url = f.URL()
	s.browser = newBrowser(t, path)
	return s
}

// in is the site in a part of the test.
func (s *site) in(t *testing.T) *site {
	part := *s
	part.T = t
	return &part
}

// user makes a user with a password.
func (s *site) user(name string, flags ...string) {
	s.Helper()
	var stdout, stderr bytes.Buffer
	args := append([]string{"user", "create", name, "--password-stdin"}, flags...)
	if err := run(s.Context(), args, strings.NewReader(browserPassword+"\n"), &stdout, &stderr); err != nil {
		s.Fatalf("create %s: %v\n%s", name, err, &stderr)
	}
}

const browserPassword = "correct horse battery"

// tab is a page in the browser, and what the browser said against it.
type tab struct {
	*site
	ctx context.Context

	mu sync.Mutex
	// said are errors of scripts and what a policy refused.
	said []string
}

// step is something to do in a tab.
type step = chromedp.Action[chromedp.Void]

// open opens a page in a tab.
func (s *site) open(path string, before ...step) *tab {
	s.Helper()
	ctx, cancel := chromedp.NewContext(s.browser)
	s.Cleanup(cancel)
	t := &tab{site: s, ctx: ctx}
	if err := chromedp.Listen(ctx, t.listen); err != nil {
		s.Fatalf("open a tab: %v", err)
	}
	call(t, log.Enable, cdp.Empty{})
	call(t, runtime.Enable, cdp.Empty{})
	t.do(append(before, chromedp.Navigate(s.url+path))...)
	return t
}

// listen keeps what the browser says against the page.
func (t *tab) listen(event any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		t.said = append(t.said, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
	case *runtime.EventExceptionThrown:
		t.said = append(t.said, "exception: "+fmt.Sprint(e.ExceptionDetails.Text, " ", e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			for _, arg := range e.Args {
				t.said = append(t.said, "console: "+string(arg.Value)+arg.Description)
			}
		}
	}
}

// do does something in the tab, within browserPatience.
func (t *tab) do(steps ...step) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, browserPatience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.fail(err)
	}
}

// fail ends the test with the beginning of what there is to see in the tab, and the
// error last, where a log that is cut has it still.
func (t *tab) fail(err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, 5*time.Second)
	defer cancel()
	page, unseen := chromedp.Run(ctx, chromedp.Evaluate[string](`
		location.href + " at " + scrollY + " of " + document.documentElement.scrollHeight + "\n" + document.body.innerText.slice(0, 2000)`))
	t.Fatalf("in the browser the page is (%v)\n%s\nit said %q: %v", unseen, page, t.complaints(), err)
}

// call sends a command of the protocol to the tab.
func call[P, R any](t *tab, command cdp.Command[P, R], params P) R {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, browserPatience)
	defer cancel()
	out, err := chromedp.Call(ctx, command, params)
	if err != nil {
		t.fail(err)
	}
	return out
}

// complaints are what the browser said against the page so far.
func (t *tab) complaints() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.said)
}

// quiet demands that the browser said nothing against the page.
func (t *tab) quiet() {
	t.Helper()
	if said := t.complaints(); len(said) > 0 {
		t.Errorf("the browser said %q", said)
	}
}

// eval returns what an expression comes to in the page.
func eval[T any](t *tab, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, browserPatience)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.fail(fmt.Errorf("%s: %w", expression, err))
	}
	return out
}

// leave runs a statement that may lead to another page. It returns before, as an answer
// of this page may not come any more then.
func (t *tab) leave(statement string) {
	t.Helper()
	eval[bool](t, fmt.Sprintf("(setTimeout(() => { %s }, 20), true)", statement))
}

// until waits for an expression to be true, on whatever page the tab shows by
// then, and for that page to be loaded: before, its scripts may hear no key.
func (t *tab) until(expression string) {
	t.Helper()
	t.await(expression, func() {})
}

// scrolls presses a key until it has led where it leads. Chromium loses the one that
// comes with the last frame of another movement.
func (t *tab) scrolls(key, expression string) {
	t.Helper()
	var last time.Time
	t.await(expression, func() {
		if time.Since(last) > browserPatience/10 {
			t.keys(key)
			last = time.Now()
		}
	})
}

// await waits for an expression to be true, and calls a function before each look.
func (t *tab) await(expression string, before func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, browserPatience)
	defer cancel()
	for {
		before()
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.readyState === "complete" && Boolean(`+expression+")"))
		switch {
		case ctx.Err() != nil:
			t.fail(fmt.Errorf("wait for %s: %w (%v)", expression, ctx.Err(), err))
		case err == nil && ok:
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// keys presses keys, one after the other, in whatever has the focus.
func (t *tab) keys(keys ...string) {
	t.Helper()
	for _, k := range keys {
		t.do(chromedp.KeyEvent(k))
	}
}

// signIn signs in the whole browser, through the form.
func (s *site) signIn(name string) *tab {
	s.Helper()
	t := s.open("/sign-in")
	t.do(chromedp.SendKeys(chromedp.CSS("#email"), name), chromedp.SendKeys(chromedp.CSS("#password"), browserPassword+kb.Enter))
	t.until(`location.pathname === "/search"`)
	return t
}
