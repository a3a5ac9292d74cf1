package graphql

// errNotAdmin is a text of the interface.
var errNotAdmin = &Refusal{"must be site admin"}

// admin reports whether the client may administer the server.
func (s *session) admin() bool { return s.actor.SiteAdmin() }

// mustAdmin refuses everybody else.
func (s *session) mustAdmin() error {
	if !s.admin() {
		return errNotAdmin
	}
	return nil
}
