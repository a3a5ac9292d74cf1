package s3_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store/object/s3"
)

// What a service refuses is told with the object, its words and what to do.
func TestTrouble(t *testing.T) {
	for _, c := range []struct {
		status        int
		code, message string
		want          string
	}{
		{403, "AccessDenied", "Access Denied.", "read s3://backups/trawl/repository: Access Denied: the key may not read there; see AWS_ACCESS_KEY_ID"},
		{403, "SignatureDoesNotMatch", "Not yours.", "Not yours: check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
		{404, "NoSuchBucket", "Nothing.", `read s3://backups/trawl/repository: there is no bucket "backups": make it first`},
		{503, "SlowDown", "Please reduce your request rate.", "read s3://backups/trawl/repository: Please reduce your request rate"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(c.status)
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", c.code, c.message)
		}))
		err := readFrom(t, server.URL, time.Minute)
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q at the end", c.code, err, c.want)
		}
		server.Close()
	}
}

// A service that takes requests and never answers is given up.
func TestNoAnswer(t *testing.T) {
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(over)
	if err := readFrom(t, server.URL, 50*time.Millisecond); err == nil || !strings.Contains(err.Error(), "the service does not answer") {
		t.Errorf("got %v, want that it does not answer", err)
	}
}

// readFrom reads an object of a service that may take so long to answer.
func readFrom(t *testing.T, url string, within time.Duration) error {
	t.Helper()
	t.Setenv("AWS_ENDPOINT_URL", url)
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "kiln")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "glaze")
	b, err := s3.OpenWithin("s3://backups/trawl", os.Getenv, within, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Get(context.Background(), "repository", 1000)
	return err
}
