package s3

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/minio/minio-go/v7"
	"golang.org/x/sync/errgroup"

	"github.com/trawlsearch/trawl/store/object"
)

// Large objects are stored in parts. The service compares the MD5 of each, and nothing
// is there before a last request puts the parts together. So whatever ends an upload,
// the object is whole or as it was before, and parts are left at most, which Sweep
// removes.
const (
	partBytes   = 8 << 20
	partsAtOnce = 2
	mostUploads = 2
	// leftoverAfter is the age at which an upload is a leftover.
	leftoverAfter = 24 * time.Hour
	// abortWithin is how long the end of an upload that failed may take.
	abortWithin = time.Minute
	contentType = "application/octet-stream"
)

// Upload stores an object in parts, a small one with one request.
func (b *Bucket) Upload(ctx context.Context, name string, from io.ReaderAt, content object.Content) error {
	release, err := take(ctx, b.uploads)
	if err != nil {
		return err
	}
	defer release()
	send := b.sendParts
	if content.Size <= partBytes {
		send = b.sendWhole
	}
	err = b.patience.insist(ctx, lostUpload, func() error { return send(ctx, b.key(name), content.Reader(ctx, from), content.Size) })
	if wrong := (*object.ContentError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("store %s: its source: %w", b.address(name), wrong)
	}
	return b.explain("store", name, err)
}

// lostUpload reports that an upload is gone. The request to put its parts together
// finds none when it is made again because its answer was lost.
func lostUpload(err error) bool { return minio.ToErrorResponse(err).Code == "NoSuchUpload" }

func (b *Bucket) sendWhole(ctx context.Context, key string, from io.Reader, _ int64) error {
	data, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	return b.sendBytes(ctx, key, data)
}

// sendBytes sends an object in one request, again if it is refused. data is for nothing
// else from then on.
func (b *Bucket) sendBytes(ctx context.Context, key string, data []byte) error {
	o := minio.PutObjectOptions{ContentType: contentType, DisableContentSha256: true}
	return b.patience.insist(ctx, refused, func() error {
		_, err := b.once().PutObject(ctx, b.bucket, key, bytes.NewReader(data), int64(len(data)), md5Of(data), "", o)
		return err
	})
}

func (b *Bucket) sendParts(ctx context.Context, key string, from io.Reader, size int64) (err error) {
	var id string
	err = b.patience.insist(ctx, refused, func() (err error) {
		id, err = b.once().NewMultipartUpload(ctx, b.bucket, key, minio.PutObjectOptions{ContentType: contentType})
		return err
	})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			// What that leaves is removed by Sweep.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortWithin)
			defer cancel()
			_ = b.once().AbortMultipartUpload(ctx, b.bucket, key, id)
		}
	}()
	u := &upload{b: b, key: key, id: id, parts: make([]minio.CompletePart, (size+partBytes-1)/partBytes)}
	if err := u.sendAll(ctx, from, size); err != nil {
		return err
	}
	err = b.patience.insist(ctx, refused, func() error {
		_, err := b.once().CompleteMultipartUpload(ctx, b.bucket, key, id, u.parts, minio.PutObjectOptions{})
		return err
	})
	if err != nil {
		return err
	}
	info, err := b.client.StatObject(ctx, b.bucket, key, minio.StatObjectOptions{})
	if err == nil && info.Size != size {
		err = fmt.Errorf("the service has %d bytes of %d", info.Size, size)
	}
	return err
}

// upload is an object of which parts are sent.
type upload struct {
	b       *Bucket
	key, id string
	parts   []minio.CompletePart
}

// sendAll sends all parts, some at once, and reads the source to its end, which is
// where it says whether it was right.
func (u *upload) sendAll(ctx context.Context, from io.Reader, size int64) error {
	group, ctx := errgroup.WithContext(ctx)
	buffers := make(chan []byte, partsAtOnce)
	for range partsAtOnce {
		buffers <- nil
	}
	read := func() error {
		for i := range u.parts {
			var data []byte
			select {
			case data = <-buffers:
			case <-ctx.Done():
				return ctx.Err()
			}
			n := min(partBytes, size-int64(i)*partBytes)
			if int64(cap(data)) < n {
				data = make([]byte, n)
			}
			data = data[:n]
			if _, err := io.ReadFull(from, data); err != nil {
				return err
			}
			group.Go(func() error {
				clean, err := u.send(ctx, i, data)
				if !clean {
					data = nil
				}
				buffers <- data
				return err
			})
		}
		if _, err := io.ReadFull(from, make([]byte, 1)); !errors.Is(err, io.EOF) {
			return err
		}
		return nil
	}
	group.Go(read)
	return group.Wait()
}

// send sends a part. A request that the service answers before it has it whole may
// still be read from after that, so data is not clean for other use then.
func (u *upload) send(ctx context.Context, i int, data []byte) (clean bool, err error) {
	o := minio.PutObjectPartOptions{Md5Base64: md5Of(data), DisableContentSha256: true}
	clean = true
	err = u.b.patience.insist(ctx, refused, func() error {
		part, err := u.b.once().PutObjectPart(ctx, u.b.bucket, u.key, u.id, i+1, bytes.NewReader(data), int64(len(data)), o)
		u.parts[i] = minio.CompletePart{PartNumber: i + 1, ETag: part.ETag}
		clean = clean && err == nil
		return err
	})
	return clean, err
}

// md5Of is what the service compares. It is signed with a request, so that the bytes
// need no signatures of their own.
func md5Of(data []byte) string {
	sum := md5.Sum(data)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// once returns a client that makes each request once. When the library makes one
// again, both read the same source of its bytes at the same time.
func (b *Bucket) once() minio.Core { return minio.Core{Client: b.single} }

// refused reports whether a request may succeed the next time.
func refused(err error) bool {
	var answer minio.ErrorResponse
	if !errors.As(err, &answer) {
		return !errors.As(err, new(*object.ContentError))
	}
	switch answer.Code {
	case "BadDigest", "SlowDown", "RequestTimeout", "InternalError", "Throttling":
		return true
	}
	return answer.StatusCode >= 500 || answer.StatusCode == 429 || answer.StatusCode == 408
}

// take takes a token; release gives it back.
func take(ctx context.Context, tokens chan struct{}) (release func(), err error) {
	select {
	case tokens <- struct{}{}:
		return func() { <-tokens }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Sweep ends uploads that were begun a day or more before now.
func (b *Bucket) Sweep(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prefix := b.key("")
	if prefix != "" {
		prefix += "/"
	}
	for u := range b.client.ListIncompleteUploads(ctx, b.bucket, prefix, true) {
		if lostUpload(u.Err) {
			return nil // what some services say where there are none
		}
		if u.Err != nil {
			return b.explain("list uploads of", "", u.Err)
		}
		if now.Sub(u.Initiated) < leftoverAfter {
			continue
		}
		err := minio.Core{Client: b.client}.AbortMultipartUpload(ctx, b.bucket, u.Key, u.UploadID)
		if err != nil && minio.ToErrorResponse(err).Code != "NoSuchUpload" {
			return b.explain("end an upload to", u.Key, err)
		}
	}
	return ctx.Err()
}
