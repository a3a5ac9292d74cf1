package config

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
)

// Operation are the settings about watching and stopping the server.
type Operation struct {
	// DebugListen is host:port of metrics and profiles, "" if they are not
	// served apart; DebugPublic lets it be one that others reach.
	DebugListen string
	DebugPublic bool
	// MetricsPublic lets everybody read /metrics on the main address.
	MetricsPublic bool
	// SlowQuery is how long a search takes that is logged as slow, 0 is never;
	// SlowQueryText logs its text, too.
	SlowQuery     time.Duration
	SlowQueryText bool
	// StopDelay is how long requests are still taken after /readyz has begun to
	// say that the server stops.
	StopDelay time.Duration
}

func operationSettings() []Setting {
	return []Setting{
		{"debug-listen", "ADDR", "off",
			"loopback address with port for metrics and profiles (/metrics, /debug/pprof/), without credentials", setDebugListen},
		{"debug-public", "BOOL", "false",
			"let debug-listen be an address that other machines reach; profiles hold queries and text", setDebugPublic},
		{"metrics-access", "WHO", "admins",
			"who reads /metrics where listen says: admins, which are site admins with a token, or everyone", setMetricsAccess},
		{"slow-query", "TIME", "5s",
			"log searches that take at least so long; 0 logs none", setSlowQuery},
		{"slow-query-text", "BOOL", "false",
			"log the text of slow searches, too; readers of the log then see what users search for", setSlowQueryText},
		{"stop-delay", "TIME", "0s",
			"time from the signal to stop, when /readyz begins to fail, until no more requests are taken; at most 10m", setStopDelay},
	}
}

// check refuses what is wrong together.
func (o *Operation) check() error {
	if o.DebugListen != "" && !o.DebugPublic && !auth.LoopbackOnly(o.DebugListen) {
		return fmt.Errorf("debug-listen: %s can be reached from other machines, where any client could read profiles of the memory: use 127.0.0.1, or say debug-public: true", o.DebugListen)
	}
	return nil
}

func setDebugListen(s *Settings, text string) error {
	s.DebugListen = ""
	if text == "off" {
		return nil
	}
	if err := checkAddress(text); err != nil {
		return fmt.Errorf("%w, or off", err)
	}
	s.DebugListen = text
	return nil
}

func setDebugPublic(s *Settings, text string) error   { return setBool(&s.DebugPublic, text) }
func setSlowQueryText(s *Settings, text string) error { return setBool(&s.SlowQueryText, text) }

func setMetricsAccess(s *Settings, text string) error {
	who := ""
	err := oneOf(&who, text, "admins", "everyone")
	s.MetricsPublic = who == "everyone"
	return err
}

func setSlowQuery(s *Settings, text string) (err error) {
	s.SlowQuery, err = parseTime(text)
	return err
}

const mostStopDelay = 10 * time.Minute

func setStopDelay(s *Settings, text string) error {
	d, err := parseTime(text)
	if err == nil && d > mostStopDelay {
		err = errors.New("that is too long: give at most 10m")
	}
	s.StopDelay = d
	return err
}

func setBool(dst *bool, text string) error {
	on, err := strconv.ParseBool(text)
	if err != nil {
		return fmt.Errorf("%q is not true or false", text)
	}
	*dst = on
	return nil
}
