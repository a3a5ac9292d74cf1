package notify

import "crypto/x509"

// Trust has a sender trust these certificates.
func (s *Sender) Trust(roots *x509.CertPool) { s.roots = roots }
