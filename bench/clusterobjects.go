package bench

import (
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

const (
	objectsBucket = "shared"
	objectsPrefix = "s3://" + objectsBucket + "/shards"
)

// clusterObjects is a service of ours that speaks the S3 protocol and keeps one bucket
// in memory. Its starter must call close.
type clusterObjects struct {
	backend  *s3mem.Backend
	service  http.Handler
	listener net.Listener
	server   http.Server
	// failing is how many of a hundred requests fail.
	failing atomic.Int32
}

func openObjects() (*clusterObjects, error) {
	o := &clusterObjects{backend: s3mem.New()}
	if err := o.backend.CreateBucket(objectsBucket); err != nil {
		return nil, err
	}
	o.service = gofakes3.New(o.backend).Server()
	o.server = http.Server{Handler: o, ReadHeaderTimeout: time.Minute}
	var err error
	if o.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	go func() { _ = o.server.Serve(o.listener) }() // which close ends
	return o, nil
}

func (o *clusterObjects) address() string { return o.listener.Addr().String() }

// ServeHTTP answers as the service, or that it is too busy, or with the beginning of
// its answer.
func (o *clusterObjects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if rand.Int32N(100) >= o.failing.Load() {
		o.service.ServeHTTP(w, r)
		return
	}
	switch rand.IntN(3) {
	case 0: // refused
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`))
	case 1: // done, and not told
		o.service.ServeHTTP(&cutWriter{w, 0}, r)
		panic(http.ErrAbortHandler)
	default: // done, and told in part
		o.service.ServeHTTP(&cutWriter{w, rand.IntN(4096)}, r)
		panic(http.ErrAbortHandler)
	}
}

// cutWriter passes on the first bytes of an answer.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (w *cutWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.left -= n
	if n > 0 {
		if _, err := w.ResponseWriter.Write(p[:n]); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// bytes is how much the bucket holds.
func (o *clusterObjects) bytes() (n int64, err error) {
	list, err := o.backend.ListBucket(objectsBucket, nil, gofakes3.ListBucketPage{})
	if err != nil {
		return 0, err
	}
	for _, one := range list.Contents {
		n += one.Size
	}
	return n, nil
}

func (o *clusterObjects) close() error {
	err := o.server.Close()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
