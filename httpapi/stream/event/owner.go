package event

import "github.com/trawlsearch/trawl/query"

// appendOwner appends a person or team. Only their name in the rules of a
// repository is known.
func (e *Encoder) appendOwner(dst []byte, m *query.OwnerMatch) []byte {
	handle, email := m.Handle, m.Email
	if e.maxTextBytes > 0 {
		handle, email = shortText(handle, e.maxTextBytes), shortText(email, e.maxTextBytes)
	}
	kind := `{"type":"person"`
	if m.IsTeam {
		kind = `{"type":"team"`
	}
	dst = append(dst, kind...)
	dst = appendString(append(dst, `,"handle":`...), handle)
	dst = appendString(append(dst, `,"email":`...), email)
	if m.IsTeam {
		dst = appendString(append(dst, `,"name":`...), handle)
		dst = append(dst, `,"displayName":""`...)
	}
	return append(dst, '}')
}
