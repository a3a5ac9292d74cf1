package notify

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/trawlsearch/trawl/httpapi/hosts"
)

// ErrPermanent says that trying again is of no use.
var ErrPermanent = errors.New("the message cannot be delivered")

// failure is an error that is safe to show: its text is of this package, and holds
// nothing of an answer or of the error that it was made of.
type failure struct {
	text      string
	permanent bool
	// until is from when on the receiver takes messages, zero if it has not said so.
	until time.Time
	// ended is the error of a context that has ended, or nil.
	ended error
}

func (f *failure) Error() string        { return f.text }
func (f *failure) Is(target error) bool { return f.permanent && target == ErrPermanent }
func (f *failure) Unwrap() error        { return f.ended }
func (f *failure) Until() time.Time     { return f.until }

// Until returns from when on the receiver that failed with err takes messages, as it
// has said; zero if it has not.
func Until(err error) time.Time {
	var said interface{ Until() time.Time }
	if !errors.As(err, &said) {
		return time.Time{}
	}
	return said.Until()
}

// unreachable is the failure to get an answer of a server, which is named as in "the
// mail server".
func unreachable(server string, err error) *failure {
	f := &failure{permanent: errors.Is(err, hosts.ErrAddress)}
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, ended) {
			f.ended = ended
		}
	}
	f.text = server + ": " + reason(err)
	return f
}

// reason words an error of a connection. The texts of the standard library hold names
// and addresses.
func reason(err error) string {
	var (
		lookup      *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		timeout     net.Error
		system      syscall.Errno
	)
	switch {
	case errors.Is(err, hosts.ErrAddress):
		return "it is at an address of this machine, its link or a metadata service, which this server does not connect to"
	case errors.Is(err, context.Canceled):
		return "the request was canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "it did not answer in time"
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return "its host is not known"
	case errors.As(err, &lookup):
		return "its host cannot be looked up"
	case errors.As(err, &certificate):
		return "its certificate is not valid for it, or not trusted"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "it does not use TLS"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "it did not answer in time"
	case errors.As(err, &system):
		return system.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it closed the connection"
	}
	return "the connection failed"
}
