package notify

import (
	"crypto/x509"

	"github.com/trawlsearch/trawl/httpapi/hosts"
)

// Trust has a sender trust these certificates.
func (s *Sender) Trust(roots *x509.CertPool) { s.roots = roots }

// GuardOf returns what decides about the addresses of a host.
func (s *Sender) GuardOf(host string) hosts.Guard { return s.guardOf(host) }
