package bench

import (
	"strings"
	"testing"
	"time"
)

func TestWithoutTime(t *testing.T) {
	for in, want := range map[string]string{
		`{"matchCount":3,"durationMs":17,"skipped":[{"reason":"x"}],"trace":"http://x"}`: `{"matchCount":3,"skipped":[{"reason":"x"}]}`,
		`{"type":"content","repoLastFetched":"2031-02-03T04:05:06Z","path":"a"}`:         `{"type":"content","path":"a"}`,
		`{"path":"durationMs","line":"<a>\u0026"}`:                                       `{"path":"durationMs","line":"<a>\u0026"}`,
		`[{"value":"lang:go"}]`: `[{"value":"lang:go"}]`,
		`{}`:                    `{}`,
	} {
		if got, err := withoutTime([]byte(in)); string(got) != want || err != nil {
			t.Errorf("withoutTime(%s): got %s, %v; want %s", in, got, err, want)
		}
	}
}

func TestBackupReport(t *testing.T) {
	quiet, busy := []time.Duration{10 * time.Millisecond}, []time.Duration{19 * time.Millisecond}
	good := BackupReport{First: 14 * time.Second, Again: time.Second, Quiet: quiet, Busy: busy, Queries: 500}
	if !good.OK() {
		t.Errorf("%+v: got not OK", good)
	}
	for _, change := range []func(*BackupReport){
		func(r *BackupReport) { r.First = 16 * time.Second },
		func(r *BackupReport) { r.Again = 3 * time.Second },
		func(r *BackupReport) { r.Busy = []time.Duration{21 * time.Millisecond} },
		func(r *BackupReport) { r.Different = []string{"glaze"} },
	} {
		bad := good
		change(&bad)
		if bad.OK() {
			t.Errorf("%+v: got OK", bad)
		}
	}
	var out strings.Builder
	good.Different = []string{"repo:kiln glaze"}
	if err := good.Write(&out); err != nil || !strings.Contains(out.String(), "499 of 500 the same") || !strings.Contains(out.String(), "another answer: repo:kiln glaze\n") {
		t.Errorf("got %v and\n%s", err, &out)
	}
}
