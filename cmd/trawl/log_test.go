package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
)

// A secret in a URL reaches no log, whatever field it is in.
func TestLogsShowNoSecrets(t *testing.T) {
	const address = "https://me:pa'ss1@host/x?private_token=pa'ss1"
	for _, console := range []bool{false, true} {
		var out bytes.Buffer
		log := newLog(&out, config.Settings{LogLevel: "debug"}, console, false)
		log.Warn().Err(errors.New("cannot read '"+address+"': no")).Str("source", address).Interface("path", []any{1, address, "a\"b"}).Int("n", 7).Msg("ask " + address)
		log.Info().Str("url", "http://127.0.0.1:7080/").Msg("serving")
		got := out.String()
		if strings.Contains(got, "ss1") || !strings.Contains(got, "http://127.0.0.1:7080/") || strings.Count(got, "host/x") != 4 {
			t.Errorf("console %t: %s", console, got)
		}
		if console {
			continue
		}
		for line := range strings.Lines(got) {
			var fields map[string]any
			if err := json.Unmarshal([]byte(line), &fields); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
		if !strings.Contains(got, `"path":[1,"https://host/x?private_token=REDACTED","a\"b"],"n":7`) {
			t.Errorf("fields have changed: %s", got)
		}
	}
}
