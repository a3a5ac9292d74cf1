package s3

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path"
	"strings"
	"unicode"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"github.com/trawlsearch/trawl/store/object"
)

// Scheme begins the addresses of buckets.
const Scheme = "s3://"

// Bucket is a prefix of a bucket. It is an object.Store.
type Bucket struct {
	// client makes requests again that fail, single does not.
	client, single *minio.Client
	bucket, prefix string
	patience       patience
	// uploads and ranges have a token for each upload and each range in memory.
	uploads, ranges chan struct{}
}

var _ object.Store = (*Bucket)(nil)

// usualEndpoint is where buckets are if nothing is said.
const usualEndpoint = "https://s3.amazonaws.com"

// Open prepares for a bucket named as s3://BUCKET/PREFIX; it asks nothing yet.
// The other options come from the environment, as getenv returns it.
func Open(address string, getenv func(string) string) (*Bucket, error) {
	return open(address, getenv, usualPatience())
}

func open(address string, getenv func(string) string, p patience) (*Bucket, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "s3" || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("that is no bucket: write s3://bucket/prefix")
	case u.User != nil:
		return nil, errors.New("an address holds no keys: give them as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")
	}
	if err := s3utils.CheckValidBucketName(u.Host); err != nil {
		return nil, fmt.Errorf("%s: %q cannot be a bucket: %w", address, u.Host, err)
	}
	endpoint, err := url.Parse(cmp.Or(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL"), usualEndpoint))
	if err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https" || strings.Trim(endpoint.Path, "/") != "" {
		return nil, errors.New("AWS_ENDPOINT_URL is no address of a server: write https://s3.example.org")
	}
	secure := endpoint.Scheme == "https"
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", address, err)
	}
	transport.ResponseHeaderTimeout = p.answer
	transport.DialContext = dialer{transport.DialContext, p.idle}.dial
	options := minio.Options{
		Creds:  credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}),
		Secure: secure, Transport: transport, MaxRetries: p.tries,
		Region: cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION")),
	}
	client, err := minio.New(endpoint.Host, &options)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", address, err)
	}
	options.MaxRetries = 1
	single, err := minio.New(endpoint.Host, &options)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", address, err)
	}
	return &Bucket{
		client: client, single: single, bucket: u.Host, prefix: strings.Trim(path.Clean("/"+u.Path), "/"), patience: p,
		uploads: make(chan struct{}, mostUploads), ranges: make(chan struct{}, mostRanges),
	}, nil
}

// String returns the address.
func (b *Bucket) String() string { return Scheme + path.Join(b.bucket, b.prefix) }

func (b *Bucket) address(name string) string { return b.String() + "/" + name }

func (b *Bucket) key(name string) string { return path.Join(b.prefix, name) }

// Put stores an object with one request. It sends a copy of data, of which a request that
// the service answered early may be read after Put has returned.
func (b *Bucket) Put(ctx context.Context, name string, data []byte) error {
	return b.explain("store", name, b.sendBytes(ctx, b.key(name), bytes.Clone(data)))
}

// Get reads an object.
func (b *Bucket) Get(ctx context.Context, name string, limit int64) ([]byte, error) {
	o, err := b.client.GetObject(ctx, b.bucket, b.key(name), minio.GetObjectOptions{})
	if err != nil {
		return nil, b.explain("read", name, err)
	}
	defer o.Close()
	data, err := io.ReadAll(io.LimitReader(o, limit+1))
	if err != nil {
		return nil, b.explain("read", name, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("read %s: it is larger than %d bytes", b.address(name), limit)
	}
	return data, nil
}

// List asks for a page of names at a time.
func (b *Bucket) List(ctx context.Context, folder string, each func(object.Info) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prefix := b.key(folder)
	if prefix != "" {
		prefix += "/"
	}
	for o := range b.client.ListObjectsIter(ctx, b.bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if o.Err != nil {
			return b.explain("list", folder, o.Err)
		}
		name := strings.TrimPrefix(strings.TrimPrefix(o.Key, b.prefix), "/")
		if err := each(object.Info{Name: name, Size: o.Size, Changed: o.LastModified}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Delete removes an object.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	err := b.explain("delete", name, b.client.RemoveObject(ctx, b.bucket, b.key(name), minio.RemoveObjectOptions{}))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Sync has nothing to do: what the service has answered for is stored.
func (b *Bucket) Sync(context.Context) error { return nil }

// explain adds the operation and the object to an error, and marks one about a
// missing object. It keeps only the message of the service's answer, which has
// no secrets.
func (b *Bucket) explain(verb, name string, err error) error {
	if err == nil {
		return nil
	}
	doing := verb + " " + b.address(name)
	var answer minio.ErrorResponse
	if !errors.As(err, &answer) {
		if n := net.Error(nil); errors.As(err, &n) && n.Timeout() {
			return fmt.Errorf("%s: the service does not answer: %w", doing, err)
		}
		return fmt.Errorf("%s: %w", doing, err)
	}
	said := strings.TrimRight(words(answer.Error()), ". ")
	switch answer.Code {
	case "NoSuchKey":
		return fmt.Errorf("%s: %w", doing, os.ErrNotExist)
	case "NoSuchBucket":
		return fmt.Errorf("%s: there is no bucket %q: make it first", doing, b.bucket)
	case "AccessDenied":
		return fmt.Errorf("%s: %s: the key may not %s there; see AWS_ACCESS_KEY_ID", doing, said, verb)
	case "InvalidAccessKeyId", "SignatureDoesNotMatch":
		return fmt.Errorf("%s: %s: check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", doing, said)
	}
	return fmt.Errorf("%s: %s", doing, said)
}

// words returns what a service says if a person can read it.
func words(said string) string {
	if len(said) > mostWords || strings.ContainsFunc(said, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "[no text]"
	}
	return said
}

// mostWords bounds what is taken of an answer into an error.
const mostWords = 1000
