package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain installs programs that scripts run: trawl, and small ones that do
// what cat, grep and a shell would, as a machine may have none of them.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"trawl": main, "show": programShow, "seen": programSeen, "apart": programApart})
}

// tests are those of the package, after which the browser ends that they share.
type tests struct{ *testing.M }

func (m tests) Run() int {
	code := m.M.Run()
	if sharedBrowser.end != nil {
		sharedBrowser.end()
	}
	return code
}

// programShow prints a file:
//
//	show data/token
func programShow() {
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		_, err = os.Stdout.Write(text)
	}
	endProgram(err)
}

// programSeen ends well if a line of a file matches:
//
//	seen '^prune: waiting' waits
func programSeen() {
	text, err := os.ReadFile(os.Args[2])
	if err == nil && !regexp.MustCompile("(?m)"+os.Args[1]).Match(text) {
		err = fmt.Errorf("%s: no line matches %s", os.Args[2], os.Args[1])
	}
	endProgram(err)
}

// programApart runs a program with its standard error in a file, and passes an
// interrupt on to it:
//
//	apart waits trawl backup prune --json backups
func programApart() {
	stderr, err := os.Create(os.Args[1])
	if err == nil {
		cmd := exec.Command(os.Args[2], os.Args[3:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, stderr
		interrupts := make(chan os.Signal, 1)
		signal.Notify(interrupts, os.Interrupt)
		if err = cmd.Start(); err == nil {
			go func() {
				for s := range interrupts {
					_ = cmd.Process.Signal(s) // it may have ended
				}
			}()
			err = cmd.Wait()
		}
	}
	endProgram(err)
}

func endProgram(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
