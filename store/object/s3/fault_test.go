package s3_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/minio/minio-go/v7"

	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/object/s3"
)

func TestMain(m *testing.M) {
	minio.DefaultRetryUnit, minio.DefaultRetryCap = time.Millisecond, 10*time.Millisecond
	os.Exit(m.Run())
}

// openAt opens a bucket of the service at url, with little patience.
func openAt(t testing.TB, url string, within time.Duration, tries int) *s3.Bucket {
	t.Helper()
	getenv := func(name string) string {
		return map[string]string{"AWS_ENDPOINT_URL": url, "AWS_REGION": "us-east-1"}[name]
	}
	b, err := s3.OpenWithin("s3://backups/trawl", getenv, within, tries)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func credentials(t *testing.T) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "kiln")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "glaze")
}

func bytesOf(seed uint64, n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(data)
	return data
}

func contentOf(data []byte) object.Content {
	return object.Content{Size: int64(len(data)), SHA256: sha256.Sum256(data)}
}

// faultyService is a service of which some answers fail.
type faultyService struct {
	http.Handler
	mu  sync.Mutex
	rng *rand.Rand
	// one request of so many fails; 0 is none.
	of  int
	hit int
}

func (f *faultyService) draw() (fault int, at float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == 0 || f.rng.IntN(f.of) > 0 {
		return -1, 0
	}
	f.hit++
	return f.rng.IntN(6), f.rng.Float64()
}

func (f *faultyService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault, at := f.draw()
	switch fault {
	case 0:
		refuse(w, http.StatusServiceUnavailable, "SlowDown")
		return
	case 1:
		refuse(w, http.StatusInternalServerError, "InternalError")
		return
	case 2: // cut before the request is read whole
		_, _ = io.CopyN(io.Discard, r.Body, int64(at*float64(r.ContentLength)))
		panic(http.ErrAbortHandler)
	}
	answer := httptest.NewRecorder()
	f.Handler.ServeHTTP(answer, r)
	body := answer.Body.Bytes()
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	n := int(at * float64(len(body)))
	switch fault {
	case 3: // cut in the answer, or after it was lost
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(answer.Code)
		_, _ = w.Write(body[:n])
		panic(http.ErrAbortHandler)
	case 4: // another byte
		if r.Method == http.MethodGet && n < len(body) {
			body[n]++
		}
	case 5: // fewer bytes, and nothing says so
		if r.Method == http.MethodGet {
			body = body[:n]
			w.Header().Del("Content-Length")
		}
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(body)
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>Later.</Message></Error>", code)
}

func loops() int {
	if os.Getenv("TRAWL_CRASHES") == "all" {
		return 200
	}
	return 20
}

// Requests and answers fail anywhere. What was stored is whole, an upload that failed
// leaves what was there or the whole, a download that succeeds has the right bytes,
// and most do succeed.
//
//	TRAWL_CRASHES=all go test ./store/object/s3 -run TestFaults -v
func TestFaults(t *testing.T) {
	credentials(t)
	backend := s3mem.New()
	if err := backend.CreateBucket("backups"); err != nil {
		t.Fatal(err)
	}
	service := &faultyService{Handler: gofakes3.New(backend).Server(), rng: rand.New(rand.NewPCG(1, 2))}
	server := httptest.NewServer(service)
	defer server.Close()
	b := openAt(t, server.URL, time.Minute, 8)
	sizes := []int{5000, 5 << 20, 8<<20 + 5000}
	var uploads, downloads, hits int
	for seed := range loops() {
		name := fmt.Sprint("large/", seed%3)
		data := bytesOf(uint64(seed), sizes[seed%3])
		old, err := b.Get(t.Context(), name, 1<<30)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		fail := func(of int) {
			service.mu.Lock()
			defer service.mu.Unlock()
			hits, service.hit, service.of = hits+service.hit, 0, of
		}
		fail(3)
		err = b.Upload(t.Context(), name, bytes.NewReader(data), contentOf(data))
		fail(0)
		is, gerr := b.Get(t.Context(), name, 1<<30)
		if gerr != nil && !errors.Is(gerr, os.ErrNotExist) {
			t.Fatal(gerr)
		}
		whole := bytes.Equal(is, data)
		switch {
		case err == nil:
			uploads++
			if !whole {
				t.Fatalf("seed %d: Upload succeeded, and %d bytes are there, not the %d stored", seed, len(is), len(data))
			}
		case !whole && !bytes.Equal(is, old):
			t.Fatalf("seed %d: after %v %d bytes are there, neither the old %d nor the new %d", seed, err, len(is), len(old), len(data))
		}
		if !whole {
			continue
		}
		fail(4)
		var got bytes.Buffer
		err = b.Download(t.Context(), name, &got, contentOf(data))
		fail(0)
		if err == nil {
			downloads++
			if !bytes.Equal(got.Bytes(), data) {
				t.Fatalf("seed %d: Download succeeded with other bytes", seed)
			}
		}
	}
	t.Logf("%d uploads and %d downloads of %d succeeded over %d faults", uploads, downloads, loops(), hits)
	if uploads < loops()/2 || downloads < loops()/4 || hits < loops() {
		t.Errorf("%d uploads and %d downloads of %d succeeded over %d faults", uploads, downloads, loops(), hits)
	}
}

// A service that answers with anything is refused, soon, and with a name.
func TestHostileService(t *testing.T) {
	credentials(t)
	over := make(chan struct{})
	hang := func(r *http.Request) {
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}
	body := bytesOf(1, 1<<20)
	for _, c := range []struct {
		name   string
		answer func(w http.ResponseWriter, r *http.Request)
		want   string
		damage bool
	}{
		{"all of it instead of a range", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }, "other bytes than it was asked for", false},
		{"another range", ranged("bytes 1-1048576/1048576", body), "other bytes than it was asked for", false},
		{"a longer object", ranged("bytes 0-1048575/1048577", body), "it has 1048577 bytes instead of 1048576", true},
		{"a shorter object", ranged("bytes 0-1048575/1048575", body), "it has 1048575 bytes instead of 1048576", true},
		{"no object", func(w http.ResponseWriter, _ *http.Request) { refuse(w, 404, "NoSuchKey") }, "it is not there", true},
		{"less of the range", ranged("bytes 0-1048575/1048576", body[:1000]), "the answer ended early", false},
		{"other bytes", ranged("bytes 0-1048575/1048576", bytesOf(2, 1<<20)), "its SHA-256 is ", true},
		{"more of the range", ranged("bytes 0-1048575/1048576", append(bytesOf(2, 1<<20), 0)), "its SHA-256 is ", true},
		{"no end", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 0-1048575/1048576")
			w.WriteHeader(http.StatusPartialContent)
			for {
				if _, err := w.Write(body[:1000]); err != nil {
					return
				}
			}
		}, "its SHA-256 is ", true},
		{"a refusal without an end", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			for {
				if _, err := w.Write(body); err != nil {
					return
				}
			}
		}, "[no text]", false},
		{"nothing", func(_ http.ResponseWriter, r *http.Request) { hang(r) }, "the service does not answer", false},
		{"a part, and then nothing", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes 0-1048575/1048576")
			w.Header().Set("Content-Length", "1048576")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(body[:5000])
			_ = http.NewResponseController(w).Flush()
			hang(r)
		}, "the service does not answer", false},
		{"a password for an answer", func(w http.ResponseWriter, _ *http.Request) { refuse(w, 403, "AccessDenied") }, "the key may not read there", false},
	} {
		server := httptest.NewServer(dated(c.answer))
		within := time.Minute
		if c.want == "the service does not answer" {
			within = 100 * time.Millisecond
		}
		err := openAt(t, server.URL, within, 2).Download(t.Context(), "shards/1", io.Discard, contentOf(body))
		damage := (*object.DamagedError)(nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "s3://backups/trawl") || !strings.Contains(err.Error(), "shards/1") {
			t.Errorf("%s: got %v, want %q and the object", c.name, err, c.want)
		}
		if errors.As(err, &damage) != c.damage || c.damage && damage.Name != "shards/1" {
			t.Errorf("%s: got %v, that it is damaged is %v", c.name, err, c.damage)
		}
		if err != nil && (strings.Contains(err.Error(), "kiln") || strings.Contains(err.Error(), "glaze")) {
			t.Errorf("%s: %v tells a secret", c.name, err)
		}
		server.CloseClientConnections()
		server.Close()
	}
	close(over)
}

// dated adds what each answer about an object has.
func dated(answer http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
		w.Header().Set("ETag", `"1"`)
		answer(w, r)
	})
}

// ranged answers with a range.
func ranged(header string, body []byte) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Range", header)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(body)
	}
}

// An upload to a service that reads nothing ends.
func TestUploadHangs(t *testing.T) {
	credentials(t)
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			fmt.Fprint(w, "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>")
			return
		}
		<-over
	}))
	defer server.Close()
	defer close(over)
	data := bytesOf(1, 20<<20)
	err := openAt(t, server.URL, 50*time.Millisecond, 1).Upload(t.Context(), "a", bytes.NewReader(data), contentOf(data))
	if err == nil || !strings.HasPrefix(err.Error(), "store s3://backups/trawl/a: ") {
		t.Errorf("got %v, want an error about the object", err)
	}
}

// bigService has one object of zeros, and takes any other.
func bigService(size int64) http.Handler {
	zeros := make([]byte, 64<<10)
	return dated(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost:
			fmt.Fprint(w, cmp.Or(map[bool]string{true: "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>"}[r.URL.Query().Has("uploads")],
				`<CompleteMultipartUploadResult><Bucket>backups</Bucket><ETag>"1"</ETag></CompleteMultipartUploadResult>`))
		case http.MethodPut:
			_, _ = io.CopyBuffer(struct{ io.Writer }{io.Discard}, r.Body, make([]byte, 64<<10))
		case http.MethodHead:
			w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
		case http.MethodGet:
			var from, to int64
			_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, size))
			w.Header().Set("Content-Length", strconv.FormatInt(to-from+1, 10))
			w.WriteHeader(http.StatusPartialContent)
			for left := to - from + 1; left > 0; {
				n, err := w.Write(zeros[:min(left, int64(len(zeros)))])
				if err != nil {
					return
				}
				left -= int64(n)
			}
		}
	})
}

// zeros is a source of them.
type zeros struct{}

func (zeros) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	return len(p), nil
}

// An object of 256 MiB goes through memory a part at a time: all that is allocated on
// its way, and by the service of this test, is a fraction of it.
func TestLargeNeedsLittleMemory(t *testing.T) {
	credentials(t)
	const size = 256 << 20
	sum := sha256.New()
	for range size >> 16 {
		sum.Write(make([]byte, 1<<16))
	}
	content := object.Content{Size: size, SHA256: [32]byte(sum.Sum(nil))}
	server := httptest.NewServer(bigService(size))
	defer server.Close()
	b := openAt(t, server.URL, time.Minute, 3)
	for what, f := range map[string]func() error{
		"Download": func() error { return b.Download(t.Context(), "a", io.Discard, content) },
		"Upload":   func() error { return b.Upload(t.Context(), "a", zerosUpTo(size), content) },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := f(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		runtime.ReadMemStats(&after)
		if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 48 {
			t.Errorf("%s of %d MiB allocated %d MiB, want 48 at most", what, size>>20, got)
		}
	}
}

func zerosUpTo(n int64) io.ReaderAt { return io.NewSectionReader(zeros{}, 0, n) }

// Sweep ends an upload that was begun a day ago, of its prefix alone.
func TestSweep(t *testing.T) {
	credentials(t)
	backend := s3mem.New()
	if err := backend.CreateBucket("backups"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	defer server.Close()
	client, err := minio.NewCore(strings.TrimPrefix(server.URL, "http://"), &minio.Options{Region: "us-east-1"})
	if err != nil {
		t.Fatal(err)
	}
	b := openAt(t, server.URL, time.Minute, 2)
	if err := b.Sweep(t.Context(), time.Now()); err != nil {
		t.Errorf("Sweep of nothing: %v", err)
	}
	for _, key := range []string{"trawl/shards/1", "trawl/shards/1", "trawl/shards/2", "trawlers/1"} {
		if _, err := client.NewMultipartUpload(t.Context(), "backups", key, minio.PutObjectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	left := func() (keys []string) {
		for u := range client.Client.ListIncompleteUploads(t.Context(), "backups", "", true) {
			if u.Err != nil {
				t.Fatal(u.Err)
			}
			keys = append(keys, u.Key)
		}
		return keys
	}
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 4}, {23 * time.Hour, 4}, {25 * time.Hour, 1}} {
		if err := b.Sweep(t.Context(), time.Now().Add(c.after)); err != nil {
			t.Errorf("Sweep after %v: %v", c.after, err)
		}
		if got := left(); len(got) != c.want || got[len(got)-1] != "trawlers/1" {
			t.Errorf("after %v there are %q, want %d", c.after, got, c.want)
		}
	}
}
